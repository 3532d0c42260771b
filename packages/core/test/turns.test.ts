import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Turns } from "../src/session/turns.ts";

test("who comes alone goes at once; of those who come together, one goes in each turn of the event loop", async () => {
	const turns = new Turns();
	const gone: number[] = [];
	const go = async (who: number) => {
		await turns.take();
		gone.push(who);
	};
	expect(turns.take()).toBeUndefined();
	for (const who of [1, 2, 3]) void go(who);
	for (const expected of [[1], [1, 2], [1, 2, 3]]) {
		await nextTurn();
		expect(gone).toEqual(expected);
	}
	await nextTurn();
	expect(turns.take()).toBeUndefined();
});
