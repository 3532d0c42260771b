import { describe, expect, test } from "vitest";
import { type AgentError, nearest, resolveTools, type ToolFact, type ToolRequest } from "../../src/index.ts";
import { isLoaded } from "../../src/resolve/tools.ts";

const facts: ToolFact[] = [
	{ name: "read", isActive: true },
	{ name: "bash", isActive: true },
	{ name: "edit", isActive: true },
	{ name: "write", isActive: false },
	{ name: "grep", isActive: false },
	{ name: "web_search", extension: "@acme/web", isActive: true },
	{ name: "web_fetch", extension: "@acme/web", isActive: false },
];
const tools = (request: Partial<ToolRequest>, among = facts) =>
	resolveTools({ preset: "scout", isFromProject: false, ...request }, among);
const errorOf = (request: Partial<ToolRequest>) => {
	try {
		return tools(request);
	} catch (error) {
		const { code, message } = error as AgentError;
		return { code, message };
	}
};

describe("what a preset says", () => {
	test.each([
		[
			"nothing: pi's default set, and what the extensions that it loads add",
			{},
			["read", "bash", "edit", "write", "web_search", "web_fetch"],
		],
		["a list: exactly that", { tools: ["read", "grep"] }, ["read", "grep"]],
		["an empty list: none", { tools: [] }, []],
		["*: every tool", { tools: "*" as const }, facts.map(({ name }) => name)],
		["ext: every tool of an extension", { tools: ["read", "ext:@acme/web"] }, ["read", "web_search", "web_fetch"]],
		["ext with a tool: that one", { tools: ["ext:@acme/web/web_fetch"] }, ["web_fetch"]],
		["a denial of a default", { disallowedTools: ["bash", "ext:@acme/web"] }, ["read", "edit", "write"]],
		["a denial wins over a list", { tools: ["read", "bash"], disallowedTools: ["bash"] }, ["read"]],
		["a denial of what is not there", { tools: ["read"], disallowedTools: ["mcp_database_admin"] }, ["read"]],
		["a denial of everything", { tools: "*" as const, disallowedTools: ["*"] }, []],
		["* in a list", { tools: ["read", "*"] }, facts.map(({ name }) => name)],
		["a repetition", { tools: ["read", "read"] }, ["read"]],
	])("%s", (_what, request, expected) => {
		expect(tools(request)).toEqual(expected);
	});

	test("a tool that does not exist is an error, with the one that was meant", () => {
		expect(errorOf({ tools: ["raed"] })).toEqual({
			code: "unknown_tool",
			message:
				'Preset "scout" names the tool "raed", which does not exist here. Did you mean "read"? Tools: read, bash, edit, write, grep, web_search, web_fetch.',
		});
		expect(errorOf({ tools: ["ext:@acme/wbe"] })).toMatchObject({
			message: expect.stringContaining('Did you mean "ext:@acme/web"?'),
		});
		expect(errorOf({ tools: ["teleport"] })).toMatchObject({ message: expect.not.stringContaining("Did you mean") });
	});

	test("a mistyped denial must not leave the tool allowed", () => {
		expect(errorOf({ disallowedTools: ["bsah"] })).toMatchObject({ code: "unknown_tool" });
	});
});

describe("tools of pi's own extensions", () => {
	const withCodemode = (isActive: boolean): ToolFact[] => [
		...facts,
		{ name: "codemode", extension: "builtin:codemode", isActive },
	];
	const codemode = { tools: ["read", "codemode"] };

	test("are there by name, and among all tools if the session has switched them on", () => {
		expect(tools(codemode, withCodemode(false))).toEqual(["read", "codemode"]);
		expect(tools({ tools: "*" }, withCodemode(false))).not.toContain("codemode");
		expect(tools({ tools: ["*"] }, withCodemode(false))).not.toContain("codemode");
		expect(tools({ tools: "*" }, withCodemode(true))).toContain("codemode");
		expect(tools({}, withCodemode(true))).not.toContain("codemode");
	});

	test.each([["codemode"], ["ext:builtin:codemode"], ["*"]])("are denied by %j, also where they are off", (denied) => {
		expect(tools({ ...codemode, disallowedTools: [denied] }, withCodemode(false))).not.toContain("codemode");
	});

	test("are not for a project's preset where the session has them off", () => {
		expect(() => tools({ ...codemode, isFromProject: true }, withCodemode(false))).toThrow("asks for codemode");
		expect(tools({ ...codemode, isFromProject: true }, withCodemode(true))).toEqual(["read", "codemode"]);
	});

	test("are loaded for their tools, unless the preset excludes the extension", () => {
		const fact = { name: "codemode", extension: "builtin:codemode", isActive: false };
		expect(isLoaded(fact, {})).toBe(true);
		expect(isLoaded(fact, { extensions: [], excludeExtensions: ["builtin:codemode"] })).toBe(false);
	});
});

describe("a preset that came with the project", () => {
	test("gets no tool that the session does not have, but may always look", () => {
		expect(tools({ isFromProject: true, tools: ["read", "grep"] })).toEqual(["read", "grep"]);
		expect(errorOf({ isFromProject: true, tools: ["read", "write"] })).toMatchObject({
			code: "forbidden_tool",
			message: expect.stringContaining(
				'Project preset "scout" asks for write, which this session does not have active.',
			),
		});
	});

	test("that names no tools gets the default ones that the session has", () => {
		expect(tools({ isFromProject: true })).toEqual(["read", "bash", "edit", "web_search"]);
		expect(tools({ isFromProject: true, tools: "*" })).toEqual(["read", "bash", "edit", "grep", "web_search"]);
	});

	test("in a session without any tool has none", () => {
		const nothing = facts.map((fact) => ({ ...fact, isActive: false }));
		expect(tools({ isFromProject: true }, nothing)).toEqual([]);
	});
});

test.each([
	["modle", ["model", "memory"], "model"],
	["Read", ["read", "bash"], "read"],
	["x", ["read"], undefined],
	["a".repeat(10_000), ["aaaa"], undefined],
])("the nearest word to %.10s", (word, known, expected) => {
	expect(nearest(word, known)).toBe(expected);
});
