import { expect, test } from "vitest";
import { coalesce, oncePerTurn } from "../src/coalesce.ts";

/** Work that is done when the test says so, and remembers when it was begun. */
function held() {
	const begun: { args: string; end(result: string): void; fail(error: Error): void }[] = [];
	const work = (args: string) =>
		new Promise<string>((resolve, reject) => begun.push({ args, end: resolve, fail: reject }));
	return { begun, work };
}

const turn = () => new Promise(setImmediate);

test("those who ask while the work is being done share the next time, and get what is newer than their question", async () => {
	const { begun, work } = held();
	const ask = coalesce(work);
	const answers = [ask("first"), ask("second"), ask("third")];
	expect(begun).toHaveLength(1);
	begun[0]?.end("old");
	await turn();
	expect(begun).toHaveLength(2);
	begun[1]?.end("new");
	expect(await Promise.all(answers)).toEqual(["old", "new", "new"]);
});

test("who asks when nothing is being done starts it at once", async () => {
	const { begun, work } = held();
	const ask = coalesce(work);
	for (const result of ["one", "two"]) {
		const answer = ask(result);
		begun.at(-1)?.end(result);
		expect(await answer).toBe(result);
		await turn();
	}
	expect(begun).toHaveLength(2);
});

test("who asks while a shared time is being done waits for one more", async () => {
	const { begun, work } = held();
	const ask = coalesce(work);
	const [first, second] = [ask("a"), ask("b")];
	begun[0]?.end("1");
	await turn();
	const third = ask("c");
	begun[1]?.end("2");
	await turn();
	begun[2]?.end("3");
	expect(await Promise.all([first, second, third])).toEqual(["1", "2", "3"]);
});

test("a failure is only for those who shared it", async () => {
	const { begun, work } = held();
	const ask = coalesce(work);
	const first = ask("a").catch(String);
	const second = ask("b");
	begun[0]?.fail(new Error("no"));
	await turn();
	begun[1]?.end("yes");
	expect([await first, await second]).toEqual(["Error: no", "yes"]);
});

test("other keys do not wait", () => {
	const { begun, work } = held();
	const ask = coalesce(work, (key) => key);
	void ask("a");
	void ask("b");
	expect(begun.map(({ args }) => args)).toEqual(["a", "b"]);
});

test("what is read once per turn is shared in it, for each key, and read again in the next", async () => {
	const read: string[] = [];
	const ask = oncePerTurn(
		(key: string) => `${key}${read.push(key)}`,
		(key) => key,
	);
	expect([ask("a"), ask("b"), ask("a")]).toEqual(["a1", "b2", "a1"]);
	await Promise.resolve();
	expect(ask("b")).toBe("b2");
	await turn();
	expect([ask("a"), ask("a")]).toEqual(["a3", "a3"]);
});

test("a failure is not remembered", () => {
	let times = 0;
	const ask = oncePerTurn(
		() => {
			if (++times === 1) throw new Error("no");
			return "yes";
		},
		() => "",
	);
	expect(ask).toThrow("no");
	expect(ask()).toBe("yes");
});
