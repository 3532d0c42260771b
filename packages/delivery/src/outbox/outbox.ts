/**
 * The outbox: which results a session gets, when, and joined with which others. Each is delivered exactly once, unless
 * a reader claims it first. A pure transition: it has no clock and sends nothing, it returns what to do.
 *
 * Nothing is sent while the session is busy. A message in the session's own queue can neither be claimed nor joined, and
 * pi drops it when the user interrupts; so everything waits here, and an idle session gets it as one message.
 */
import { plan } from "./plan.ts";
import { finish, take, withoutActions } from "./take.ts";
import type {
	Delivery,
	Launch,
	Notify,
	OutboxAction,
	OutboxInput,
	OutboxSettings,
	OutboxState,
	OutboxStep,
	SendItem,
	Waiting,
} from "./types.ts";

const defaultOutboxSettings: OutboxSettings = {
	join: "smart",
	notify: "turn",
	holdMs: 200,
	joinMs: 30_000,
	stragglerMs: 15_000,
	groupMs: 600_000,
	pauseMs: 1_000,
	maxBytes: 8_192,
	lineBytes: 120,
};

/** An empty outbox. It takes the session for busy until an input says otherwise. */
export function newOutbox(settings: Partial<OutboxSettings> = {}): OutboxState {
	return {
		settings: { ...defaultOutboxSettings, ...settings },
		session: "busy",
		branch: [],
		running: [],
		waiting: [],
		sent: [],
		expected: [],
		done: [],
		pausedUntil: null,
		drainBy: null,
		wakeAt: null,
	};
}

/**
 * Takes an input in and returns the next state with the actions to perform. Total: an input that does not fit, or comes
 * twice, changes nothing.
 *
 * @example
 * ```ts
 * const { state, actions } = step(newOutbox(), { type: "session", state: "idle", at: Date.now() });
 * ```
 */
export function step(state: OutboxState, input: OutboxInput): OutboxStep {
	const taken = take(state, input);
	const flushed = flush(taken.state, input.at);
	const rested = rest(flushed.state, input.at);
	return { state: rested.state, actions: [...taken.actions, ...flushed.actions, ...rested.actions] };
}

/** Sends what is due: first what starts no turn, so that the turn which follows finds it there. */
function flush(state: OutboxState, at: number): OutboxStep {
	const { due, missing } = plan(state, at);
	const silenced = due.filter((waiting) => notifyModeOf(waiting, state) === "off");
	const batches = (["message", "turn"] as const).map((mode) => ({
		startsTurn: mode === "turn",
		batch: due.filter((waiting) => notifyModeOf(waiting, state) === mode),
	}));
	let next = finish(
		state,
		silenced.map(({ delivery }) => delivery.id),
	);
	const actions: OutboxAction[] = silenced.map(({ delivery: { id } }) => ({ type: "close", id, reason: "silenced" }));
	for (const { startsTurn, batch } of batches) {
		if (batch.length === 0) continue;
		const deliveries = batch.map(({ delivery }) => delivery);
		// A drain continues with a turn, which some results never start: those wait until the session is opened again.
		if (missing && deliveries.every(neverStartsTurn)) {
			next = { ...next, pausedUntil: at + state.settings.pauseMs };
			continue;
		}
		next = markSent(next, batch, at);
		actions.push({ type: "send", items: fit(deliveries, state.settings), startsTurn });
	}
	if (missing === undefined) return { state: next, actions };
	return { state: { ...next, drainBy: null }, actions: [...actions, { type: "drained", missing }] };
}

/**
 * How several results share one message of bounded size. All in full when they fit. Otherwise each gets a line, and as many as there is room for get their full text; when even
 * the lines are too many, the rest is only counted. Failures come first in line for room; the order stays that of
 * settling. A result that comes alone is always in full: its text is already capped.
 */
function fit(
	deliveries: readonly Delivery[],
	{ maxBytes, lineBytes }: Pick<OutboxSettings, "maxBytes" | "lineBytes">,
): SendItem[] {
	const total = deliveries.reduce((sum, { bytes }) => sum + bytes, 0);
	if (deliveries.length === 1 || total <= maxBytes) return deliveries.map(({ id }) => ({ id, form: "full" }));
	const lines = Math.floor(maxBytes / lineBytes);
	const forms = new Map<string, SendItem["form"]>();
	let room = maxBytes - deliveries.length * lineBytes;
	let linesLeft = deliveries.length <= lines ? lines : lines - 1; // the last one says how many more there are
	for (const { id, bytes } of deliveries.toSorted((a, b) => Number(b.isFailure) - Number(a.isFailure))) {
		const isFull = bytes - lineBytes <= room;
		if (isFull) room -= bytes - lineBytes;
		forms.set(id, isFull ? "full" : linesLeft > 0 ? "line" : "count");
		linesLeft--;
	}
	return deliveries.map(({ id }) => ({ id, form: forms.get(id) ?? "count" }));
}

function notifyModeOf({ delivery }: Waiting, { settings }: OutboxState): Notify {
	if (delivery.kind === "background") return "message";
	const isQuiet = delivery.isQuiet || neverStartsTurn(delivery);
	return settings.notify === "turn" && isQuiet ? "message" : settings.notify;
}

function neverStartsTurn({ kind, isForUser }: Launch): boolean {
	return kind === "background" || isForUser === true;
}

function markSent(state: OutboxState, batch: readonly Waiting[], at: number): OutboxState {
	const ids = new Set(batch.map(({ delivery }) => delivery.id));
	const groups = new Set(batch.flatMap(({ delivery: { kind, group } }) => (kind === "agent" && group) || []));
	const leaveBehind = <T extends { isStraggler: boolean }>(one: T, { group }: Launch): T =>
		group !== undefined && groups.has(group) ? { ...one, isStraggler: true } : one;
	return {
		...state,
		running: state.running.map((running) => leaveBehind(running, running.launch)),
		waiting: state.waiting
			.filter(({ delivery }) => !ids.has(delivery.id))
			.map((waiting) => leaveBehind(waiting, waiting.delivery)),
		sent: [...state.sent, ...batch.map((waiting) => ({ ...waiting, wasBusy: false }))],
		pausedUntil: at + state.settings.pauseMs,
	};
}

/** Keeps one timer: set again when the time changes, cancelled when nothing waits. */
function rest(state: OutboxState, at: number): OutboxStep {
	const { wakeAt } = plan(state, at);
	if (wakeAt === state.wakeAt) return withoutActions(state);
	return { state: { ...state, wakeAt }, actions: [wakeAt === null ? { type: "sleep" } : { type: "wake", at: wakeAt }] };
}
