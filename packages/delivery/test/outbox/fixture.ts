/** A session by hand: feeds the outbox, keeps its one timer, and writes down what it wants done. */
import { newOutbox, step } from "../../src/outbox/outbox.ts";
import type {
	Delivery,
	Launch,
	OutboxAction,
	OutboxInput,
	OutboxSettings,
	OutboxState,
	SessionState,
} from "../../src/outbox/types.ts";

/** An input before the clock has stamped it. */
export type Told = OutboxInput extends infer Each ? (Each extends { at: number } ? Omit<Each, "at"> : never) : never;

export const entry = "entry-1";

export function launchOf(id: string, fields: Partial<Launch> = {}): Launch {
	return { id, agentId: id, run: 1, kind: "agent", launchEntry: entry, ...fields };
}

export function deliveryOf(id: string, fields: Partial<Delivery> = {}): Delivery {
	return { ...launchOf(id), bytes: 500, isFailure: false, isStopped: false, isQuiet: false, ...fields };
}

interface Message {
	at: number;
	ids: string[];
	startsTurn: boolean;
}

export function openDesk(settings: Partial<OutboxSettings> = {}) {
	let state: OutboxState = newOutbox(settings);
	let now = 0;
	const launches = new Map<string, Launch>();
	const inputs: OutboxInput[] = [];
	const actions: OutboxAction[] = [];
	const messages: Message[] = [];

	function tell(told: Told): OutboxAction[] {
		const input = { ...told, at: now } as OutboxInput;
		const next = step(state, input);
		inputs.push(input);
		state = JSON.parse(JSON.stringify(next.state)); // whatever does not survive this is not state
		actions.push(...next.actions);
		for (const action of next.actions) {
			if (action.type !== "send") continue;
			messages.push({ at: now, ids: action.items.map(({ id }) => id), startsTurn: action.startsTurn });
		}
		return next.actions;
	}

	return {
		tell,
		inputs,
		actions,
		messages,
		state: () => state,
		now: () => now,
		/** Who was told, message by message. */
		told: () => messages.map(({ ids }) => ids.join("+")),
		launch(ids: string, fields: Partial<Launch> = {}) {
			for (const id of ids.split(" ")) {
				launches.set(id, launchOf(id, fields));
				tell({ type: "launched", launch: launchOf(id, fields) });
			}
		},
		settle(id: string, fields: Partial<Delivery> & { canBeClaimed?: boolean } = {}) {
			const { canBeClaimed = false, ...rest } = fields;
			return tell({ type: "settled", delivery: deliveryOf(id, { ...launches.get(id), ...rest }), canBeClaimed });
		},
		claim: (id: string) => tell({ type: "claimed", id }),
		/** A turn that begins has the messages that were sent before it. */
		session(to: SessionState) {
			if (to === "busy") tell({ type: "delivered", ids: state.sent.map(({ delivery }) => delivery.id) });
			return tell({ type: "session", state: to });
		},
		onBranch: (...holds: string[]) => tell({ type: "branch", holds }),
		/** Lets time pass, ticking exactly when the outbox asked for it. */
		pass(ms: number) {
			const until = now + ms;
			while (state.wakeAt !== null && state.wakeAt <= until) {
				now = state.wakeAt;
				tell({ type: "tick" });
			}
			now = until;
		},
	};
}

/** A desk whose session is idle, on the branch of the launches. */
export function idleDesk(settings: Partial<OutboxSettings> = {}) {
	const desk = openDesk(settings);
	desk.onBranch(entry);
	desk.session("idle");
	return desk;
}
