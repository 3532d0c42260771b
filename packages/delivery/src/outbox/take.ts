/**
 * What each input changes in the outbox by itself, before anything is sent.
 * An input that does not fit, or comes twice, changes nothing.
 */
import type { Launch, OutboxInput, OutboxState, OutboxStep, Waiting } from "./types.ts";

export function take(state: OutboxState, input: OutboxInput): OutboxStep {
	switch (input.type) {
		case "launched":
			return withoutActions(launch(state, input.launch));
		case "settled":
			return settle(state, input);
		case "released":
			return withoutActions({
				...state,
				waiting: state.waiting.map((waiting) =>
					waiting.delivery.id === input.id ? { ...waiting, readyAt: input.at } : waiting,
				),
			});
		case "claimed":
			return claim(state, input.id);
		case "session": // the pause waited for a turn to begin
			return withoutActions({
				...state,
				session: input.state,
				pausedUntil: input.state === "busy" ? null : state.pausedUntil,
			});
		case "branch":
			return withoutActions({ ...state, branch: [...input.holds] });
		case "tick": // even if it comes too early: the timer is used up, and the next one must be requested
			return withoutActions({ ...state, wakeAt: null });
		case "delivered":
			return withoutActions(finish(state, input.ids));
		case "unsent":
			return withoutActions(takeBack(state, input));
		case "restored":
			return withoutActions(restore(state, input));
		case "drain":
			return withoutActions({ ...state, drainBy: input.deadline });
		case "settings":
			return withoutActions({ ...state, settings: { ...state.settings, ...input.change } });
		default:
			input satisfies never;
			return withoutActions(state);
	}
}

function launch(state: OutboxState, launch: Launch): OutboxState {
	if (hasSettled(state, launch.id) || isRunning(state, launch.id)) return state;
	const { launchEntry } = launch;
	const isNew = launchEntry !== undefined && !state.branch.includes(launchEntry);
	return {
		...state,
		running: [...state.running, { launch, isStraggler: false }],
		branch: isNew ? [...state.branch, launchEntry] : state.branch,
	};
}

function settle(state: OutboxState, input: OutboxInput & { type: "settled" }): OutboxStep {
	const { delivery, at } = input;
	if (hasSettled(state, delivery.id)) return withoutActions(state);
	const known = state.running.find(({ launch }) => launch.id === delivery.id);
	const waiting: Waiting = {
		delivery,
		settledAt: at,
		readyAt: input.canBeClaimed ? at + state.settings.holdMs : at,
		isStraggler: known?.isStraggler ?? false,
	};
	return {
		state: {
			...state,
			running: known ? state.running.filter((other) => other !== known) : state.running,
			waiting: [...state.waiting, waiting],
		},
		actions: [{ type: "store", delivery }],
	};
}

/** Also while the run is running: then its result is not delivered, and its siblings do not wait for it. */
function claim(state: OutboxState, id: string): OutboxStep {
	if (!isRunning(state, id) && !isWaiting(state, id)) return { state, actions: [{ type: "refuse", id }] };
	return { state: finish(state, [id]), actions: [{ type: "close", id, reason: "claimed" }] };
}

/** The pause keeps a send that always fails from looping. */
function takeBack(state: OutboxState, { ids, at }: OutboxInput & { type: "unsent" }): OutboxState {
	const back = state.sent.filter(({ delivery }) => ids.includes(delivery.id));
	if (back.length === 0) return state;
	return {
		...state,
		waiting: [...back, ...state.waiting],
		sent: state.sent.filter((sent) => !back.includes(sent)),
		pausedUntil: at + state.settings.pauseMs,
	};
}

/** What the session does not hold is still to be delivered, even if it was sent before: that message got lost. */
function restore(state: OutboxState, input: OutboxInput & { type: "restored" }): OutboxState {
	const known = finish({ ...state, waiting: [...state.sent, ...state.waiting], sent: [] }, input.held);
	const done = new Set(known.done);
	const lost = new Map(
		[...known.waiting.map(({ delivery }) => delivery), ...input.stored]
			.filter(({ id }) => !done.has(id))
			.map((delivery) => [delivery.id, delivery]),
	);
	const opened: OutboxState = {
		...known,
		session: "busy",
		running: known.running.filter(({ launch }) => !lost.has(launch.id)),
		waiting: [...lost.values()].map((delivery) => ({
			delivery: { ...delivery, isQuiet: true },
			settledAt: input.at,
			readyAt: input.at,
			isStraggler: false,
		})),
		pausedUntil: null,
		drainBy: null,
	};
	return { ...input.running.reduce(launch, opened), branch: [] };
}

/** These are over, whatever they were before. */
export function finish(state: OutboxState, ids: readonly string[]): OutboxState {
	if (ids.length === 0) return state;
	const over = new Set(ids);
	const isOpen = ({ delivery }: Waiting) => !over.has(delivery.id);
	return {
		...state,
		running: state.running.filter(({ launch }) => !over.has(launch.id)),
		waiting: state.waiting.filter(isOpen),
		sent: state.sent.filter(isOpen),
		done: [...state.done.filter((id) => !over.has(id)), ...over],
	};
}

export function withoutActions(state: OutboxState): OutboxStep {
	return { state, actions: [] };
}

function isRunning(state: OutboxState, id: string): boolean {
	return state.running.some(({ launch }) => launch.id === id);
}

function isWaiting(state: OutboxState, id: string): boolean {
	return state.waiting.some(({ delivery }) => delivery.id === id);
}

function hasSettled(state: OutboxState, id: string): boolean {
	return isWaiting(state, id) || state.sent.some(({ delivery }) => delivery.id === id) || state.done.includes(id);
}
