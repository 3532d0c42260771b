import { describe, expect, test } from "vitest";
import type { ConversationEntry } from "../../src/index.ts";
import { called, KEYS, lines, MemorySource, plainTheme, result, said, show, thought, told } from "./fixture.ts";

const conversation: ConversationEntry[] = [
	{ type: "message", message: { role: "system", content: "", sections: { a: "You are a scout.", b: "Be brief." } } },
	told("Find out how sessions are created: where `createSession` is defined and who calls it."),
	thought("The router is the place to begin.\nThen the store.", "I look at the **router** first."),
	called(["1", "grep", { pattern: "createSession", path: "src" }], ["2", "read", { path: "src/session.ts" }]),
	result("1", "grep", lines(18, "src/router.ts: createSession(request)")),
	result("2", "read", "export function createSession() {\n\treturn store.put({});\n}"),
	called(["3", "bash", { command: "npm test" }]),
	result("3", "bash", lines(40, "ok")),
	called(["4", "bash", { command: "npm run lint" }]),
	result("4", "bash", "Found 2 errors\nCommand exited with code 1", true),
	{ type: "compaction", summary: "It looked at the sessions.\nThey are created in src/session.ts." },
	{
		type: "message",
		message: { role: "custom", customType: "subagent-notification", content: "The other scout is done." },
	},
	told("Look at the logout, too."),
	said(
		"## Found\n\n1. `src/router.ts:88` calls it\n2. so does `src/token.ts`\n\n| file | line |\n|---|---|\n| router | 88 |",
	),
	{
		type: "message",
		message: { role: "assistant", content: [], stopReason: "error", errorMessage: "429 Too many requests" },
	},
	{ type: "unreadable", bytes: 9_000_000 },
];

const head = () => ["● scout a1b2c3d4  find the sessions", "⎿ 3 turns · 4 tools · 1m 12s"];

describe("the viewer", () => {
	test.each([40, 80, 120, 200])("shows a conversation at %i columns", async (width) => {
		const shown = await show(new MemorySource(conversation), { width, height: 75, head });
		await expect(shown.screen().join("\n")).toMatchFileSnapshot(`frames/viewer-${width}.txt`);
	});

	test.each([50, 80, 120])("shows why a check did not accept the work at %i columns", async (width) => {
		const line = "Failed after 2m: Not verified: npm test -- --reporter=dot exited with code 1 (12.3s)";
		const output = `${lines(12, "ok")}\nnot ok 13 - moves a parcel\n  at \x1b[2Jsrc/store.js:7\n1 test failed`;
		const shown = await show(new MemorySource([told("Fix."), said("Fixed."), { type: "check", line, output }]), {
			width,
			height: 22,
			head,
		});
		await expect(shown.screen().join("\n")).toMatchFileSnapshot(`frames/viewer-check-${width}.txt`);
		await shown.press(KEYS.enter);
		expect(shown.body().join("\n").match(/ok/g)).toHaveLength(13);
	});

	test.each([50, 80, 120])("shows what is being written behind the last message at %i columns", async (width) => {
		const writing = () => thought("The store is next.\nOr is it?", "So far, **two** files create sess");
		const source = new MemorySource([told("Look."), said("I look.")]);
		const shown = await show(source, { width, height: 18, head, writing });
		await expect(shown.screen().join("\n")).toMatchFileSnapshot(`frames/viewer-writing-${width}.txt`);
	});

	test("shows everything that was folded when it is unfolded", async () => {
		const shown = await show(new MemorySource(conversation), { width: 80, height: 150, head });
		await shown.press(KEYS.enter, "t");
		await expect(shown.screen().join("\n")).toMatchFileSnapshot("frames/viewer-unfolded.txt");
		await shown.press(KEYS.enter, "t");
		expect(shown.body().join("\n")).toContain("◇ Thinking: The router is the place to begin.");
		expect(shown.body().join("\n")).not.toContain("Then the store.");
	});

	test("names the result of each call where there were several, and of one call only shows it", async () => {
		const shown = await show(new MemorySource(conversation), { width: 80, height: 90 });
		const body = shown.body().join("\n");
		expect(body).toContain("● Searching code for createSession\n● Reading src/session.ts\n  ⎿ Search finished\n");
		expect(body).toContain("  ⎿ Finished reading src/session.ts\n    export function createSession() {");
		expect(body).toContain("● npm test\n  ⎿ … 36 earlier lines\n    ok 37\n");
		expect(body).toContain("● npm run lint\n  ✗ Found 2 errors\n");
	});

	test("folds a long task, and thinking to one line", async () => {
		const shown = await show(new MemorySource([told(lines(30, "step")), thought(lines(9), "Done.")]), { height: 40 });
		expect(shown.body().join("\n")).toContain("▌ step 8\n▌ … 22 more lines\n\n◇ Thinking: line 1\n\n  Done.");
		await shown.press(KEYS.enter);
		expect(shown.body().join("\n")).toContain("▌ step 30\n\n◇ Thinking: line 1\n");
	});

	test("says so when nothing has been said", async () => {
		const shown = await show(new MemorySource([]), { empty: () => "Waiting for a slot." });
		expect(shown.body().join("\n")).toContain("Waiting for a slot.");
		expect((await show(new MemorySource([]))).body().join("\n")).toContain("No messages yet.");
	});

	test("shows progress lines one below the other", async () => {
		const source = new MemorySource([
			{ type: "progress", text: "Reading a.ts" },
			{ type: "progress", text: "Finished reading a.ts" },
		]);
		expect((await show(source)).body().join("\n")).toContain("· Reading a.ts\n· Finished reading a.ts\n");
	});

	test("unfolds the one entry that is clicked", async () => {
		const source = new MemorySource([
			called(["1", "bash", { command: "ls" }]),
			result("1", "bash", lines(9)),
			said("End."),
		]);
		const shown = await show(source, { width: 60, height: 30 });
		const y = shown.screen().findIndex((line) => line.includes("earlier lines"));
		const at = { x: 5, y, screenX: 5, screenY: y, width: 60, height: 30, shift: false, alt: false, ctrl: false };
		shown.viewer.handleMouse({ type: "click", button: "left", ...at });
		expect(shown.body().join("\n")).toContain("⎿ line 1\n    line 2\n");
		shown.viewer.handleMouse({ type: "click", button: "left", ...at });
		expect(shown.body().join("\n")).toContain("… 5 earlier lines");
		expect(shown.viewer.handleMouse({ type: "move", button: "none", ...at })).toBeUndefined();
	});

	test("takes the colours anew when they have changed", async () => {
		let mark = "1";
		const theme = {
			...plainTheme,
			userText: (text: string) => text.replace("x", mark),
		};
		const shown = await show(new MemorySource([told("x")]), { theme });
		expect(shown.body().join("\n")).toContain("▌ 1");
		mark = "2";
		expect(shown.body().join("\n")).toContain("▌ 1");
		shown.viewer.invalidate();
		expect(shown.body().join("\n")).toContain("▌ 2");
	});

	test("stops listening when it is disposed of", async () => {
		const source = new MemorySource(conversation);
		const shown = await show(source);
		shown.viewer.dispose();
		const renders = shown.renders();
		source.push(said("More."));
		expect([source.isHeard, shown.renders()]).toEqual([false, renders]);
	});
});
