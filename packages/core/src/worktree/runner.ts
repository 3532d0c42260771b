/** Gives the runs of another runner a checkout of their own where their spec asks for one, and closes it when they settle. */
import type { Outcome, WorktreeReport } from "@pi-subagents/progress";
import { messageOf, type Report } from "../best-effort.ts";
import { abortedOutcome } from "../outcome.ts";
import type { Limits, Run, RunIdentity, Runner, RunSpec, Stop } from "../runner.ts";
import { closeWorktree } from "./close.ts";
import { confinedSpec } from "./confine.ts";
import { type Git, gitWith } from "./git.ts";
import { openWorktree } from "./open.ts";
import { type Place, readPlace } from "./place.ts";

export interface WorktreeRunnerOptions {
	/** Holds the checkouts of all agents. */
	dir: string;
	/** Where the user is: a command that they paste works there. */
	sessionCwd?: () => string | undefined;
	/** Hears what became of the checkout of a run that was stopped: whoever stopped it did not wait for that. */
	onClosed?: (agentId: string, report: WorktreeReport) => void;
	/** Hears of what went wrong beside a run. */
	report?: Report;
	/** Default: with the environment of this process. */
	git?: Git;
}

/**
 * Runs without `isolation` are those of the inner runner, untouched.
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
		...(inner.keepsTime ? { keepsTime: true } : {}),
		start: (spec, emit, checkpoint) =>
			spec.isolation
				? placedRun(spec, options, {
						open: (signal) => open(spec, options, signal),
						begin: (place) => inner.start(place ? confinedSpec(spec, place) : spec, emit, checkpoint),
					})
				: inner.start(spec, emit, checkpoint),
		...(attach
			? {
					attach: (spec, emit, checkpoint) =>
						spec.isolation
							? placedRun(spec, options, {
									// Which checkout it is, the run's own files say.
									open: async () => (spec.confinedTo ? readPlace(spec.confinedTo.root) : undefined),
									begin: () => attach(spec, emit, checkpoint),
								})
							: attach(spec, emit, checkpoint),
				}
			: {}),
	};
}

function open(spec: RunSpec & RunIdentity, options: WorktreeRunnerOptions, signal: AbortSignal): Promise<Place> {
	const { cwd, agentId: id, run, type, description, task, isolation, runner, artifacts } = spec;
	return openWorktree({
		cwd,
		dir: options.dir,
		id,
		run,
		base: isolation?.base ?? "head",
		about: { type, description, task },
		sessionCwd: options.sessionCwd?.(),
		runDir: runner === "session" ? undefined : artifacts,
		signal,
		...(options.git ? { git: options.git } : {}),
	});
}

interface Steps {
	/** Rejects where there can be no checkout, and when the signal fires. */
	open(signal: AbortSignal): Promise<Place | undefined>;
	begin(place: Place | undefined): Run;
}

/** A run that has to be prepared before its child can be started: what is said to it meanwhile is said to the child then. */
function placedRun(spec: RunSpec & RunIdentity, options: WorktreeRunnerOptions, steps: Steps): Run {
	const { report, onClosed, git = gitWith() } = options;
	const preparing = new AbortController();
	const early: ((run: Run) => void)[] = [];
	let child: Run | undefined;
	let place: Place | undefined;
	let stop: Stop | undefined;
	let granted: Limits | undefined;
	const tell = (say: (run: Run) => void) => {
		if (child) say(child);
		else early.push(say);
	};

	const begin = async (): Promise<void> => {
		place = await steps.open(preparing.signal);
		if (stop) return;
		child = steps.begin(place);
		if (granted) child.granted = granted;
		for (const say of early.splice(0)) say(child);
	};
	const begun = begin().catch((error): Outcome => ({ status: "failed", error: messageOf(error) }));
	const live = async (): Promise<Outcome> => {
		const failure = await begun;
		const outcome = await (child?.settled ?? (stop ? abortedOutcome(stop, undefined) : (failure as Outcome)));
		if (!place) return outcome;
		const worktree = outcome.worktree ?? (await closeWorktree(place, { git, ...(report ? { report } : {}) }));
		if (stop) onClosed?.(spec.agentId, worktree);
		return { ...outcome, worktree };
	};

	return {
		settled: live(),
		abort(given) {
			stop ??= given;
			if (child) child.abort(given);
			else preparing.abort();
		},
		steer: (message) => tell((run) => run.steer(message)),
		wrapUp: (reason) => tell((run) => run.wrapUp(reason)),
		get granted() {
			return child ? child.granted : granted;
		},
		set granted(limits) {
			granted = limits;
			if (child) child.granted = limits;
		},
		get worktree() {
			return place && provisional(place);
		},
		...(spec.outlives
			? {
					// One that is being prepared is started first: nobody else would.
					detach: async () => {
						await begun;
						await child?.detach?.();
					},
				}
			: {}),
	};
}

function provisional({ branch, root, base }: Place): WorktreeReport {
	const problem =
		"It was stopped: what it had changed is being committed to its branch, which is removed if there is nothing.";
	return { branch, path: root, base, files: 0, insertions: 0, deletions: 0, problems: [problem] };
}
