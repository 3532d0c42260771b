/** Runs the outbox: feeds it, keeps its one timer, and performs what it says, in its order. */
import {
	type Clock,
	type Delivery,
	newOutbox,
	type OutboxAction,
	type OutboxInput,
	type SendItem,
	steadyClock,
	stepOutbox,
} from "@pi-subagents/core";

/** How its words become deeds. None of these may throw. */
export interface Courier {
	/** Keeps it where a restart finds it. */
	store(delivery: Delivery): void;
	send(items: readonly SendItem[], startsTurn: boolean): void;
	/** Keeps for a restart that it is never to be sent. */
	close(id: string): void;
	/** Draining is over; these had not settled. */
	drained(missing: readonly string[]): void;
}

type Untimed<T> = T extends unknown ? Omit<T, "at"> : never;

export class Outbox {
	readonly #courier: Courier;
	readonly #clock: Clock;
	readonly #inputs: Untimed<OutboxInput>[] = [];
	#state = newOutbox();
	#isBusy = false;
	#cancelTick = (): void => undefined;

	constructor(courier: Courier, clock: Clock) {
		this.#courier = courier;
		this.#clock = steadyClock(clock);
	}

	/** What a deed brings about, like a message that pi reports at once, is taken in after it. */
	tell(input: Untimed<OutboxInput>): void {
		this.#inputs.push(input);
		if (this.#isBusy) return;
		this.#isBusy = true;
		try {
			for (let next = this.#inputs.shift(); next; next = this.#inputs.shift()) this.#take(next);
		} finally {
			this.#isBusy = false;
		}
	}

	/** Nothing is sent any more, and no timer is left behind. */
	close(): void {
		this.tell({ type: "session", state: "busy" });
	}

	#take(input: Untimed<OutboxInput>): void {
		const { state, actions } = stepOutbox(this.#state, { ...input, at: this.#clock.now() } as OutboxInput);
		this.#state = state;
		for (const action of actions) this.#perform(action);
	}

	#perform(action: OutboxAction): void {
		const courier = this.#courier;
		switch (action.type) {
			case "store":
				courier.store(action.delivery);
				break;
			case "send":
				courier.send(action.items, action.startsTurn);
				break;
			case "close":
				courier.close(action.id);
				break;
			case "drained":
				courier.drained(action.missing);
				break;
			case "wake":
				this.#cancelTick();
				this.#cancelTick = this.#clock.after(Math.max(0, action.at - this.#clock.now()), () =>
					this.tell({ type: "tick" }),
				);
				break;
			case "sleep":
				this.#cancelTick();
				break;
			case "refuse": // whoever claimed it has the result anyway; it will merely be told again
				break;
			default:
				action satisfies never;
		}
	}
}
