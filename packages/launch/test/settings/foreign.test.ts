import { expect, test } from "vitest";
import { readSettings } from "../../src/settings/settings.ts";

const read = (content: unknown, under?: string) =>
	readSettings([{ path: "subagents.json", text: JSON.stringify(content), under }]);

test("a file of another extension works as it is, and nobody is bothered about it", () => {
	const { settings, problems } = read({
		maxConcurrent: 10,
		defaultMaxTurns: 0,
		graceTurns: 5,
		defaultJoinMode: "async",
		schedulingEnabled: false,
		scopeModels: true,
		disableDefaultAgents: true,
		toolDescriptionMode: "full",
		fleetView: true,
		widgetMode: "off",
		outputTranscript: true,
		backgroundByDefault: true,
		maxSubagentDepth: 2,
	});
	expect(problems).toEqual([]);
	expect(settings).toMatchObject({
		maxConcurrent: 10,
		join: "async",
		scheduling: false,
		scopeModels: "deny",
		builtins: false,
		widget: "off",
		maxDepth: 2,
	});
});

test("the same under `subagents` of pi's own settings", () => {
	const { settings, problems } = read(
		{ theme: "dark", subagents: { disableBuiltins: true, agentScanDirs: [] } },
		"subagents",
	);
	expect([settings.builtins, problems]).toEqual([false, []]);
});

test("our own name wins, whatever the order in the file", () => {
	const { settings, notes } = read({ join: "group", defaultJoinMode: "async" });
	expect(settings.join).toBe("group");
	expect(read({ defaultJoinMode: "async", join: "group" }).settings.join).toBe("group");
	expect(notes).toEqual([{ path: "subagents.json", key: "defaultJoinMode", why: "`join` is also set" }]);
});

test("our own values of a name that others use, too, are ours", () => {
	const { settings, notes, problems } = read({ scopeModels: "warn" });
	expect([settings.scopeModels, notes, problems]).toEqual(["warn", [], []]);
});

test("a value that means nothing is told under the name that is in the file", () => {
	expect(read({ defaultJoinMode: 5, widgetMode: "huge" }).problems).toEqual([
		'subagents.json:1: "defaultJoinMode" is 5, expected one of "smart", "async", "group"; ignored',
		'subagents.json:1: "widgetMode" is "huge", expected one of "all", "background", "off"; ignored',
	]);
	const { problems, refusals } = read({ disableDefaultAgents: "yes" });
	expect(problems).toEqual(['subagents.json:1: "disableDefaultAgents" is "yes", expected one of true, false']);
	expect(refusals).toHaveLength(1); // it limits which agents there are
});

test("names that every object has are no settings", () => {
	const { problems } = read(JSON.parse('{"constructor": 1, "__proto__": {"defaultJoinMode": "async"}}'));
	expect(problems).toHaveLength(2);
});

test("what others' users expect happens: these have a setting here", () => {
	const { settings, problems } = read({
		worktreeIsolation: false,
		backgroundByDefault: false,
		packageAgents: ["pi-team", "npm:@acme/agents@1.2.0"],
		excludedExtensionPackages: ["pi-web"],
		agentOverrides: { scout: { disabled: true } },
	});
	expect(problems).toEqual([]);
	expect(settings).toMatchObject({
		worktrees: false,
		backgroundByDefault: false,
		packageAgents: ["pi-team", "npm:@acme/agents@1.2.0"],
		excludeExtensions: ["pi-web"],
		agentOverrides: { scout: { disabled: true } },
	});
	expect(read({ packageAgents: false }).settings.packageAgents).toBe(false);
	expect(read({ packageAgents: "none" }).problems).toEqual([
		'subagents.json:1: "packageAgents" is "none", expected true or false, or a list of names',
	]);
});

test.each<[object, string]>([
	[
		{ maxConcurrentForeground: 2 },
		'"maxConcurrentForeground" is 2, which has no effect here: agents in the foreground',
	],
	[{ showModel: true }, '"showModel" is true, which has no effect here: the tree names a model'],
	[{ viewerMarkdown: "all" }, '"viewerMarkdown" is "all", which has no effect here: what agents say'],
	[{ outputTranscript: false }, '"outputTranscript" is false, which has no effect here: always kept'],
	[{ usageBudget: { usd: 5 } }, '"usageBudget" is {"usd":5}, which has no effect here: use `budget_tokens`'],
	[{ modelScope: ["anthropic/*"] }, '"modelScope" is ["anthropic/*"], which has no effect here: `scopeModels`'],
])("a limit or a wish that cannot be met is a problem, not a note: %j", (content, said) => {
	const { problems, notes, refusals } = read(content);
	expect(refusals).toEqual([]);
	expect([problems, notes]).toEqual([[expect.stringContaining(`subagents.json:1: ${said}`)], []]);
	expect(read({ subagents: content }, "subagents").problems).toHaveLength(1);
});

test("what changes nothing is only noted", () => {
	const content = { maxConcurrentForeground: 0, showModel: false, viewerMarkdown: "assistant", agentScanDirs: [] };
	const { problems, notes } = read(content);
	expect([problems, notes.map(({ key }) => key)]).toEqual([[], Object.keys(content)]);
});
