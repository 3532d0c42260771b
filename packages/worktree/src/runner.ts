/** Gives another runner's runs their own checkout if their spec asks for one, and closes it when they settle. */
import { realpath } from "node:fs/promises";
import type { Limits, Run, RunIdentity, Runner, RunSpec, Stop } from "@pi-subagents/core";
import { abortedOutcome, type Report } from "@pi-subagents/core";
import { bestEffort, defined, ifMissing, messageOf, untilStopped } from "@pi-subagents/core/internal/base";
import { watchWhenStarted } from "@pi-subagents/core/internal/run";
import type { Outcome, WorktreeReport } from "@pi-subagents/progress";
import { recordsOf } from "./checkout-state.ts";
import { closeWorktree } from "./close.ts";
import { allowedAt, confinedSpec, originOf } from "./confine.ts";
import { type Git, gitWith } from "./git.ts";
import { openWorktree } from "./open.ts";
import type { Allows } from "./own-config.ts";
import { readWorktreeRecord, type WorktreeRecord } from "./worktree-record.ts";

export interface WorktreeRunnerOptions {
	/** Holds the records of all checkouts, and those that have no other place. */
	dir: string;
	/** The user's directory, so that a pasted command works there. */
	sessionCwd?: () => string | undefined;
	/** Awaited with the checkout of a run that ended by itself, before it is closed. A stop does not wait for it. */
	beforeClose?: (agentId: string, root: string) => unknown;
	/** Called with the final report of a stopped run's checkout, which the stop did not wait for. */
	onClosed?: (agentId: string, report: WorktreeReport) => void;
	/** Called with problems that do not fail the run. */
	report?: Report;
	/** Which of a repository's own settings git may use. Default: none. */
	allows?: Allows;
	/** Default: with this process's environment. */
	git?: Git;
}

/**
 * Runs without `isolation` go to the inner runner unchanged.
 *
 * @example
 * ```ts
 * const session = worktreeRunner(sessionRunner(host), { dir: join(agentDir, "state", "subagents", "worktrees") });
 * const manager = new Manager({ runners: { session }, clock: systemClock, newId });
 * ```
 */
export function worktreeRunner(inner: Runner, options: WorktreeRunnerOptions): Runner {
	const { attach } = inner;
	return {
		...(inner.keepsTime ? { keepsTime: inner.keepsTime } : {}),
		start: (spec, emit, checkpoint) =>
			spec.isolation
				? isolatedRun(spec, options, {
						open: (signal) => open(spec, options, signal),
						begin: (record) => inner.start(record ? confinedSpec(spec, record) : spec, emit, checkpoint),
					})
				: inner.start(spec, emit, checkpoint),
		...(attach
			? {
					attach: (spec, emit, checkpoint) =>
						spec.isolation
							? isolatedRun(spec, options, {
									isRejoined: true,
									open: async () => recordOf(spec, options),
									begin: (record) => attach(record ? spec : withoutCheckout(spec), emit, checkpoint),
								})
							: attach(spec, emit, checkpoint),
				}
			: {}),
	};
}

function open(
	spec: RunSpec & RunIdentity,
	options: WorktreeRunnerOptions,
	signal: AbortSignal,
): Promise<WorktreeRecord> {
	const { cwd, agentId: id, run, type, description, task, isolation, runner, artifacts, confinedTo } = spec;
	const { allows = () => [] } = options;
	return openWorktree({
		cwd,
		dir: options.dir,
		id,
		run,
		base: isolation?.base ?? "head",
		setup: isolation?.setup,
		about: { type, description, task },
		sessionCwd: options.sessionCwd?.(),
		runDir: runner === "session" ? undefined : artifacts,
		allows: (main) => allowedAt(main, confinedTo, allows),
		originOf: (main) => originOf({ cwd: main, confinedTo }),
		signal,
		...defined({ git: options.git }),
	});
}

/**
 * The record of a run that is rejoined. Its files name its checkout, which is removed in the end, so the name alone does
 * not count: the record must be among ours, and of this agent.
 */
