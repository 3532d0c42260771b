/** How an order's log is read while the connection comes and goes. */
import { systemClock } from "@pi-subagents/core";
import { sampleSpec } from "@pi-subagents/core/testing";
import { expect, test } from "vitest";
import { buildOrder } from "../../src/link/order.ts";
import type { Near } from "../../src/nats/following.ts";
import { Placing } from "../../src/nats/placing.ts";

function nothingUntil(over: Promise<void>): AsyncIterableIterator<never> {
	const next = async () => {
		await over;
		return { done: true as const, value: undefined };
	};
	return { next, [Symbol.asyncIterator]: () => nothingUntil(over) };
}

/** An engine of which only the reading counts, whose answers the test gives. */
function slowEngine() {
	const answers: (() => void)[] = [];
	const open = new Set<object>();
	const reader = () => {
		const { promise, resolve } = Promise.withResolvers<void>();
		const messages = {
			stop: () => {
				open.delete(messages);
				resolve();
			},
			status: () => nothingUntil(promise),
			[Symbol.asyncIterator]: () => nothingUntil(promise),
		};
		open.add(messages);
		return messages;
	};
	const get = () =>
		new Promise((resolve) => answers.push(() => resolve({ consume: async () => reader() }))) as Promise<unknown>;
	const engine = {
		isUp: false,
		isClosed: false,
		names: { run: (key: string) => `run.${key}`, runs: "runs" },
		js: { consumers: { get } },
	};
	return { answers, open, engine };
}

test("a connection that comes back while the log is being opened leaves one reader, and the end none", async () => {
	const { answers, open, engine } = slowEngine();
	const workers = { poolsFor: () => [] };
	const near = { id: "n-test", engine, workers, clock: systemClock, leaseMs: 600_000 } as unknown as Near;
	const order = buildOrder({ ...sampleSpec, agentId: "a1", run: 1 }, { key: "k1", isTrusted: false, aliases: [] });
	const stop = new AbortController();
	const placing = new Placing(near, { order, labels: [], machine: "fleet", at: 0, signal: stop.signal });
	const placed = placing.place();
	placing.resend();
	expect(answers).toHaveLength(2);
	for (const answer of answers) answer();
	await expect.poll(() => open.size).toBe(1);
	placing.resend();
	answers[2]?.();
	await expect.poll(() => open.size).toBe(1);
	stop.abort(new Error("enough"));
	await expect(placed).rejects.toThrow("enough");
	expect(open.size).toBe(0);
});
