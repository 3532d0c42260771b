/** What people see of agents on terminals of 50, 80 and 120 columns, light and dark: whole, lined up and readable. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
	all,
	callTool,
	converse,
	createGate,
	hang,
	httpError,
	lastUserSays,
	offersTool,
	type Reply,
	type ReplySource,
	say,
	startTui,
	systemPromptSays,
	type Terminal,
} from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { openMenu, untilAsked } from "../../support/keys.ts";
import { type Scene, scene } from "../../support/scene.ts";
import { looker, START, THEMES } from "../../support/sizes.ts";

const preset = (name: string, about: string, more = "") =>
	`---\nname: ${name}\ndescription: ${about}\nmodel: fake/fake-1\ntools: read,edit,write\n${more}---\nYou are the ${name}.\n`;
const agentSays = (name: string, ...replies: readonly ReplySource[]) =>
	converse(systemPromptSays(`You are the ${name}.`), ...replies);
const toldTo = (word: string, ...replies: readonly ReplySource[]) =>
	converse(all(offersTool("subagent"), lastUserSays(word)), ...replies);

const models = [{ id: "fake-1", reasoning: true, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3 } }];
const read = callTool("read", { path: "notes.txt" });
const broke = httpError(400, { error: { message: "Your credit balance is too low.", type: "invalid_request_error" } });
const question = {
	question: "Which colour should the front door have?",
	context: "The house is white, and the neighbours complained about the last red.",
	default_answer: "green, like the shutters",
};

function enter(tui: Terminal, text: string): void {
	tui.submit(text);
}

/** Goes down to what begins like this, and takes it. The conversation above may hold arrows, too. */
async function choose(tui: Terminal, label: string): Promise<void> {
	const isMarked = (lines: readonly string[]) => lines.some((line) => line.startsWith(` → ${label}`));
	for (let moves = 0; moves < 12 && !isMarked(tui.screen()); moves++) {
		const before = tui.screen().join("\n");
		tui.press("down");
		await tui.waitFor((lines) => lines.join("\n") !== before);
	}
	await tui.waitFor(isMarked, {}, `The choice ${label}`);
	tui.press("enter");
}

test.each(THEMES)("%s: agents that run, think, stall, fail, ask and are done", async (theme) => {
	const [think, done, dig] = [createGate(), createGate(), createGate()];
	/** Stops in the middle of a sentence. */
	const thinks: Reply = {
		...say("The store is used by the parser, and by nothing else."),
		thinking: "The notes name a launch code. I look at the parser first, since everything stands on it.",
		...{ gate: done, chunkSize: 16, chunksBeforeGate: 9 },
	};
	const tasks = [
		{ preset: "finder", task: "Find everything that talks to the store, and say which of it nobody tests." },
		{ preset: "critic", task: "Read the parser as a stranger would." },
		{ preset: "broke", task: "Ask the provider for more." },
	];
	const digs = { prompt: "Dig.", description: "dig for gold", subagent_type: "digger", run_in_background: true };
	await using it = await scene(
		[
			toldTo("<task-notification>", say("Noted.")),
			toldTo("Ship", callTool("subagent", { tasks }), say("Two are back.")),
			toldTo("Paint", callTool("subagent", { preset: "painter", task: "Paint the door." }), say("It is painted.")),
			toldTo("Hold", callTool("Agent", digs), hang()),
			agentSays("finder", { ...read, text: "I begin with the notes." }, { ...read, gate: think }, thinks),
			agentSays("critic", read, { ...say("It trusts its input."), gate: done }),
			agentSays("broke", broke),
			agentSays("painter", callTool("ask_main_session", question), say("Painted.")),
			agentSays("digger", { ...say("Found gold."), gate: dig }),
		],
		{
			settings: { theme },
			models,
			agentFiles: { "subagents.json": JSON.stringify({ stalledAfterSeconds: 1 }) },
			files: Object.fromEntries(
				["finder", "critic", "broke", "painter", "digger"].map((name) => [
					`.pi/subagents/${name}.md`,
					preset(name, "of the test"),
				]),
			),
		},
	);
	await using tui = await startTui({ env: it.env }, START);
	const look = looker(tui, theme);

	// The rows of the call, the tree and the footer, while one has failed and the others say nothing any more.
	enter(tui, "Ship it?");
	await tui.waitForText(/agents: 2 running[\s\S]*/);
	const rows = await look(
		/subagent 3 agents .*finder .*✗ .*broke .*400: Your cred/,
		/● Agents 2 running .*finder .*stalled: n.*critic .*stalled: n/,
		"agents: 2 running · quitting stops them",
	);
	const ends = rows.filter((line) => /^ (?:⠋|✗) .*(?:finder|critic|broke) /.test(line)).map((line) => line.length);
	expect([ends.length, new Set(ends).size]).toEqual([3, 1]);

	// The list, what it asks before it stops an agent, and what that agent thinks and says at this moment.
	tui.press("alt+a");
	await look(
		/→ ⠋ finder \w{8}.* \$0\.00\d [\d.]+s/,
		/✗ broke/,
		"Find everything that talks to the store",
		"s steer x stop",
	);
	tui.type("x");
	await look(/Stop finder \w+\? .*→ Keep it running Stop it/);
	tui.press("escape");
	await tui.waitForText(/→ ⠋ finder/);
	tui.press("enter");
	await look(
		/^╭─ finder/,
		/finder Find e.* · stalled: n/,
		"▌ Find everything",
		"I begin with the notes.",
		"● live",
		"esc close",
	);
	tui.type("?");
	await look(/line up .*show or hide thinking/, "any other key back");
	tui.press("escape");
	think.open();
	await look(/◇ The notes name a launch code\. I look .*since everything stands on it\. The store is/, "● live");
	tui.press("escape");
	await tui.waitForText(/→ \S finder/);
	tui.press("escape");
	done.open();
	await look(
		/3 agents: 2 done, 1 failed · 3 tools/,
		/✓ .*finder .*✓ .*critic .*✗ .*broke .*400: Your/,
		"to read the answers",
	);

	// A question with its context and default.
	enter(tui, "Paint the door.");
	await look(
		`asks: ${question.question} ${question.context} Default: ${question.default_answer} esc: it continues with its default`,
		/agents: 1 waiting for you (?:\(Which colour should .*\) )?· quitting stops it/,
		/\? painter .*asks you: Which/,
	);
	await untilAsked(tui, "esc: it continues with its default");
	tui.press("escape");
	await look(/✓ 1 tool · [\d.k]+ tokens · \$0\.\d+ · [\d.]+s · \w{8} It is painted\./);

	// A result that an interrupt holds back.
	enter(tui, "Hold on.");
	await look(/Agent digger dig for gold → started in the background · \w{8}/, "agents: 1 running · quitting stops it");
	tui.press("escape");
	await tui.waitForText("Operation aborted");
	dig.open();
	await look("1 result ready – it arrives with your next message (alt+r: now)");
	tui.press("alt+r");
	await look(/✓ digger dig for gold [\d.]+s .*Found gold\. Noted\./);
});

