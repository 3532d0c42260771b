/**
 * What each input changes in the outbox by itself, before anything is sent.
 * An input that does not fit, or comes twice, changes nothing.
 */
import type { Delivery, Launch, OutboxInput, OutboxState, OutboxStep, Waiting } from "./types.ts";

export function take(state: OutboxState, input: OutboxInput): OutboxStep {
	switch (input.type) {
		case "launched":
			return silenceStopped(launch(state, input.launch), input.launch);
		case "settled":
			return settle(state, input);
		case "expected":
			return withoutActions({ ...state, expected: [...state.expected, input.id] });
		case "released":
			return withoutActions(release(state, input));
		case "claimed":
			return claim(state, input);
		case "session":
			return withoutActions(enter(state, input));
		case "branch":
			return withoutActions({ ...state, branch: [...input.holds] });
		case "tick": // even if it comes too early: the timer is used up, and the next one must be requested
			return withoutActions({ ...state, wakeAt: null });
		case "delivered":
			return withoutActions(finish(state, input.ids));
		case "unsent":
			return withoutActions(takeBack(state, new Set(input.ids), input.at));
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

/** A run that was stopped, and whose agent is continued before that was delivered: no one has to be told any more. */
function silenceStopped(state: OutboxState, { agentId, run }: Launch): OutboxStep {
	const stopped = state.waiting
		.map(({ delivery }) => delivery)
		.filter((earlier) => earlier.agentId === agentId && earlier.run === run - 1 && earlier.isStopped)
		.map(({ id }) => id);
	return {
		state: finish(state, stopped),
		actions: stopped.map((id) => ({ type: "close", id, reason: "silenced" })),
	};
}

function settle(state: OutboxState, input: OutboxInput & { type: "settled" }): OutboxStep {
	const { at, canBeClaimed } = input;
	if (hasSettled(state, input.delivery.id)) return withoutActions(state);
	const known = state.running.find(({ launch }) => launch.id === input.delivery.id);
	const { bytes, isFailure, isStopped = false, isQuiet = false, ...launched } = input.delivery;
	const launch: Launch = known?.launch ?? launched;
	const delivery: Delivery = { ...launch, bytes, isFailure, isStopped, isQuiet: isQuiet || launch.isQuiet === true };
	const isHeld = canBeClaimed || state.expected.includes(delivery.id);
	const waiting: Waiting = {
		delivery,
		settledAt: at,
		readyAt: isHeld ? at + state.settings.holdMs : at,
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
function claim(state: OutboxState, { id, callId }: OutboxInput & { type: "claimed" }): OutboxStep {
	if (!isRunning(state, id) && !isWaiting(state, id)) return { state, actions: [{ type: "refuse", id }] };
	const reader = callId === undefined ? {} : { callId };
	return { state: finish(state, [id]), actions: [{ type: "close", id, reason: "claimed", ...reader }] };
}

function release(state: OutboxState, { id, at }: OutboxInput & { type: "released" }): OutboxState {
	const index = state.expected.indexOf(id);
	const expected = index < 0 ? state.expected : state.expected.toSpliced(index, 1);
	if (expected.includes(id)) return { ...state, expected };
	const waiting = state.waiting.map((each) => (each.delivery.id === id ? { ...each, readyAt: at } : each));
	return { ...state, expected, waiting };
}

/**
 * Another state of the session. The pause waited for a turn to begin. When that turn is over, and a message that was
 * sent before it is still not there, the message got lost.
 */
function enter(before: OutboxState, { state: session, at }: OutboxInput & { type: "session" }): OutboxState {
	const state = { ...before, session };
	if (session === "busy")
		return { ...state, pausedUntil: null, sent: state.sent.map((sent) => ({ ...sent, wasBusy: true })) };
	if (session !== "idle") return state;
	const lost = state.sent.filter(({ wasBusy }) => wasBusy).map(({ delivery }) => delivery.id);
	return takeBack(state, new Set(lost), at);
}

/** The pause keeps a send that always fails from looping. */
function takeBack(state: OutboxState, ids: ReadonlySet<string>, at: number): OutboxState {
	const back = state.sent.filter(({ delivery }) => ids.has(delivery.id));
	if (back.length === 0) return state;
	return {
		...state,
		waiting: [...back.map(({ wasBusy: _, ...waiting }) => waiting), ...state.waiting],
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
	const quiet = new Set(input.running.filter(({ isQuiet }) => isQuiet).map(({ id }) => id));
	const opened: OutboxState = {
		...known,
		session: "busy",
		running: known.running
			.filter(({ launch }) => !lost.has(launch.id))
			.map((each) => (quiet.has(each.launch.id) ? { ...each, launch: { ...each.launch, isQuiet: true } } : each)),
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
