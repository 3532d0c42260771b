/** An agent's conversation in real pi: it grows before one's eyes, and one can search it, steer, answer and stop the agent. */
import { readFile } from "node:fs/promises";
import {
	all,
	availablePis,
	callTool,
	converse,
	createGate,
	gateCases,
	lastUserSays,
	offersTool,
	type Rule,
	say,
	startTui,
	systemPromptSays,
	type Terminal,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { familyFiles as files } from "../../support/family.ts";
import { asksWhichColour, scene } from "../../support/scene.ts";

const REPORT = Array.from({ length: 60 }, (_, index) => `- Finding number ${index + 1}`).join("\n");
const asLeaf = (text: string) => all(systemPromptSays("You are the leaf."), lastUserSays(text));
const read = callTool("read", { path: "notes.txt" });

/** A boss has a leaf report. The leaf goes on at the gate, does as it is told, asks, and then works for ever. */
function story() {
	const [first, second] = [createGate(), createGate()];
	const task = { prompt: "Trace it.", description: "trace the owner", subagent_type: "leaf", run_in_background: false };
	const rules: Rule[] = [
		when(all(offersTool("start_subagent"), lastUserSays("Which colour?")), say("The user decides.")),
		when(all(offersTool("start_subagent"), lastUserSays("<task-notification>")), say("Noted.")),
		converse(
			systemPromptSays("You are the boss."),
			{ ...callTool("Agent", task), text: "A leaf shall look." },
			say("Boss done."),
		),
		converse(
			asLeaf("Trace it."),
			{ ...read, text: REPORT },
			{ ...read, text: "The second part.", gate: first },
			{ ...read, text: "The third part.", gate: second },
		),
		asksWhichColour(asLeaf("Look at the tests, too.")),
	];
	return { first, second, rules };
}

async function openBoss(tui: Terminal): Promise<void> {
	tui.submit("/subagent start boss: Split the task. ");
	await tui.waitForText(/Started boss as \w+\./);
	await tui.waitForText("agents: 2 running");
	tui.press("alt+a");
	await tui.waitForText(/Agents › This session[\s\S]*→ ⠋ boss .*\n +└ ⠋ leaf /);
	tui.press("enter");
	await tui.waitForText(/│.*A leaf shall look\./);
}

/** Those of the other agents that are offered. */
async function goTo(tui: Terminal, relative: string): Promise<void> {
	tui.type("o");
	await tui.waitForText(new RegExp(`→ ${relative}`));
	tui.press("enter");
}

describe.each(await availablePis())("pi $version", (pi) => {
	const sizes = [
		{ cols: 80, rows: 24 },
		{ cols: 120, rows: 40 },
	];
	test.each(gateCases(sizes, 0))(
		"at $cols x $rows an agent is followed, searched, steered, answered and stopped in its viewer",
		async (size) => {
			const { first, second, rules } = story();
			await using it = await scene(rules, { files, variables: { SSH_CONNECTION: "so that the terminal copies" } });
			await using tui = await startTui({ env: it.env, pi }, size);
			await openBoss(tui);

			// To the child, whose conversation is longer than the screen and shown from its end.
			await goTo(tui, "↓ leaf");
			await tui.waitForText(/^╭─ leaf \w+ ─[\s\S]*Finding number 60[\s\S]*● live/m);

			// Going up pauses; what comes then is counted, and does not move what is read.
			tui.press("pageup");
			const paused = await tui.waitForText(/% of \d+ entries/);
			expect(paused.join("\n")).not.toContain("Finding number 60");
			first.open();
			await tui.waitForText(/↓ \d+ new (line|entr)/);
			expect(tui.screen().join("\n")).not.toContain("The second part.");
			tui.type("G");
			await tui.waitForText(/The second part\.[\s\S]*● live/);

			// Searching goes there, and Escape leaves the search before it leaves the viewer.
			tui.type("/");
			await tui.waitForText("text to find");
			tui.submit("number 7");
			await tui.waitForText("Finding number 7");
			tui.press("escape");
			await tui.waitFor((lines) => !lines.some((line) => line.includes("end search")));
			tui.type("G");
			await tui.waitForText("● live");

			// Its path goes to the clipboard.
			tui.type("y");
			await tui.waitForText(`Copied ${it.env.root}`);
			const [, copied = ""] = /\x1b\]52;c;([A-Za-z0-9+/=]+)\x07/.exec(tui.raw) ?? [];
			expect(await readFile(Buffer.from(copied, "base64").toString(), "utf8")).toContain("Finding number 60");

			// What is typed there reaches the agent with its next request.
			tui.type("s");
			await tui.waitForText("what it should know or do");
			tui.submit("Look at the tests, too.");
			await tui.waitForText("Message sent");
			second.open();
			await it.server.nextRequest(asLeaf("Look at the tests, too."));

			// It asks, and the answer is given there.
			await tui.waitForText("? Which colour?");
			tui.type("a");
			await tui.waitForText("your answer");
			tui.submit("heliotrope");
			await tui.waitForText(/I heard: .*heliotrope/);

			// To the parent and back.
			await goTo(tui, "↑ boss");
			await tui.waitForText(/^╭─ boss \w+ ─[\s\S]*│.*A leaf shall look\./m);
			tui.press("right"); // the next one in the list
			await tui.waitForText(/I heard: .*heliotrope/);
			tui.press("left");
			await tui.waitForText(/^╭─ boss \w+ ─/m);
			await goTo(tui, "↓ leaf");
			await tui.waitForText(/I heard: .*heliotrope/);

			// One key does not stop it.
			tui.type("x");
			await tui.waitForText(/Stop it/);
			tui.type("j");
			await tui.waitForText("Not stopped");
			tui.type("xx");
			await tui.waitForText(/■ leaf[\s\S]* end ─/);

			// Back to the list, and from there to an editor that has heard nothing of all this.
			tui.press("escape");
			await tui.waitForText(/Agents › This session[\s\S]*→ . boss/);
			tui.press("escape");
			await tui.waitFor((lines) => !lines.some((line) => line.includes("This session")));
			tui.type("typed after all");
			await tui.waitForText(/^typed after all$/m);
		},
	);
});
