import { handClock } from "@pi-subagents/core/testing";
import { expect, test } from "vitest";
import { SharedConnection } from "../../src/link/shared-connection.ts";

/** A connection that the test ends, for a run that is always followed. */
function shared() {
	const clock = handClock();
	let current: object | undefined;
	let made = 0;
	const connection = new SharedConnection({
		clock,
		report: () => undefined,
		idleMs: 1_000,
		current: () => current,
		connect: async () => {
			made++;
			current = {};
			return current;
		},
		close: () => undefined,
		isFollowed: () => true,
	});
	const ends = () => {
		current = undefined;
		connection.connectLater();
	};
	/** How long it takes until there is a connection again. */
	const waits = async () => {
		for (let passed = 0, before = made; ; passed += 50) {
			clock.advance(passed === 0 ? 0 : 50);
			await new Promise(setImmediate);
			if (made > before) return passed;
		}
	};
	return { clock, ends, waits };
}

test("a machine that ends every connection soon is connected to later and later", async () => {
	const { clock, ends, waits } = shared();
	const delays: number[] = [];
	for (let count = 0; count < 8; count++) {
		ends();
		delays.push(await waits());
	}
	expect(delays).toEqual([0, 0, 250, 1_000, 2_000, 5_000, 10_000, 10_000]);
	clock.advance(10_000); // this one lives
	ends();
	expect(await waits()).toBe(0);
});

test("who else wants the connection meanwhile does not shorten the pause", async () => {
	const { ends, waits } = shared();
	for (let count = 0; count < 4; count++) {
		ends();
		await waits();
	}
	ends();
	ends();
	expect(await waits()).toBe(2_000);
});
