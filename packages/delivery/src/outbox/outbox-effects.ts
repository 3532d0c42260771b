/** Runs the outbox: feeds it, keeps its one timer, and performs its actions in their order. */
import { type Clock, steadyClock } from "@pi-subagents/core";
import { newOutbox, step as stepOutbox } from "./outbox.ts";
import { readyCount } from "./plan.ts";
import type { OutboxAction, OutboxInput, SendItem } from "./types.ts";

/** How its actions are performed. None of these may throw. */
export interface OutboxEffects {
	send(items: readonly SendItem[], startsTurn: boolean): void;
	/** Keeps for a restart that it is never to be sent. `callId`: of the tool call whose result holds it. */
	close(id: string, callId?: string): void;
	/** Draining is over; these had not settled. */
	drained(missing: readonly string[]): void;
}

type Untimed<T> = T extends unknown ? Omit<T, "at"> : never;

export class Outbox {
	readonly #effects: OutboxEffects;
	readonly #clock: Clock;
	readonly #inputs: Untimed<OutboxInput>[] = [];
	#state = newOutbox();
	#isBusy = false;
	#cancelTick = (): void => undefined;

	constructor(effects: OutboxEffects, clock: Clock) {
		this.#effects = effects;
		this.#clock = steadyClock(clock);
	}

	/** Input that an action causes, like a message that pi reports at once, is taken in after that action. */
	dispatch(input: Untimed<OutboxInput>): void {
		this.#inputs.push(input);
		if (this.#isBusy) return;
		this.#isBusy = true;
		try {
			for (let next = this.#inputs.shift(); next; next = this.#inputs.shift()) this.#take(next);
		} finally {
			this.#isBusy = false;
		}
	}

	/** How many results wait for the session. */
	get ready(): number {
		return readyCount(this.#state);
	}

	/** Nothing is sent any more, and no timer is left behind. */
	close(): void {
		this.dispatch({ type: "session", state: "busy" });
	}

	#take(input: Untimed<OutboxInput>): void {
		const { state, actions } = stepOutbox(this.#state, { ...input, at: this.#clock.now() } as OutboxInput);
		this.#state = state;
		for (const action of actions) this.#perform(action);
	}

	#perform(action: OutboxAction): void {
		const effects = this.#effects;
		switch (action.type) {
			case "store": // the journal wrote the end before the outbox got it
				break;
			case "send":
				effects.send(action.items, action.startsTurn);
				break;
			case "close":
				effects.close(action.id, action.callId);
				break;
			case "drained":
				effects.drained(action.missing);
				break;
			case "wake":
				this.#cancelTick();
				this.#cancelTick = this.#clock.after(Math.max(0, action.at - this.#clock.now()), () =>
					this.dispatch({ type: "tick" }),
				);
				break;
			case "sleep":
				this.#cancelTick();
				break;
			case "refuse": // the claimer has the result anyway; it will merely be delivered again
				break;
			default:
				action satisfies never;
		}
	}
}
