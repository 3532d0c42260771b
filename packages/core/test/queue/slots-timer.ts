/** Slots on time that moves by hand, which write down what they grant. */

import type { SlotLimits } from "../../src/queue/limits.ts";
import { RateGate } from "../../src/queue/rate-gate.ts";
import { type SlotRequest, Slots } from "../../src/queue/slots.ts";
import { type HandClock, handClock } from "../../src/testing/index.ts";

export interface Bench {
	slots: Slots;
	gate: RateGate;
	timer: HandClock;
	/** Everything that was granted, also as the answer to its own request. */
	granted: string[];
	ask: (id: string, options?: Partial<SlotRequest>) => ReturnType<Slots["request"]>;
}

export function bench(
	limits: Partial<SlotLimits>,
	{ random = () => 0.5, onGrant }: { random?: () => number; onGrant?: (id: string, slots: Slots) => void } = {},
): Bench {
	const timer = handClock();
	const gate = new RateGate({ clock: timer, random });
	const granted: string[] = [];
	const slots: Slots = new Slots({
		limits: { whenFull: "queue", ...limits },
		gate,
		onGrant: (id) => {
			granted.push(id);
			onGrant?.(id, slots);
		},
	});
	const ask = (id: string, options: Partial<SlotRequest> = {}) => {
		const provider = options.model?.split("/")[0] ?? "a";
		const answer = slots.request({ id, provider, model: "a/one", isForeground: false, ...options });
		if (answer === "granted") granted.push(id);
		return answer;
	};
	return { slots, gate, timer, granted, ask };
}
