import { describe, expect, test } from "vitest";
import {
	type AgentError,
	allTools,
	type Defaults,
	type PresetFields,
	type ResolveInput,
	resolveSpec,
} from "../../src/index.ts";

const preset: PresetFields = {
	name: "scout",
	prompt: "Look.",
	promptMode: "append",
	enabled: true,
	path: "/home/agents/scout.md",
	source: { kind: "global", flavour: "agents", inProject: false },
};
const facts: ResolveInput["facts"] = {
	models: [
		{ provider: "fake", id: "small", inScope: true },
		{ provider: "fake", id: "medium", inScope: true },
		{ provider: "fake", id: "large", inScope: false },
	],
	tools: [
		{ name: "read", isActive: true },
		{ name: "bank_pay", extension: "@acme/pi-bank", alias: "bank", isActive: true },
	],
	cwd: { path: "/project", kind: "directory", isAsked: false },
	isProjectTrusted: true,
};

interface Said {
	model?: string;
	preset?: Partial<PresetFields>;
	scope?: Defaults["scope"];
	models?: ResolveInput["facts"]["models"];
	parent?: string;
}

function resolve({ model, preset: more, scope, models = facts.models, parent = "small" }: Said) {
	return resolveSpec({
		request: { task: "Look around.", model },
		preset: { ...preset, ...more },
		defaults: scope === undefined ? {} : { scope },
		parent: { model: { provider: "fake", id: parent } },
		facts: { ...facts, models },
	});
}

function errorOf(said: Said) {
	try {
		return resolve(said);
	} catch (error) {
		const { code, message } = error as AgentError;
		return { code, message };
	}
}

describe("models outside the user's enabled ones", () => {
	const message = "Model fake/large is not among your enabled models (fake/small, fake/medium).";

	test("a caller who may not have one is told which it may have", () => {
		expect(errorOf({ model: "large", scope: "deny" })).toEqual({ code: "model_out_of_scope", message });
		expect(resolve({ model: "medium", scope: "deny" })).toMatchObject({ model: "fake/medium", warnings: [] });
	});

	test("a caller who only should not have one is warned and gets it", () => {
		expect(resolve({ model: "large", scope: "warn" })).toMatchObject({ model: "fake/large", warnings: [message] });
	});

	test.each(["warn", "deny"] as const)("a preset that pins one keeps it, with a warning (%s)", (scope) => {
		expect(resolve({ preset: { model: "large" }, scope })).toMatchObject({ model: "fake/large", warnings: [message] });
	});

	test("the session's own model is the user's choice", () => {
		expect(resolve({ parent: "large", scope: "deny" })).toMatchObject({ model: "fake/large", warnings: [] });
	});

	test("nothing is outside when the user has enabled none in particular, or the setting is off", () => {
		const models = facts.models.map(({ provider, id }) => ({ provider, id }));
		expect(resolve({ model: "large", scope: "deny", models })).toMatchObject({ model: "fake/large", warnings: [] });
		expect(resolve({ model: "large" })).toMatchObject({ model: "fake/large", warnings: [] });
	});

	test("a fallback outside is not used where it may not be, and a warning says so", () => {
		const fallbacks = { fallbackModels: ["large", "medium"] };
		const warnings = [`A fallback of preset "scout": ${message}`];
		expect(resolve({ preset: fallbacks, scope: "deny" })).toMatchObject({ fallbackModels: ["fake/medium"], warnings });
		expect(resolve({ preset: fallbacks, scope: "warn" })).toMatchObject({
			fallbackModels: ["fake/large", "fake/medium"],
			warnings,
		});
		expect(resolve({ preset: fallbacks })).toMatchObject({
			fallbackModels: ["fake/large", "fake/medium"],
			warnings: [],
		});
	});
});

describe("tools of extensions", () => {
	test.each([
		["loaded by its package's name", { extensions: ["@acme/pi-bank"], tools: ["ext:bank"] }, ["bank_pay"]],
		["loaded by its file's name", { extensions: ["bank"], tools: ["ext:@acme/pi-bank/bank_pay"] }, ["bank_pay"]],
		["loaded with all", { extensions: true, tools: ["read", "bank_pay"] }, ["read", "bank_pay"]],
		["loaded, with every tool", { extensions: true, tools: "*" }, ["read", "bank_pay"]],
		["not loaded, with every tool", { tools: "*" }, ["read"]],
		["excluded, with every tool", { extensions: true, excludeExtensions: ["bank"], tools: "*" }, ["read"]],
		["not loaded because it is isolated", { extensions: true, isolated: true, tools: "*" }, ["read"]],
	] as const)("the extension is %s", (_how, more, tools) => {
		expect(resolve({ preset: more }).tools).toEqual(tools);
	});

	test.each(["bank_pay", "ext:bank", "ext:@acme/pi-bank/bank_pay"])(
		"%s is an error that says what to do, when the extension is not loaded",
		(tool) => {
			expect(errorOf({ preset: { tools: [tool] } })).toEqual({
				code: "unknown_tool",
				message: `Preset "scout" names the tool "${tool}" of the extension "@acme/pi-bank", which it does not load. Add the extension to its \`extensions\`.`,
			});
		},
	);
});

test("a preset can deny our own tools as well: those with which an agent asks and launches agents", () => {
	const denying = (disallowedTools: string[]) =>
		resolve({ preset: { tools: ["read"], subagents: ["scout"], disallowedTools } });
	expect(denying(["ask_main_session"]).withheld).toEqual(["ask_main_session"]);
	expect(denying(["Agent", "bash"]).withheld).toEqual(["Agent"]);
	expect(denying(["bash"])).not.toHaveProperty("withheld");
	expect(allTools(denying(["*"]))).toEqual([]);
});
