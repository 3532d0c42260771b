/** `/agents` in real pi: what a person does in the menu has its effect. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
	callTool,
	converse,
	createGate,
	gatePis,
	isFullRun,
	lastUserSays,
	offersTool,
	type PiRpc,
	runPrint,
	say,
	startRpc,
	startTui,
	systemPromptSays,
	type Terminal,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { moveTo, openMenu, untilAsked } from "../../support/keys.ts";
import { type Scene, scene, scoutSays, unfenced } from "../../support/scene.ts";

/** Types what narrows the list down to one, and takes it. */
async function choose(tui: Terminal, label: string): Promise<void> {
	tui.type(label);
	await tui.waitForText(new RegExp(`→ . ${label}|→ ${label}`));
	tui.press("enter");
}

const settingsOf = async (it: Scene) => JSON.parse(await readFile(join(it.env.agentDir, "subagents.json"), "utf8"));

/** The parent calls the preset that the user names; the child says whose words it was given. */
const asksExplore = [
	converse(
		offersTool("subagent"),
		callTool("subagent", { preset: "Explore", task: "Who are you?" }),
		({ lastToolResults }) => say(`It says: ${unfenced(lastToolResults[0]?.text)}`),
	),
	when(systemPromptSays("You are my own explorer."), say("I am yours.")),
	when(lastUserSays("Who are you?"), say("I am built in.")),
];

describe.each(await gatePis())("pi $version", (pi) => {
	test("one key opens the list of agents, another stops one, and the editor keeps its text", async () => {
		await using it = await scene([scoutSays({ ...say("never"), gate: createGate() })]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 40 });
		tui.submit("/subagent start repo-scout: Find the launch code. ");
		await tui.waitForText(/Started repo-scout as \w+\./);
		expect(tui.screen().join("\n")).not.toContain("conflict"); // pi leaves the key free
		tui.type("half a thought");
		await tui.waitForText("half a thought");
		tui.press("alt+a");
		await tui.waitForText(/→ ⠋ repo-scout +\w+ +Find the launch code/);
		tui.type("x");
		await tui.waitForText(/Stop repo-scout \w+\?[\s\S]*→ Keep it running/);
		await moveTo(tui, "Stop it");
		await tui.waitForText(/Stopped repo-scout \w+\./);
		await tui.waitForText(/→ ■ repo-scout[\s\S]* r resume/);
		tui.press("escape");
		await tui.waitFor((lines) => !lines.some((line) => line.includes("This session")));
		tui.type(", typed after all");
		await tui.waitForText("half a thought, typed after all");
	});

	test("a settled agent's conversation is opened from the menu, and left to where one came from", async () => {
		await using it = await scene([scoutSays(say("The code is heliotrope."))]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 40 });
		tui.submit("/subagent start repo-scout: Find the launch code. ");
		await tui.waitForText(/✓ repo-scout Find the launch code\.[\s\S]*The code is heliotrope\./);
		await openMenu(tui);
		await moveTo(tui, "This session");
		await tui.waitForText(/→ ✓ repo-scout/);
		tui.press("enter");
		await tui.waitForText(/│.*✓ repo-scout[\s\S]*│.*The code is heliotrope\./);
		tui.press("escape");
		await tui.waitForText(/Agents › This session[\s\S]*→ ✓ repo-scout/);
	});

	test("a built-in is ejected, edited in pi's editor, and used", async () => {
		await using it = await scene(asksExplore);
		await using tui = await startTui({ env: it.env, pi }, { rows: 40, cols: 120 });
		await openMenu(tui);
		await moveTo(tui, "Presets");
		await tui.waitForText("Agents › Presets");
		await choose(tui, "Explore");
		await moveTo(tui, "Make it yours");
		await tui.waitForText("Where should the file go?");
		tui.press("enter");
		const path = join(it.env.cwd, ".pi/subagents/Explore.md");
		await tui.waitForText(/Wrote [\s\S]*It is now in use\./);
		expect(existsSync(path)).toBe(true);
		expect(tui.scrollback()).not.toContain("replaces the one you had");
		await moveTo(tui, "Edit");
		await tui.waitForText("external editor");
		tui.submit("You are my own explorer.");
		await tui.waitForText(/Saved [\s\S]*Explore\.md\./);
		expect(await readFile(path, "utf8")).toMatch(/^---\nname: Explore\n.*You are my own explorer\.\n$/s);
		tui.press("escape");
		await tui.waitForText(/● Explore +project/);
		tui.press("escape");
		await tui.waitForText("Presets (8)");
		tui.press("escape");
		await tui.waitFor((lines) => !lines.some((line) => line.includes("Presets (8)")));
		tui.submit("ask it");
		await tui.waitForText("It says: I am yours.");
	});

	test("text typed ahead waits for the next dialog, an Enter typed ahead does nothing, and the editor gets neither", async () => {
		await using it = await scene([]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 40 });
		await openMenu(tui);
		await moveTo(tui, "Presets");
		await tui.waitForText("Agents › Presets");
		await choose(tui, "New preset");
		await tui.waitForText("Agents › Presets › New › Name");
		tui.type("api-reviewer\rReviews the API.\rand more\r"); // all of it before the next dialog is there
		await tui.waitForText(/New › Description[\s\S]*> Reviews the API\./);
		expect(tui.screen().join("\n")).not.toContain("and more");
		tui.press("enter");
		await tui.waitForText("New › Tools");
		for (const back of ["New › Description", "New › Name", /Agents › Presets\s*\n/, "→ Presets"]) {
			tui.press("escape");
			await tui.waitForText(back);
		}
		tui.press("escape");
		const screen = await tui.waitFor((lines) => !lines.join("\n").includes("→ Presets"));
		expect(screen.join("\n")).not.toMatch(/and more|Reviews/);
		expect(it.server.requests).toEqual([]);
	});

	test("a preset that is switched off there is refused, and a setting is in the file at once", async () => {
		await using it = await scene(asksExplore);
		await using tui = await startTui({ env: it.env, pi }, { rows: 44, cols: 120 });
		await openMenu(tui);
		await moveTo(tui, "Presets");
		await tui.waitForText("Agents › Presets");
		await choose(tui, "Explore");
		await moveTo(tui, "Switch off");
		await tui.waitForText('Preset "Explore" is switched off.');
		expect(await settingsOf(it)).toEqual({ agentOverrides: { Explore: { enabled: false } } });
		tui.press("escape");
		await tui.waitForText(/○ Explore +built-in, off/);
		tui.press("escape");
		await tui.waitForText(/→ Presets/);
		await moveTo(tui, "Settings");
		await tui.waitForText("Agents › Settings");
		await choose(tui, "Subagent widget display");
		await tui.waitForText("→ ● Auto");
		tui.press("down", "enter");
		await tui.waitForText("Subagent widget display: Rich tree");
		expect(await settingsOf(it)).toEqual({ agentOverrides: { Explore: { enabled: false } }, widget: "rich" });
		tui.press("escape");
		await tui.waitForText("→ Settings");
		tui.press("escape");
		await tui.waitFor((lines) => !lines.some((line) => line.includes("→ Settings")));
		tui.submit("ask it");
		await tui.waitForText(/It says: Preset "Explore" is switched off/);
	});

	test("a question of an agent waits until the menu makes room for its dialog", async () => {
		const gate = createGate();
		const asks = scoutSays(
			{ ...callTool("ask_main_session", { question: "Which colour?" }), gate },
			({ lastToolResults }) => say(`I was told: ${unfenced(lastToolResults[0]?.text)}`),
		);
		const delegates = converse(
			offersTool("subagent"),
			callTool("subagent", { preset: "repo-scout", task: "Paint." }),
			({ lastToolResults }) => say(`Done. ${unfenced(lastToolResults[0]?.text)}`),
		);
		await using it = await scene([delegates, asks]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 40 });
		tui.submit("paint the door");
		await tui.waitForText("repo-scout");
		await openMenu(tui);
		gate.open();
		await tui.waitForText("1 waiting for you");
		tui.press("enter");
		await untilAsked(tui, /Agent repo-scout \(\w+\) asks: Which colour\?/);
		tui.submit("heliotrope");
		await tui.waitForText("Agents › This session");
		tui.press("escape", "escape");
		await tui.waitForText("Done. I was told: Answer from the user: heliotrope");
	});
});

