/** A limit that is mistyped, or written for another program, never gives an agent more than its author allowed. */
import { describe, expect, test } from "vitest";
import { fields, findField } from "../../src/index.ts";
import { agents, claude, opencode, parseWith, subagents, told } from "../support.ts";

const sources = [subagents, agents, claude, opencode];
const cost = "; the preset is not used until this is fixed";

describe("a field that looks like a limit and is none refuses the preset, with the one that was meant", () => {
	test.each([
		["tool: read", "tools"],
		["toolz: read", "tools"],
		["tols: read", "tools"],
		["disalowed_tools: bash", "disallowed_tools"],
		["dissallowedTools: bash", "disallowed_tools"],
		["builtin_tools: read", "tools"],
		["available-tools: read", "tools"],
		["deniedTools: bash", "disallowed_tools"],
		["forbidden_paths: /etc", "disallowed_tools"],
		["read_only: true", "tools"],
		["isolaton: worktree", "isolation"],
		["isolate: true", "isolated"],
		["max_turn: 3", "max_turns"],
		["maxturn: 3", "max_turns"],
		["tmeout: 5m", "timeout"],
		["tool-timout: 5m", "tool_timeout"],
		["idle_timeot: 5m", "idle_timeout"],
		["budget_token: 5", "budget_tokens"],
		["budgetcosts: 5", "budget_cost"],
		["subagent: none", "subagents"],
		["loked: tools", "locked"],
		["enabeld: false", "enabled"],
		["extention: none", "extensions"],
		["skils: none", "skills"],
		["memmory: project", "memory"],
		["runer: process", "runner"],
	])("`%s`", (line, meant) => {
		for (const source of sources) {
			const { preset, problems, reservedNames } = parseWith(line, source);
			const key = line.split(":")[0];
			expect([preset, reservedNames]).toEqual([undefined, ["sample"]]);
			expect(told(problems)).toEqual([
				`4: error: unknown field "${key}" looks like a limit: did you mean "${meant}"?${cost}`,
			]);
		}
	});

	test.each([
		["max_tokens: 4000", "budget_tokens"],
		["maxDuration: 5m", "timeout"],
		["cost_limit: 5", "budget_cost"],
		["max-iterations: 5", "max_turns"],
	])("`%s`, an amount, in a file that was written for pi; elsewhere it is decoration", (line, meant) => {
		for (const source of [subagents, agents]) {
			const [problem] = told(parseWith(line, source).problems);
			expect(problem).toContain(`looks like a limit: did you mean "${meant}"?${cost}`);
		}
		for (const source of [claude, opencode]) {
			const { preset, problems } = parseWith(line, source);
			expect([preset?.name, problems.map(({ severity }) => severity)]).toEqual(["sample", ["warning"]]);
		}
	});

	test.each(["sandbox: strict", "Sandbox: docker"])("`%s` is not supported by this version, and says so", (line) => {
		const { preset, problems } = parseWith(line, agents);
		const key = line.split(":")[0];
		expect(preset).toBeUndefined();
		expect(told(problems)).toEqual([`4: error: the field "${key}" is not supported by this version${cost}`]);
	});

	test("one mistake in the name of any field that limits something is never ignored", () => {
		const limiting = fields.filter(({ key, onError }) => onError === "refuse" && key !== "name");
		for (const name of limiting.flatMap((field) => [field.name, ...field.aliases])) {
			for (let at = 0; at < name.length; at++) {
				const typo = name.slice(0, at) + name.slice(at + 1);
				if (typo === "" || findField(typo) !== undefined) continue;
				expect(parseWith(`${typo}: 1`).preset, typo).toBeUndefined();
			}
		}
	});

	test.each(["goals", "roles", "title", "tags", "rules", "specs", "category", "examples", "output", "mutationTools"])(
		"`%s` is none",
		(key) => {
			for (const source of sources) expect(parseWith(`${key}: x`, source).preset?.name).toBe("sample");
		},
	);
});

describe("limits of other programs are kept, in files of every kind", () => {
	const changing = ["edit", "write", "bash"];
	test.each<[string, object]>([
		["permissionMode: plan", { disallowedTools: changing }],
		["permission-mode: plan\ndisallowed_tools: ls", { disallowedTools: ["ls", ...changing] }],
		["permissionMode: default", {}],
		["permissionMode:", {}],
		["permission: deny", { disallowedTools: ["read", "grep", "find", "ls", "bash", "edit", "write"] }],
		["permissions:\n  edit: deny", { disallowedTools: ["edit", "write"] }],
		["disabled: true", { enabled: false }],
		["disable: true\nenabled: true", { enabled: false }],
		["disabled: false", { enabled: true }],
		["spawning: false", { subagents: [] }],
		["spawning: true\nallowedAgents: scout", { subagents: ["scout"] }],
		["allowSubagents: false\nsubagents: '*'", { subagents: [] }],
		["allowNestedSubagents: true", { subagents: "*" }],
		["maxSubagentDepth: 0", { subagents: [] }],
		["maxRuntimeSeconds: 90", { timeoutMs: 90_000 }],
		["memory:\n  scope: project", { memory: "project" }],
	])("`%s`", (lines, expected) => {
		for (const source of sources) {
			const { preset, problems } = parseWith(lines, source);
			expect(problems).toEqual([]);
			expect(preset).toMatchObject(expected);
		}
	});

	test.each([
		["permissionMode: plam", '"permissionMode" must be one of default'],
		["permissionMode: [plan]", '"permissionMode" must be one of default'],
		["permission: 5", '"permission" must say allow, ask or deny for each tool, but is 5'],
		["permissions: sometimes", '"permissions" must say allow, ask or deny for each tool, but is "sometimes"'],
		["disabled: perhaps", '"disabled" must be `true` or `false`, but is "perhaps"'],
		["spawning: {a: b}", '"spawning" must be `true`, `false` or preset names, but is a mapping'],
		["maxSubagentDepth: 1\nsubagents: '*'", '"maxSubagentDepth" cannot be enforced'],
	])("`%s` is not understood, and refuses the preset", (lines, message) => {
		for (const source of sources) {
			const { preset, problems } = parseWith(lines, source);
			expect(preset).toBeUndefined();
			expect(problems).toMatchObject([{ severity: "error", message: expect.stringContaining(message) }]);
		}
	});

	test("a hook that looks at calls does not run here, so what it looks at is denied", () => {
		const hooks = (matcher: string) => `hooks:\n  PreToolUse:\n    - matcher: ${matcher}\n      hooks: []`;
		for (const source of sources) {
			expect(parseWith(hooks("Bash|Edit"), source).preset?.disallowedTools).toEqual(["bash", "edit"]);
			expect(parseWith(hooks('".*"'), source).preset?.disallowedTools).toHaveLength(7);
			expect(parseWith("hooks:\n  Stop: []", source).preset?.disallowedTools).toBeUndefined();
		}
	});

	test("`dontAsk` denies what would have to be asked for", () => {
		const { preset, problems } = parseWith("permissionMode: dontAsk", claude);
		expect([preset?.disallowedTools, problems.length]).toEqual([changing, 1]);
	});
});
