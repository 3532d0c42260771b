/** A bus like pi's: what a listener throws stays with it. It counts its listeners, so that a test can see what is left. */
import type { Bus } from "../src/index.ts";

export interface TestBus extends Bus {
	on(channel: string, handler: (data: unknown) => void): () => void;
	/** How many listen, on all channels. */
	listeners(): number;
	readonly emitted: { channel: string; data: unknown }[];
	readonly thrown: unknown[];
}

export function testBus(): TestBus {
	const handlers = new Map<string, Set<(data: unknown) => void>>();
	const emitted: TestBus["emitted"] = [];
	const thrown: unknown[] = [];
	return {
		emitted,
		thrown,
		listeners: () => [...handlers.values()].reduce((sum, { size }) => sum + size, 0),
		on(channel, handler) {
			const own = (data: unknown) => handler(data);
			handlers.set(channel, (handlers.get(channel) ?? new Set()).add(own));
			return () => void handlers.get(channel)?.delete(own);
		},
		emit(channel, data) {
			emitted.push({ channel, data });
			for (const handler of [...(handlers.get(channel) ?? [])]) {
				try {
					handler(data);
				} catch (error) {
					thrown.push(error);
				}
			}
		},
	};
}

/** Everything that was begun and waits for nothing else has happened. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));