if (isFullRun)
	test("a narrow terminal shows the menu too, at every level", async () => {
		await using it = await scene([]);
		await using tui = await startTui({ env: it.env }, { cols: 30, rows: 40 });
		await openMenu(tui);
		await moveTo(tui, "Settings");
		await tui.waitForText("Agents › Settings");
		for (const cols of [12, 200, 5, 80]) {
			tui.resize(cols, 40);
			await tui.waitFor((lines) => lines.some((line) => line.replaceAll(" ", "") === "─".repeat(cols)));
		}
		await tui.waitForText(/→ Agents at once +8/);
	});

type Select = { id: string; title: string; options: string[] };

async function nextSelect(rpc: PiRpc, from: number): Promise<Select> {
	const event = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "select", { from });
	return event as unknown as Select;
}

test("rpc: the same menu in plain dialogs", async () => {
	await using it = await scene([]);
	await using rpc = startRpc({ env: it.env });
	const sent = rpc.send({ type: "prompt", message: "/agents" });
	let from = rpc.events.length;
	const titles: string[] = [];
	const answer = async (begins: string | undefined) => {
		const { id, title, options } = await nextSelect(rpc, from);
		titles.push(title.split("\n")[0] ?? "");
		from = rpc.events.length;
		const value = options.find((option) => begins !== undefined && option.startsWith(begins));
		rpc.answer(
			value === undefined
				? { type: "extension_ui_response", id, cancelled: true }
				: { type: "extension_ui_response", id, value },
		);
	};
	await answer("Settings");
	await answer("Subagent widget display");
	await answer("○ Compact tree");
	await answer(undefined);
	await answer("Presets");
	await answer("● Explore");
	await answer("Switch off");
	for (let level = 0; level < 3; level++) await answer(undefined);
	expect((await sent).success).toBe(true);
	expect(titles).toEqual([
		"Agents",
		"Agents › Settings",
		"Agents › Settings › Subagent widget display",
		"Agents › Settings",
		"Agents",
		"Agents › Presets",
		"Agents › Presets › Explore",
		"Agents › Presets › Explore",
		"Agents › Presets",
		"Agents",
	]);
	expect(await settingsOf(it)).toEqual({ widget: "compact", agentOverrides: { Explore: { enabled: false } } });
});

test("print: the lists are printed, and where the menu is", async () => {
	await using it = await scene([]);
	const { stdout, stderr, code } = await runPrint({ env: it.env }, "/agents");
	expect({ printed: `${stdout}${stderr}`, code }).toEqual({
		printed: expect.stringMatching(/No agent has been launched.*repo-scout +project.*The menu needs a terminal/s),
		code: 0,
	});
	expect(it.server.requests).toEqual([]);
});
