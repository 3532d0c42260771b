/** The tree of agents above the editor, in real pi: three levels appear, change and settle while the user types. */
import { fileURLToPath } from "node:url";
import {
	all,
	availablePis,
	type Frame,
	gatePis,
	isFullRun,
	lastUserSays,
	offersTool,
	replay,
	say,
	startRpc,
	startTui,
	type Terminal,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { family, familyFiles as files } from "../../support/family.ts";
import { scene } from "../../support/scene.ts";

const OTHER_WIDGET = fileURLToPath(new URL("../../support/extensions/other-widget.ts", import.meta.url));

describe.each(await availablePis())("pi $version", (pi) => {
	test("three levels appear, change and settle, and nothing that is typed or said gets lost", async () => {
		const { first, second, rules } = family();
		await using it = await scene(rules, { files });
		await using tui = await startTui({ env: it.env, pi }, { cols: 100, rows: 40 });
		tui.submit("Please delegate.");
		await tui.waitForText("● Agents 4 running · depth 3/4");
		await tui.waitForText("agents: 4 running");
		const shown = await tui.waitFor(
			(lines) => lines.filter((line) => line.includes("Finished reading notes.txt")).length === 2,
			{},
			"What the leaves do",
		);
		const tree = shown.slice(shown.findIndex((line) => line.startsWith("● Agents")));
		// The two of one message are launched at the same time, so either may come first.
		const leaf = (line: string) => line.replace(/leaf (trace the owner|look for tests)/, "leaf …");
		expect(
			tree.slice(0, 9).map((line) =>
				leaf(line)
					.replace(/[⠀-⣿]/, "⠋")
					.replace(/ · .*$/, ""),
			),
		).toEqual([
			"● Agents 4 running",
			"└─ ⠋ boss fake-1 split the task",
			"   ⎿ Delegating to middle: inspect the flow",
			"   └─ ⠋ middle inspect the flow",
			"      ⎿ Delegating to leaf: look for tests",
			"      ├─ ⠋ leaf …",
			"      │  ⎿ Finished reading notes.txt",
			"      └─ ⠋ leaf …",
			"         ⎿ Finished reading notes.txt",
		]);
		tui.type("half a sentence");
		await tui.waitForText("half a sentence");
		first.open();
		second.open();
		await tui.waitForText("All is done.");
		const after = tui.screen().join("\n");
		for (const text of ["They are off.", "Boss done.", "half a sentence"]) expect(after).toContain(text);
		await tui.waitFor((lines) => !lines.join("\n").includes("agents: "), {}, "A footer without agents");
		await tui.waitFor((lines) => !lines.join("\n").includes("Agents "), {}, "A screen without the tree");
		expect(tui.screen().join("\n")).toContain("half a sentence");
	});
});

const SMALL_SCREEN = { tuiMode: "regular", cols: 40, rows: 12, extensions: [OTHER_WIDGET] };
const SCREENS = isFullRun
	? [
			SMALL_SCREEN,
			{ tuiMode: "regular", cols: 100, rows: 24, extensions: [] },
			{ tuiMode: "fullscreen", cols: 100, rows: 24, extensions: [] },
		]
	: [SMALL_SCREEN];

describe.each(await gatePis())("pi $version", (pi) => {
	test.each(SCREENS)(
		"$tuiMode, $cols x $rows, $extensions.length other widgets: no frame clears the screen, takes the editor away or loses a line",
		async ({ tuiMode, extensions, ...size }) => {
			const { rules, first, second } = family();
			const told = when(all(offersTool("start_subagent"), lastUserSays("story")), say(STORY.join("\n\n")));
			await using it = await scene([told, ...rules], { files, settings: { tuiMode } });
			await using tui = await startTui({ env: it.env, pi, extensions }, size);
			tui.submit("Tell a story.");
			await tui.waitForText("Said before 30.");
			const start = tui.raw.length;
			await watchFamily(
				tui,
				() => first.open(),
				() => second.open(),
			);

			let at = 0;
			let frames = 0;
			for await (const frame of replay(tui.raw, size)) {
				at += frame.output.length;
				if (at <= start) continue;
				frames++;
				expect(frame.output).not.toMatch(CLEARS);
				expectEditor(frame, size.cols);
				if (tuiMode === "regular") expectStory(frame);
			}
			expect(frames).toBeGreaterThan(10);
		},
	);
});

/** Three levels come; a clock moves on; they settle one after the other while a sentence is typed; the tree goes. */
async function watchFamily(tui: Terminal, first: () => void, second: () => void): Promise<void> {
	const shows = (text: RegExp) => tui.waitForText(text);
	tui.submit("Please delegate.");
	await shows(/● Agents 4 running/);
	await shows(/· [23]s/);
	tui.type("half a ");
	first();
	await shows(/● Agents 3 running/);
	tui.type("sentence");
	await shows(/half a sentence/);
	second();
	// On a low screen it may have scrolled away when anybody looks.
	await tui.waitFor(() => tui.raw.includes("All is done."), {}, "The last answer");
	await tui.waitFor((lines) => !lines.some((line) => line.includes(" Agents ")));
}

const STORY = Array.from({ length: 30 }, (_, index) => `Said before ${String(index + 1).padStart(2, "0")}.`);
/** A screen, a scrollback, all below the cursor, or the whole terminal. */
const CLEARS = /\x1b\[[0-3]?J|\x1bc/;

/** Its lower border is one plain line; the upper one may tell that pi is at work. */
function expectEditor({ all, screen }: Frame, cols: number): void {
	const isBorder = (line: string) => line.length === cols && /^─+( .* )?─+$/.test(line);
	expect(all.filter(isBorder), all.join("\n")).toHaveLength(2);
	expect(screen.filter(isBorder), screen.join("\n")).toHaveLength(2);
}

/** All of it, each line once, in its order. */
function expectStory({ all }: Frame): void {
	expect(all.map((line) => line.trim()).filter((line) => line.startsWith("Said before"))).toEqual(STORY);
}

test("rpc: a client gets the tree as plain lines", async () => {
	const { first, second, rules } = family();
	await using it = await scene(rules, { files });
	await using rpc = startRpc({ env: it.env });
	await rpc.send({ type: "prompt", message: "Please delegate." });
	const event = await rpc.waitFor(
		(each) =>
			each.type === "extension_ui_request" &&
			each.method === "setWidget" &&
			(each.widgetLines ?? [])[0]?.includes("● Agents 4 running") === true,
	);
	if (event.type !== "extension_ui_request" || event.method !== "setWidget") throw new Error("no widget");
	expect(event.widgetLines?.join("\n")).not.toMatch(/\x1b/);
	expect(event.widgetLines?.join("\n")).toMatch(/leaf .*look for tests/);
	first.open();
	second.open();
	await rpc.waitFor((each) => each.type === "message_end" && JSON.stringify(each).includes("All is done."));
});
