import { expect, test } from "vitest";
import { LiveText } from "../../src/conversation/live-text.ts";
import type { LivePiece } from "../../src/index.ts";
import { handClock } from "../../src/testing/index.ts";

function setUp() {
	const clock = handClock();
	const live = new LiveText(clock);
	const pieces: LivePiece[] = [];
	const update = (type: string, more: object = {}) =>
		live.hear({ type: "message_update", assistantMessageEvent: { type, contentIndex: 0, ...more } });
	return { clock, live, pieces, update, watch: () => live.watch((piece) => pieces.push(piece)) };
}

const textOf = (pieces: readonly LivePiece[]) => pieces.map(({ text }) => text).join("");

test("a growing block is sent at most four times a second, without a gap, and its end at once", () => {
	const { clock, pieces, update, watch, live } = setUp();
	watch();
	update("text_start");
	for (let word = 0; word < 200; word++) {
		update("text_delta", { delta: `${word} ` });
		clock.advance(5);
	}
	expect(pieces.length).toBeLessThanOrEqual(5);
	update("text_delta", { delta: "end" });
	live.hear({ type: "message_end" });
	const whole = `${Array.from({ length: 200 }, (_, word) => `${word} `).join("")}end`;
	expect(textOf(pieces)).toBe(whole);
	expect(pieces.map(({ offset }) => offset)).toEqual(pieces.map((_, at) => textOf(pieces.slice(0, at)).length));
	expect(pieces.filter(({ isFinal }) => isFinal)).toEqual([pieces.at(-1)]);
	expect(clock.waiting()).toBe(0);
});

test("blocks are told apart, each with one end, and what was not streamed comes with it", () => {
	const { pieces, update, watch, live } = setUp();
	watch();
	update("thinking_delta", { delta: "Hm." });
	update("text_start", { contentIndex: 1 });
	update("text_delta", { contentIndex: 1, delta: "Two" });
	update("thinking_end", { content: "Hm." }); // some providers end all of them together
	update("text_end", { contentIndex: 1, content: "Two doors." });
	update("text_start", { contentIndex: 2 });
	live.hear({ type: "message_end" });
	expect(pieces).toEqual([
		{ block: 0, kind: "thinking", offset: 0, text: "Hm." },
		{ block: 0, kind: "thinking", offset: 3, text: "", isFinal: true },
		{ block: 1, kind: "text", offset: 0, text: "Two doors.", isFinal: true },
		{ block: 2, kind: "text", offset: 0, text: "", isFinal: true },
	]);
});

test("who comes in the middle gets what follows, and who leaves nothing more", () => {
	const { clock, pieces, update, watch } = setUp();
	update("text_start");
	update("text_delta", { delta: "Two " });
	const stop = watch();
	update("text_delta", { delta: "doors" });
	update("text_end", { content: "Two doors" });
	expect(textOf(pieces)).toBe("doors");
	update("text_delta", { contentIndex: 1, delta: " and" });
	stop();
	clock.advance(1_000);
	update("text_delta", { contentIndex: 1, delta: " a half" });
	expect(textOf(pieces)).toBe("doors");
});

test("while no one watches, no event is read and no timer runs", () => {
	const { clock, live, watch } = setUp();
	const event = new Proxy({}, { get: () => expect.unreachable() });
	live.hear(event);
	watch()();
	live.hear(event);
	expect(clock.waiting()).toBe(0);
});

test("strange events say nothing", () => {
	const { pieces, update, watch, live } = setUp();
	watch();
	for (const strange of [undefined, null, 7, "text", [], { type: "message_update" }]) live.hear(strange);
	update("toolcall_delta", { delta: "{" });
	update("constructor_start");
	update("text_delta", { delta: 7, contentIndex: "x" });
	live.close();
	expect(textOf(pieces)).toBe("");
});