async function recordOf(
	{ agentId, confinedTo }: RunSpec & RunIdentity,
	{ dir }: WorktreeRunnerOptions,
): Promise<WorktreeRecord | undefined> {
	if (!confinedTo) return undefined;
	const ours = await realpath(dir).catch(ifMissing(undefined));
	const record = recordsOf(confinedTo) === ours ? await readWorktreeRecord(confinedTo) : undefined;
	return record?.agentId === agentId ? record : undefined;
}

/** Nothing of ours is known about it, so nothing is closed. */
function withoutCheckout<Spec extends RunSpec>({ isolation: _isolation, confinedTo: _root, ...spec }: Spec) {
	return spec;
}

interface Steps {
	/** Rejects if there can be no checkout, and when the signal fires. */
	open(signal: AbortSignal): Promise<WorktreeRecord | undefined>;
	begin(record: WorktreeRecord | undefined): Run;
	/** Its child runs already: a stop must reach it. */
	isRejoined?: boolean;
}

/** A run that is prepared before its child starts: messages meanwhile are delivered then. */
function isolatedRun(spec: RunSpec & RunIdentity, options: WorktreeRunnerOptions, steps: Steps): Run {
	const { report, onClosed, git = gitWith() } = options;
	const stopping = new AbortController();
	const early: ((run: Run) => void)[] = [];
	let child: Run | undefined;
	let record: WorktreeRecord | undefined;
	let stop: Stop | undefined;
	let granted: Limits | undefined;
	const whenStarted = (say: (run: Run) => void) => {
		if (child) say(child);
		else early.push(say);
	};

	const begin = async (): Promise<void> => {
		record = await steps.open(stopping.signal);
		if (stop && !steps.isRejoined) return;
		child = steps.begin(record);
		if (stop) child.abort(stop);
		if (granted) child.granted = granted;
		for (const say of early.splice(0)) say(child);
	};
	const begun = begin().catch((error): Outcome => ({ status: "failed", error: messageOf(error) }));
	const live = async (): Promise<Outcome> => {
		const failure = await begun;
		const outcome = await (child?.settled ?? (stop ? abortedOutcome(stop, undefined) : (failure as Outcome)));
		if (!record) return outcome;
		if (child && !stop) await untilStopped(inspected(spec.agentId, record.root, options), stopping.signal);
		// Its own word about that does not count. One that was closed already says the same again.
		const worktree = await closeWorktree(record, { git, ...defined({ report }) });
		if (stop) onClosed?.(spec.agentId, worktree);
		return { ...outcome, worktree };
	};

	return {
		settled: live(),
		abort(given) {
			stop ??= given;
			stopping.abort();
			child?.abort(given);
		},
		hurry: () => child?.hurry?.(),
		steer: (message) => whenStarted((run) => run.steer(message)),
		wrapUp: (reason, by) => whenStarted((run) => run.wrapUp(reason, by)),
		watch: (listener) => watchWhenStarted(whenStarted, listener),
		get granted() {
			return child ? child.granted : granted;
		},
		set granted(limits) {
			granted = limits;
			if (child) child.granted = limits;
		},
		get durationMs() {
			return child?.durationMs;
		},
		get worktree() {
			return record && provisional(record);
		},
		get partial() {
			return child?.partial;
		},
		get quietMs() {
			return child?.quietMs;
		},
		get session() {
			return child?.session;
		},
		...(spec.outlives
			? {
					// One in preparation must start first: no one else would do it.
					detach: async () => {
						await begun;
						await child?.detach?.();
					},
				}
			: {}),
	};
}

function inspected(
	agentId: string,
	root: string,
	{ beforeClose, report = () => undefined }: WorktreeRunnerOptions,
): Promise<void> {
	return bestEffort(`looking at the worktree of agent ${agentId}`, report, () => beforeClose?.(agentId, root));
}

function provisional({ branch, root, base }: WorktreeRecord): WorktreeReport {
	const problem = "It was stopped: its changes are being committed to its branch, which is removed if there are none.";
	return { branch, path: root, base, files: 0, insertions: 0, deletions: 0, problems: [problem] };
}
