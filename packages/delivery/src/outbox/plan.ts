/**
 * When deliveries are due: the hold, the joining of siblings, the branch, the pause between batches, the drain.
 * Decides, but changes nothing.
 */
import type { OutboxSettings, OutboxState, Waiting } from "./types.ts";

export interface Plan {
	/** To be sent now. */
	due: readonly Waiting[];
	/** When to look again, if nothing else happens until then. */
	wakeAt: number | null;
	/** The agents that a drain stopped waiting for. Present when it is over. */
	missing?: string[];
}

/** What is due at `at`. As long as the session cannot take anything, this costs nothing: its next input will ask again. */
export function plan(state: OutboxState, at: number): Plan {
	if (state.drainBy !== null) return planDrain(state, state.drainBy, at);
	if (state.session !== "idle" || state.waiting.length === 0) return { due: [], wakeAt: null };
	const timed = timesOf(state, onThisBranch(state));
	const openAt = state.pausedUntil ?? at;
	if (at < openAt) return { due: [], wakeAt: earliest(timed, openAt) };
	return {
		due: timed.filter(({ dueAt }) => dueAt <= at).map(({ waiting }) => waiting),
		wakeAt: earliest(
			timed.filter(({ dueAt }) => dueAt > at),
			openAt,
		),
	};
}

/** Everything at once, when the last agent has settled or the deadline has come. A dialog still comes first. */
function planDrain(state: OutboxState, deadline: number, at: number): Plan {
	const missing = state.running.filter(({ launch }) => launch.kind === "agent").map(({ launch }) => launch.id);
	const isOpen = state.session !== "waiting_for_user";
	const here = onThisBranch(state);
	const completeAt = missing.length > 0 || !isOpen ? Number.POSITIVE_INFINITY : Math.max(at, lastReadyAt(here));
	const endsAt = Math.min(completeAt, deadline);
	return at < endsAt ? { due: [], wakeAt: endsAt } : { due: isOpen ? here : [], wakeAt: null, missing };
}

interface Timed {
	waiting: Waiting;
	dueAt: number;
}

function timesOf(state: OutboxState, here: readonly Waiting[]): Timed[] {
	const openGroups = new Set(state.running.flatMap(({ launch }) => groupOf(launch, state.settings) ?? []));
	const groups = Map.groupBy(here, ({ delivery }) => groupOf(delivery, state.settings));
	const groupTimes = new Map(
		[...groups].map(([group, members]) => [
			group,
			group === undefined ? 0 : groupDueAt(members, { isOpen: openGroups.has(group), settings: state.settings }),
		]),
	);
	return here.map((waiting) => ({
		waiting,
		dueAt: Math.max(waiting.readyAt, groupTimes.get(groupOf(waiting.delivery, state.settings)) ?? 0),
	}));
}

/** A background run starts no turn and interrupts nothing, so it need not wait for others. */
function groupOf(launch: { kind: string; group?: string }, { join }: OutboxSettings): string | undefined {
	return join === "async" || launch.kind === "background" ? undefined : launch.group;
}

/**
 * The first failure of a group does not wait, since it may change what the others are good for.
 * Later ones do, or a group in which all fail one by one would cost a turn for each.
 */
function groupDueAt(
	members: readonly Waiting[],
	{ isOpen, settings }: { isOpen: boolean; settings: OutboxSettings },
): number {
	const isStraggler = members.some((member) => member.isStraggler);
	const isEager = settings.join === "smart" && !isStraggler;
	const failures = isEager ? members.filter(({ delivery }) => delivery.isFailure) : [];
	const waitMs = settings.join === "group" ? settings.groupMs : isStraggler ? settings.stragglerMs : settings.joinMs;
	return Math.min(
		isOpen ? Number.POSITIVE_INFINITY : lastReadyAt(members),
		...failures.map(({ readyAt }) => readyAt),
		Math.min(...members.map(({ settledAt }) => settledAt)) + waitMs,
	);
}

/** How many results the session does not hold yet, though it could if it took messages. */
export function readyCount(state: OutboxState): number {
	return onThisBranch(state).length;
}

function onThisBranch({ waiting, branch }: OutboxState): readonly Waiting[] {
	const entries = new Set(branch);
	return waiting.filter(({ delivery: { launchEntry } }) => launchEntry === undefined || entries.has(launchEntry));
}

function lastReadyAt(waiting: readonly Waiting[]): number {
	return Math.max(...waiting.map(({ readyAt }) => readyAt));
}

function earliest(timed: readonly Timed[], openAt: number): number | null {
	return timed.length === 0 ? null : Math.max(openAt, Math.min(...timed.map(({ dueAt }) => dueAt)));
}
