import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { StartupBatcher } from "../../src/session/startup-batcher.ts";

test("a few go at once; of many who come together, as many go in each turn of the event loop, in their order", async () => {
	const turns = new StartupBatcher();
	const gone: number[] = [];
	const everybody = Array.from({ length: 20 }, (_, who) => who);
	for (const who of everybody) void Promise.resolve(turns.take()).then(() => gone.push(who));
	const seen: number[] = [];
	for (let turn = 0; turn < 3; turn++, await nextTurn()) {
		await Promise.resolve(); // those who need not wait go with the next tick
		seen.push(gone.length);
	}
	expect(seen).toEqual([8, 16, 20]);
	expect(gone).toEqual(everybody);
	await nextTurn();
	expect(turns.take()).toBeUndefined();
});
