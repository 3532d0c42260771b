/** Starts a provider's queued agents one by one after a pause, each at its turn at the rate gate. */

import type { ProviderShare } from "./queue.ts";
import type { RateGate } from "./rate-gate.ts";

export class FairStart {
	readonly #gate: RateGate;
	readonly #onTurn: (provider: ProviderShare) => void;
	readonly #booked = new Map<ProviderShare, () => void>();
	/** Each allows one start in the spread after the pause that ends then; void after a later pause. */
	readonly #passes = new Map<ProviderShare, number>();

	constructor(options: { gate: RateGate; onTurn: (provider: ProviderShare) => void }) {
		this.#gate = options.gate;
		this.#onTurn = options.onTurn;
	}

	/** Whether the gate lets one of this provider start now. */
	isOpen(provider: ProviderShare): boolean {
		const untilMs = this.#gate.pausedUntil(provider.name);
		return untilMs === undefined || this.#passes.get(provider) === untilMs;
	}

	/** An agent has started. */
	use(provider: ProviderShare): void {
		this.#passes.delete(provider);
	}

	/**
	 * Keeps a turn booked exactly while agents are queued and held back. Call it whenever either may have changed,
	 * with how many could start if the gate were open.
	 */
	tend(provider: ProviderShare, among: number): void {
		const booked = this.#booked.get(provider);
		if (provider.queued === 0 || this.isOpen(provider)) {
			this.#booked.delete(provider);
			booked?.();
		} else if (!booked) {
			this.#booked.set(
				provider,
				this.#gate.atTurn(provider.name, () => this.#begin(provider), { among }),
			);
		}
	}

	#begin(provider: ProviderShare): void {
		this.#booked.delete(provider);
		const untilMs = this.#gate.pausedUntil(provider.name);
		if (untilMs !== undefined) this.#passes.set(provider, untilMs);
		this.#onTurn(provider);
	}
}
