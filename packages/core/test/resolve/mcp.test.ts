import { describe, expect, test } from "vitest";
import type { AgentError, McpFacts } from "../../src/index.ts";
import { type McpRequest, resolveMcp } from "../../src/resolve/mcp.ts";

const facts: McpFacts = {
	tools: [
		{ name: "mcp__my_docs__search", isActive: true },
		{ name: "mcp__my_docs__get_page", isActive: true },
		{ name: "mcp__db__query", isActive: false },
	],
};
const resolve = (request: Partial<McpRequest>, known: McpFacts | undefined = facts) =>
	resolveMcp(
		{
			preset: "clerk",
			isFromProject: false,
			isUntrusted: false,
			isImported: false,
			isIsolated: false,
			...request,
		},
		known,
	);
const errorOf = (request: Partial<McpRequest>, known?: McpFacts) => {
	try {
		return resolve(request, known);
	} catch (error) {
		const { code, message } = error as AgentError;
		return { code, message };
	}
};
const both = ["mcp__my_docs__search", "mcp__my_docs__get_page"];

describe("what a preset says", () => {
	test.each<[string, Partial<McpRequest>, string[]]>([
		["nothing", { tools: ["read"] }, []],
		["pi's name of a tool", { tools: ["mcp__my_docs__search"] }, ["mcp__my_docs__search"]],
		["the same with hyphens", { tools: ["mcp__my-docs__get-page"] }, ["mcp__my_docs__get_page"]],
		["server and tool", { tools: ["mcp:my-docs/get-page"] }, ["mcp__my_docs__get_page"]],
		["a whole server", { tools: ["mcp:my-docs"] }, both],
		["a whole server, as a pattern", { tools: ["mcp__my_docs__*"] }, both],
		["a whole server, by its prefix", { tools: ["mcp__my-docs"] }, both],
		["a listed server", { mcpServers: ["my-docs"] }, both],
		[
			"a listed server of which it names a tool",
			{ tools: ["mcp:my_docs/search"], mcpServers: ["my-docs"] },
			["mcp__my_docs__search"],
		],
		["a denied tool", { tools: ["mcp:my-docs"], disallowedTools: ["mcp:my-docs/search"] }, ["mcp__my_docs__get_page"]],
		["a denied server", { tools: ["mcp:my-docs", "mcp:db"], disallowedTools: ["mcp__my-docs__*"] }, ["mcp__db__query"]],
		["everything denied", { tools: ["mcp:my-docs"], disallowedTools: ["*"] }, []],
		[
			"a server that the session has not connected",
			{ tools: ["mcp:web/fetch", "mcp:mail"] },
			["mcp__web__fetch", "mcp__mail__*"],
		],
	])("%s", (_what, request, tools) => {
		const found = resolve(request);
		expect(found.tools).toEqual(tools);
		expect(found.warnings).toEqual([]);
		const servers = [...new Set(tools.map((name) => name.split("__")[1]))];
		expect(found.mcp?.servers ?? []).toEqual(servers);
		expect(found.others.tools ?? []).toEqual(request.tools?.includes("read") ? ["read"] : []);
	});

	test("a denial of what only the child will know goes with it", () => {
		expect(resolve({ tools: ["mcp:mail"], disallowedTools: ["bash", "mcp:mail/send-all"] })).toMatchObject({
			tools: ["mcp__mail__*"],
			mcp: { servers: ["mail"], denied: ["mcp__mail__send_all"] },
			others: { disallowedTools: ["bash"] },
		});
	});
});

describe("what is missing", () => {
	test("fails the launch of an own preset, by name", () => {
		expect(errorOf({ tools: ["mcp:my-docs/serach"] })).toEqual({
			code: "unknown_tool",
			message:
				'Preset "clerk" names the tool "mcp__my_docs__serach", which the MCP server "my_docs" does not have. It has mcp__my_docs__search, mcp__my_docs__get_page.',
		});
		const old = { unavailable: "MCP servers need pi 0.99 or newer, and this is pi 0.87.1", tools: [] };
		expect(errorOf({ mcpServers: ["db"] }, old)).toEqual({
			code: "unsupported",
			message:
				'Preset "clerk" asks for tools of the MCP server "db", but MCP servers need pi 0.99 or newer, and this is pi 0.87.1.',
		});
		expect(() => resolveMcp({ ...IMPORTED, isImported: false })).toThrow("this program has no MCP servers");
	});

	test("costs a file written for another program only that tool", () => {
		const found = resolve({ isImported: true, tools: ["mcp:my-docs/serach", "mcp:db"] });
		expect(found).toMatchObject({ tools: ["mcp__db__query"], mcp: { servers: ["db"], isOptional: true } });
		expect(found.warnings).toEqual([expect.stringMatching(/does not have\. .*The agent runs without it\.$/)]);
		expect(resolveMcp(IMPORTED)).toMatchObject({ tools: [], warnings: [expect.stringContaining("runs without it")] });
	});
});

const IMPORTED: McpRequest = {
	preset: "clerk",
	mcpServers: ["db"],
	isFromProject: false,
	isUntrusted: false,
	isImported: true,
	isIsolated: false,
};

describe("a preset that came with the project", () => {
	test("has only what the session can call", () => {
		expect(resolve({ isFromProject: true, tools: ["mcp:my-docs"] }).tools).toEqual(both);
		for (const entry of ["mcp:db", "mcp:mail"])
			expect(errorOf({ isFromProject: true, tools: [entry] })).toMatchObject({ code: "forbidden_tool" });
		expect(resolve({ isFromProject: true, isImported: true, tools: ["mcp:db", "mcp:my-docs"] })).toMatchObject({
			tools: both,
			warnings: [expect.stringContaining("mcp__db__query")],
		});
	});

	test("starts no server before the user trusts the project", () => {
		expect(resolve({ isFromProject: true, isUntrusted: true, tools: ["read", "mcp:my-docs"] })).toEqual({
			others: { tools: ["read"] },
			tools: [],
			warnings: [
				'Preset "clerk" asks for tools of the MCP server "my_docs"; that counts only in a project you have trusted.',
			],
		});
	});
});

test("an isolated agent has none", () => {
	expect(resolve({ isIsolated: true, tools: ["mcp:my-docs"] })).toMatchObject({
		tools: [],
		warnings: [expect.stringContaining("it is isolated")],
	});
});