async function commitAll({ env }: Scene): Promise<void> {
	const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
	for (const args of [
		["init", "--quiet"],
		["add", "."],
		["commit", "--quiet", "-m", "first"],
	])
		await promisify(execFile)("git", [...who, ...args], { cwd: env.cwd });
}

test.each(THEMES)("%s: a mention, a worktree, and the menus of presets and schedules", async (theme) => {
	const edit = callTool("edit", { path: "notes.txt", edits: [{ oldText: "heliotrope", newText: "mauve" }] });
	const about = "Mends what is broken, and says in a few sentences what it did";
	await using it = await scene([agentSays("mender", read, edit, say("Mended."))], {
		settings: { theme },
		models,
		files: { ".pi/subagents/mender.md": preset("mender", about, "isolation: worktree\n") },
	});
	await commitAll(it);
	await using tui = await startTui({ env: it.env }, START);
	const look = looker(tui, theme);

	tui.type("@mend");
	await look(/→ @mender start: Mends w/);
	tui.press("tab");
	await tui.waitFor((lines) => !lines.some((line) => line.includes("start: Mends")));
	enter(tui, "Mend the notes.");
	await look(
		/→ mender \w{8} has started; the result will appear here\./,
		/✓ mender Mend the notes\. .*branch pi-subagents\/\w+ .*Mended\./,
	);

	tui.press("alt+a");
	await look(/→ ✓ mender \w{8}/, "r resume d diff");
	tui.type("d");
	await look(
		/mender \w{8} › Diff notes\.txt \| 2 \+- 1 file changed, .*notes\.txt \+1 −1 @@.*@@ -The .*heliotrope\. \+The .*mauve\./,
	);
	tui.press("escape");
	await tui.waitForText(/→ ✓ mender/);
	tui.press("escape");
	await tui.waitFor((lines) => !lines.some((line) => line.includes("This session")));

	await openMenu(tui);
	await look(/→ This session .*Presets \(9\) .*Scheduled jobs \(0\) .*Everywhere .*Settings/);
	await choose(tui, "Presets");
	await look(/Agents › Presets .*● mender project/, "type to filter");
	tui.type("Explore");
	await tui.waitForText(/→ . Explore/);
	tui.press("enter");
	await look(/→ Run .*View .*Explain .*Make it yours .*Copy under a new name .*Switch off/);
	await choose(tui, "Make it yours");
	await look(/Where should the file go\? → This project .*All my projects /);
	tui.press("enter");
	await look("It is now in use.", /Edit .*Delete my copy/);
	tui.press("escape");
	await tui.waitForText("type to filter");
	tui.press("escape");
	await tui.waitForText("→ Presets");
	await choose(tui, "Scheduled jobs");
	await choose(tui, "+ New job");
	await look("Agents › Scheduled jobs › New › Preset", "→ general-purpose");
	tui.press("enter");
	await look("What should it do? It does not see this conversation.");
	enter(tui, "Look for outdated dependencies.");
	await look('"0 9 * * 1" (cron: every Monday at 09:00)');
	enter(tui, "0 9 * * 1");
	await look("It runs every Monday at 09:00 (UTC). Where does it belong?", "→ This session");
	tui.press("enter");
	await look(/→ Every result .*Failures only/);
	tui.press("enter");
	await look(
		"general-purpose: Look for outdated dependencies. every Monday at 09:00 (UTC), for this session",
		"→ Save it",
	);
	tui.press("enter");
	await look(/is scheduled, every Monday at 09:00 .*First run: Mon /, /● Look for outdated dep/);
});
