import { expect, test } from "vitest";
import { checkSettings } from "../src/commands/doctor/presets.ts";
import { readSettings } from "../src/settings.ts";

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
	expect(notes).toEqual([{ path: "subagents.json", key: "defaultJoinMode", why: "`join` is set, too" }]);
});

test("our own values of a name that others use, too, are ours", () => {
	const { settings, notes, problems } = read({ scopeModels: "warn" });
	expect([settings.scopeModels, notes, problems]).toEqual(["warn", [], []]);
});

test("a value that means nothing is told under the name that is in the file", () => {
	expect(read({ defaultJoinMode: 5, widgetMode: "huge", disableDefaultAgents: "yes" }).problems).toEqual([
		'subagents.json: "defaultJoinMode" is 5, expected one of "smart", "async", "group"; ignored',
		'subagents.json: "widgetMode" is "huge", expected one of "all", "background", "off"; ignored',
		'subagents.json: "disableDefaultAgents" is "yes", expected one of true, false; ignored',
	]);
});

test("names that every object has are no settings", () => {
	const { problems } = read(JSON.parse('{"constructor": 1, "__proto__": {"defaultJoinMode": "async"}}'));
	expect(problems).toHaveLength(2);
});

test("the doctor lists what is read under another name, and what has no effect, and finds nothing wrong with it", () => {
	const config = { ...read({ defaultJoinMode: "async", fleetView: true }), trust: "yes" as const };
	const survey = { config, presets: [], problems: [], overrideOf: () => ({ fields: {}, faults: [] }) };
	expect(checkSettings(survey as never)).toEqual([
		{ level: "ok", text: "no problems" },
		{ level: "ok", text: "subagents.json: `defaultJoinMode` is read as `join`" },
		{
			level: "ok",
			text: "subagents.json: `fleetView` has no effect here: the tree and `/agents` show every agent",
		},
	]);
});
