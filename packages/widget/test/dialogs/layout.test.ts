import { visibleWidth } from "@earendil-works/pi-tui";
import { expect, test } from "vitest";
import { diffBlocks } from "../../src/dialogs/diff.ts";
import { type Block, fields, layout } from "../../src/dialogs/layout.ts";
import { type DialogTheme, noteView } from "../../src/dialogs/note-view.ts";

const table: Block = {
	rows: [
		{ lead: [{ text: "scout" }, { text: "project" }], body: [{ text: "Looks around and changes nothing at all." }] },
		{ lead: [{ text: "general-purpose" }, { text: "builtin" }], body: [{ text: "Does it." }, { text: "Really." }] },
	],
};

test("the last column takes the room that the others leave, and stays a column when it wraps", () => {
	expect(layout([table], 50)).toEqual([
		"scout            project  Looks around and changes",
		"                          nothing at all.",
		"general-purpose  builtin  Does it.",
		"                          Really.",
	]);
});

test("where that is too little, it goes below", () => {
	expect(layout([table], 40)).toEqual([
		"scout            project",
		"  Looks around and changes nothing at",
		"  all.",
		"general-purpose  builtin",
		"  Does it.",
		"  Really.",
	]);
});

test("columns that do not fit either become words one after the other", () => {
	expect(layout([table], 18)).toEqual([
		"scout  project",
		"  Looks around and",
		"  changes nothing",
		"  at all.",
		"general-purpose",
		"builtin",
		"  Does it.",
		"  Really.",
	]);
});

test("clipped rows are one line for each of their texts", () => {
	expect(layout([{ ...table, isClipped: true }], 50)).toEqual([
		"scout            project  Looks around and change…",
		"general-purpose  builtin  Does it.",
		"                          Really.",
	]);
});

test("a blank line stands between blocks, and none for one that is empty", () => {
	const blocks = [{ text: "One." }, { rows: [] }, { text: "  \n" }, fields([["two", "three"]])];
	expect(layout(blocks, 40)).toEqual(["One.", "", "two  three"]);
});

test("a colour is painted line by line, so that it does not reach what stands beside it", () => {
	const rows = [{ lead: [{ text: "a" }], body: [{ text: "long enough to wrap around", tone: "bad" as const }] }];
	const red = (tone: unknown, text: string) => (tone ? `\x1b[31m${text}\x1b[39m` : text);
	expect(layout([{ rows }], 20, red)).toEqual([
		"a",
		"  \x1b[31mlong enough to\x1b[39m",
		"  \x1b[31mwrap around\x1b[39m",
	]);
});

const plain = { fg: (_: string, text: string) => text, bold: (text: string) => text } as unknown as DialogTheme;

/** All but the end of a colour. */
const CONTROLS = /(?!\x1b\[0m)[\x00-\x1f\x7f-\x9f\u202a-\u202e]/;

test("nothing is wider than the screen, and no control character reaches it, at any width", () => {
	const hostile = "中文 \u{1f469}‍\u{1f467} \x1b[31mred\x1b[0m \x1b]0;title\x07 \u202eabc\r\n\tx ".repeat(5);
	const cell = { text: hostile, tone: "bad" as const };
	const rows = [
		{ lead: [cell, { text: "short" }], body: [cell, cell] },
		{ lead: [], body: [] },
	];
	const view = noteView([cell, { rows }, { rows, isClipped: true }, fields([[hostile, hostile]])], plain);
	for (let width = 0; width <= 300; width++) {
		const bad = view.render(width).filter((line) => visibleWidth(line) > width || CONTROLS.test(line));
		expect(bad, `at ${width} columns`).toEqual([]);
	}
});

test("a diff has each file under its name, and its lines in colours", () => {
	const diff = `---
 src/a.ts | 2 +-
 2 files changed
`.slice(4);
	const files = `
diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,3 @@ function f() {
 kept
-old

+\tnew
\\ No newline at end of file
diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
`.slice(1);
	const lines = layout(diffBlocks(diff + files), 80, (tone, text) => `${tone ?? "plain"}: ${text}`);
	expect(lines).toEqual([
		"muted: src/a.ts | 2 +-",
		"muted: 2 files changed",
		"",
		"strong: src/a.ts  +1 −1",
		"accent: @@ -1,3 +1,3 @@ function f() {",
		"muted:  kept",
		"bad: -old",
		"",
		expect.stringMatching(/^good: \+ +new$/),
		"muted: \\ No newline at end of file",
		"",
		"strong: old.txt → new.txt  +0 −0",
		"",
		"strong: logo.png  +0 −0",
		"plain: Binary files a/logo.png and b/logo.png differ",
		"",
		"strong: gone.txt (deleted)  +0 −1",
		"accent: @@ -1 +0,0 @@",
		"bad: -bye",
	]);
	expect(diffBlocks("")).toEqual([{ text: "No changes." }]);
});
