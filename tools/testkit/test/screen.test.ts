/** What is on the screen after what was written. */
import { expect, test } from "vitest";
import { Screen } from "../src/drivers/screen.ts";

const BEGIN = "\x1b[?2026h";
const END = "\x1b[?2026l";

test("lines scroll away, and come without trailing blanks", async () => {
	const screen = new Screen({ cols: 10, rows: 2 });
	screen.write("one  \r\n\x1b[31mtwo\x1b[0m\r\nthree");
	expect(await screen.waitForText(/three$/)).toEqual(["two", "three"]);
	expect(screen.scrollback()).toBe("one\ntwo\nthree");
	expect(screen.raw).toContain("\x1b[31mtwo");
	screen.forget();
	expect([screen.raw, screen.lines()]).toEqual(["", ["two", "three"]]);
});

test("half a frame is not looked at", async () => {
	const screen = new Screen({ cols: 10, rows: 2 });
	const seen: string[] = [];
	const waiting = screen.waitFor((lines) => {
		seen.push(lines.join("|"));
		return lines.includes("whole");
	});
	screen.write(`${BEGIN}half`);
	screen.write(`\x1b[2K\rwhole${END}`);
	expect(await waiting).toEqual(["whole", ""]);
	expect(seen).toEqual(["|", "whole|"]);
});

test("after the end only what is there can be found", async () => {
	const screen = new Screen({ cols: 10, rows: 1 });
	const waiting = screen.waitForText("more");
	screen.write("last");
	screen.end("It is over");
	await expect(waiting).rejects.toThrow("It is over\nmore is not on the screen:\n┌──\n│last\n└──");
	await expect(screen.waitForText("last")).resolves.toEqual(["last"]);
});

test("titles are remembered", async () => {
	const screen = new Screen({ cols: 10, rows: 1 });
	screen.write("\x1b]0;a title\x07.");
	await screen.waitForText(".");
	expect(screen.titles).toEqual(["a title"]);
});
