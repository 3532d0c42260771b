/** `/agents` › Settings: every setting, saved to the right file, without harm to what else is there. */

import { settingsShape } from "@pi-subagents/launch";
import { expect, test } from "vitest";
import { defaultSettings } from "../../../launch/test/fixture.ts";
import { allSettings, settingItems, valueText } from "../../src/menu/settings/setting-items.ts";
import { world } from "./fixture.ts";

const settings = { choose: "Settings" } as const;

test("every setting of the schema is there, with its value and what it means", () => {
	const items = settingItems({ effective: defaultSettings(), user: {} });
	expect(items.map(({ label, tag }) => `${label}: ${tag?.text}`)).toEqual([
		"Agents at once: 8",
		"Agents at once per provider: no limit",
		"Agents at once per model: no limit",
		"When all slots are taken: Queue",
		"Levels of agents: 4",
		"Idle timeout (minutes): no limit",
		"Turns: no limit",
		"Grace turns: 5",
		"Kept for the answer (percent): 10",
		"Budget of a session: cost in dollars: no limit",
		"Budget of a session: tokens: no limit",
		"Budget of a session: agents: no limit",
		"Stalled (seconds): 120",
		"Runner: Session",
		"Machine: none",
		"Machines: none",
		"Retry: Off",
		"Launchers: none",
		"Join results: Smart",
		"When an agent settles: Turn",
		"Escape stops: Foreground",
		"Tools: Agents, Presets, Roles",
		"Built-in presets: on",
		"Presets of packages: on",
		"Imports: none",
		"Presets of projects: Allow",
		"Models out of scope: Off",
		"Default model: none",
		"Agents in the background: on",
		"Worktrees: on",
		"Worktree: place: none",
		"Worktree: links: none",
		"Worktree: copies: none",
		"Worktree: set-up: none",
		"Worktree: set-up limit (minutes): 10",
		"Verification in calls: off",
		"Fallback preset: off",
		"Extensions to leave out: none",
		"Guards: on",
		"Scheduling: on",
		"Workflows: resume: off",
		"Workflows: budget (tokens): no limit",
		"Key for the agents: alt+a",
		"Key for results: alt+r",
		"Messages to @name: Direct",
		"Notifications: about: none",
		"Notifications: from (seconds): 30",
		"Notifications: via: Osc",
		"Notifications: command: none",
		"Hooks: before launch: none",
		"Subagent widget display: Auto",
		"Drain (seconds): 600",
		"Retention: days: 14",
		"Retention: megabytes: 500",
		"Overrides: none",
	]);
	expect(items.every(({ about }) => about !== undefined && about.length > 10 && !about.includes("`"))).toBe(true);
	expect(allSettings.map(({ path }) => path[0])).toEqual(
		expect.arrayContaining(Object.keys(settingsShape.properties ?? {})),
	);
});

test("values read as people say them", () => {
	const shapeOf = (key: string) => allSettings.find((setting) => setting.key === key)?.shape ?? {};
	expect(valueText(shapeOf("widget"), "rich")).toBe("Rich tree");
	expect(valueText(shapeOf("widget"), "compact")).toBe("Compact tree");
	expect(valueText(shapeOf("maxPerProvider"), { anthropic: 4, openai: 2 })).toBe("anthropic 4, openai 2");
	expect(valueText(shapeOf("agentOverrides"), { Explore: {}, Plan: {} })).toBe("2 presets");
	expect(valueText(shapeOf("imports"), ["claude", "opencode"])).toBe("Claude Code, OpenCode");
	expect(valueText(shapeOf("drainSeconds"), 0)).toBe("0");
});

test("a choice is saved for the user, unknown keys survive, and whoever listens hears of it", async () => {
	await using it = await world();
	await it.write("agent/subagents.json", '{\n  "theirs": 1,\n  "maxDepth": 2\n}\n');
	const shown = await it.runMenu(settings, { choose: "Subagent widget display" }, { choose: "Compact tree" });
	expect(await it.read("agent/subagents.json")).toBe('{\n  "theirs": 1,\n  "maxDepth": 2,\n  "widget": "compact"\n}\n');
	expect(it.heard.at(-1)).toMatchObject({ widget: "compact", maxDepth: 2 });
	expect(shown).toContain("info: Subagent widget display: Compact tree");
	expect(shown[2]).toBe(
		"Agents › Settings › Subagent widget display\nHow the tree of agents looks.\n● Auto | ○ Rich tree | ○ Compact tree | ○ Off",
	);
});

test("a number that cannot be is said, can be corrected, and an empty line takes the setting out", async () => {
	await using it = await world();
	const shown = await it.runMenu(settings, { choose: "Levels of agents" }, { type: "99" }, { type: "3" });
	expect(shown).toContainEqual(
		expect.stringMatching(
			/! The settings were not saved .*"maxDepth" is 99, expected a whole number from 1 to 32\n> 99$/s,
		),
	);
	expect(JSON.parse(await it.read("agent/subagents.json"))).toEqual({ maxDepth: 3 });
	await it.runMenu(settings, { choose: "Levels of agents" }, { type: "" });
	expect(JSON.parse(await it.read("agent/subagents.json"))).toEqual({});
});

