import { expect, test } from "vitest";
import { parseDefinition } from "../../src/index.ts";

const role = { name: "scout", systemPrompt: "Be quick." };
const errorOf = (definition: Record<string, unknown>) =>
	parseDefinition(definition).problems.find(({ severity }) => severity === "error")?.message;

test("the fields of other extensions mean what they mean in a file", () => {
	const { preset, problems } = parseDefinition({
		...role,
		displayName: "The scout",
		description: "Looks around.",
		model: "fake/one",
		thinking: "low",
		tools: ["read", "grep"],
		extensions: false,
		skills: ["git"],
		maxTurns: 5,
		promptMode: "auto",
	});
	expect(problems).toEqual([]);
	expect(preset).toMatchObject({
		name: "scout",
		description: "Looks around.",
		prompt: "Be quick.",
		model: "fake/one",
		thinking: "low",
		tools: ["read", "grep"],
		extensions: false,
		skills: ["git"],
		maxTurns: 5,
		enabled: true,
		source: { kind: "runtime", inProject: false },
		path: "runtime:scout",
	});
	const older = {
		systemPromptMode: "replace",
		inheritSkills: false,
		defaultContext: "fork",
		allowNestedSubagents: true,
	};
	expect(parseDefinition({ ...role, ...older }).preset).toMatchObject({
		promptMode: "replace",
		skills: false,
		inheritContext: true,
		subagents: "*",
	});
	expect(parseDefinition(role).preset?.description).toBe("scout");
	expect(parseDefinition({ ...role, name: "Code Reviewer" }).preset?.name).toBe("Code-Reviewer");
});

test.each([
	[{ ...role, name: "../up" }, /is not allowed/],
	[{ ...role, name: "none" }, /is reserved/],
	[{ ...role, name: "a\u200bb" }, /invisible character/],
	[{ name: "scout" }, /`systemPrompt` is missing/],
	[{ ...role, toolz: "read" }, /looks like a limit: did you mean "tools"/],
	[{ ...role, sandbox: "docker" }, /is not supported by this version/],
	[{ ...role, tools: { read: true } }, /"tools" must be/],
	[{ ...role, thinking: "deep" }, /"thinking" must be/],
	[{ ...role, maxTurns: -1 }, /"maxTurns" must be/],
])("%j is no preset", (definition, message) => {
	expect(parseDefinition(definition).preset).toBeUndefined();
	expect(errorOf(definition)).toMatch(message);
});

test("a value that holds itself, or has no prototype, is a problem", () => {
	const cyclic: unknown[] = [];
	cyclic.push(cyclic);
	for (const tools of [cyclic, [Object.create(null)], Object.create(null)])
		expect(errorOf({ ...role, tools })).toMatch(/"tools" must be/);
});
