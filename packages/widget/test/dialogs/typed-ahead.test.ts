/** Keys between two dialogs: kept as text, dropped, or passed on. */
import { expect, test } from "vitest";
import { TypedAhead } from "../../src/dialogs/typed-ahead.ts";

const [ENTER, ESCAPE, UP] = ["\r", "\u001b", "\u001b[A"];

/** pi's side: what is not consumed reaches the editor. */
function world() {
	let hear: ((data: string) => object | undefined) | undefined;
	let now = 1_000;
	let closedAt: number | undefined = 0;
	const editor: string[] = [];
	const ahead = new TypedAhead({
		listen: (listener) => {
			hear = listener;
			return () => {
				hear = undefined;
			};
		},
		closedAt: () => closedAt,
		now: () => now,
	});
	const over = Promise.withResolvers<void>();
	return {
		ahead,
		editor,
		isHeard: () => hear !== undefined,
		begin: () => ahead.during(() => over.promise),
		end: over.resolve,
		type(...keys: string[]) {
			for (const key of keys) if (!hear?.(key)) editor.push(key);
		},
		open() {
			closedAt = undefined;
			return ahead.take();
		},
		/** One that does not ask for what was typed. */
		openAnother() {
			closedAt = undefined;
		},
		close() {
			closedAt = now;
		},
		pass(ms: number) {
			now += ms;
		},
	};
}

test("text typed between two dialogs is for the next one; an Enter is dropped, and so is all that follows it", () => {
	const it = world();
	void it.begin();
	it.type("x"); // before the first one
	expect(it.open()).toBe("x");
	it.type("dialog"); // its own keys
	it.close();
	it.type("a", "é", "\u001b[98u", "\u001b[200~c\nd\u001b[201~", "\u001b[99;1:3u", ENTER, "e", ENTER);
	expect(it.open()).toBe("aébc d");
	it.close();
	expect(it.open()).toBe("");
	it.close();
	it.type(UP, ESCAPE, "f");
	expect(it.open()).toBe("");
	expect(it.editor).toEqual(["dialog"]);
});

test("what was typed before another dialog is not kept for the next", () => {
	const it = world();
	void it.begin();
	it.type("b");
	it.openAnother();
	it.type("its own");
	it.close();
	expect(it.open()).toBe("");
});

test("Ctrl+C and answers of the terminal pass, and after a while everything does", () => {
	const it = world();
	void it.begin();
	it.type("\u0003", "\u001b[6;18;9t", ENTER);
	expect(it.editor).toEqual(["\u0003", "\u001b[6;18;9t"]);
	it.pass(5_001);
	it.type("a", ENTER);
	expect(it.editor.slice(2)).toEqual(["a", ENTER]);
});

test("it listens from the first dialog of a menu to the last, and menus within menus change nothing", async () => {
	const it = world();
	const whole = it.begin();
	await it.ahead.during(async () => undefined);
	expect(it.isHeard()).toBe(true);
	it.end();
	await whole;
	expect(it.isHeard()).toBe(false);
	await expect(it.ahead.during(() => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
	expect(it.isHeard()).toBe(false);
});