test("what holds several is switched one by one, and can go back to the default", async () => {
	await using it = await world();
	await it.runMenu(settings, { choose: "Tools" }, { choose: "Roles" }, { choose: "Agents" });
	expect(it.heard.at(-1)?.toolsets).toEqual(["presets"]);
	await it.runMenu(settings, { choose: "Tools" }, { choose: "Agents" });
	expect(it.heard.at(-1)?.toolsets).toEqual(["agents", "presets"]);
	await it.runMenu(settings, { choose: "Tools" }, { choose: "Not set here" });
	expect(JSON.parse(await it.read("agent/subagents.json"))).toEqual({});
});

test("switches, nested values, records and overrides are saved as what they are", async () => {
	await using it = await world();
	await it.runMenu(settings, { choose: "Built-in presets" }, { choose: "Off" });
	await it.runMenu(settings, { choose: "Retention: days" }, { type: "30" });
	await it.runMenu(settings, { choose: "Agents at once per provider" }, { type: '{ "anthropic": 4 }' });
	await it.runMenu(settings, { choose: "Default model" }, { type: "fake/one" });
	const overrides = () => '{ "Explore": { "model": "haiku" } }';
	const shown = await it.runMenu(settings, { choose: "Overrides" }, { edit: () => "{ oops" }, { edit: overrides });
	expect(shown).toContainEqual(expect.stringMatching(/^error: This is not valid JSON .* Fix it/));
	expect(JSON.parse(await it.read("agent/subagents.json"))).toEqual({
		builtins: false,
		retention: { days: 30 },
		maxPerProvider: { anthropic: 4 },
		defaultModel: "fake/one",
		agentOverrides: { Explore: { model: "haiku" } },
	});
	await it.runMenu(settings, { choose: "Overrides" }, { edit: () => "{}" });
	expect(JSON.parse(await it.read("agent/subagents.json"))).not.toHaveProperty("agentOverrides");
});

test("a project's file can be changed only where the project is trusted, and its word counts more", async () => {
	await using untrusted = await world();
	expect((await untrusted.runMenu(settings))[1]).not.toContain("Set them for");

	await using it = await world({ trust: "yes" });
	await it.runMenu(settings, { choose: "Set them for" }, { choose: "Levels of agents" }, { type: "2" });
	expect(JSON.parse(await it.read("project/.pi/subagents.json"))).toEqual({ maxDepth: 2 });
	const shown = await it.runMenu(settings, { choose: "Levels of agents" }, { type: "7" });
	expect(shown).toContain(
		"warning: Levels of agents: saved, but this project sets it to 2, which takes precedence here.",
	);
	expect(JSON.parse(await it.read("agent/subagents.json"))).toEqual({ maxDepth: 7 });
});

test("what a project would widen is said when it is saved", async () => {
	await using it = await world({ trust: "yes" });
	await it.write("agent/subagents.json", '{ "maxDepth": 2 }');
	const steps = [settings, { choose: "Set them for" }, { choose: "Levels of agents" }, { type: "7" }] as const;
	expect(await it.runMenu(...steps)).toContain(
		"warning: Levels of agents: saved, but your own settings allow less: 2 counts.",
	);
});

test("a file that is not understood comes first, and is fixed in the editor", async () => {
	await using it = await world();
	await it.write("agent/subagents.json", '{\n\t"maxDepth": 2,\n}\n');
	const shown = await it.runMenu(
		settings,
		{ choose: "Fix subagents.json" },
		{ edit: (before) => before.replace(",\n}", "\n,}") },
		{ edit: () => '{ "maxDepth": "2" }' },
		{ edit: () => '{ "maxDepth": 2 }' },
	);
	const path = `${it.agentDir}/subagents.json`;
	expect(shown[0]).toContain("! Settings");
	expect(shown[1]).toContain("! Fix subagents.json no agent is launched | Agents at once");
	const titles = shown.slice(2, 5).map((text) => text.split("\n")[0]);
	expect(titles).toEqual([
		`${path}:2: not valid JSON (there is a comma too many before "}")`,
		`${path} was not saved: it is not valid JSON (there is a comma too many before "}")`,
		`${path}:1: "maxDepth" is "2", expected a whole number from 1 to 32`,
	]);
	expect(shown[5]).toBe(`info: ${path} is understood again.`);
	expect(shown[6]).not.toContain("Fix subagents.json");
	expect(it.heard.at(-1)).toMatchObject({ maxDepth: 2 });
	await expect(it.launcher.resolve({ preset: "Explore", task: "Look." }, it.ctx)).resolves.toBeDefined();
});

test("a bad value is fixed by choosing a good one", async () => {
	await using it = await world();
	await it.write("agent/subagents.json", '{ "maxDepth": "two" }');
	await it.runMenu(settings, { choose: "Levels of agents" }, { type: "2" });
	expect(JSON.parse(await it.read("agent/subagents.json"))).toEqual({ maxDepth: 2 });
	expect((await it.runMenu(settings))[1]).not.toContain("Fix");
});

test("what is no file at all is said, and the rest of the menu works", async () => {
	await using it = await world();
	await it.write("agent/subagents.json/inside", "");
	const shown = await it.runMenu(settings, { choose: "Fix subagents.json" });
	expect(shown).toContain(`error: ${it.agentDir}/subagents.json cannot be edited here: it is not a regular file.`);
});

test("a file that is not JSON is left as it is, and says so", async () => {
	await using it = await world();
	await it.write("agent/subagents.json", "{ broken");
	const shown = await it.runMenu(settings, { choose: "Scheduling" }, { choose: "Off" });
	expect(shown).toContainEqual(expect.stringMatching(/^error: The settings were not saved .* fix it first/));
	expect(await it.read("agent/subagents.json")).toBe("{ broken");
});
