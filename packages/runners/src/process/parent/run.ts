/** A run whose child lives in another process and may outlive this one: all that is known of it is in its files. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type {
	Checkpoint,
	Clock,
	Emit,
	ExtensionNotice,
	Limits,
	PieceListener,
	Run,
	RunIdentity,
	RunSpec,
	Stop,
} from "@pi-subagents/core";
import { abortedOutcome, type Report } from "@pi-subagents/core";
import { bestEffort, defined, messageOf } from "@pi-subagents/core/internal/base";
import type { EndSignal, Signalled } from "@pi-subagents/core/internal/signals";
import { controlPath, RunProcesses } from "@pi-subagents/core/internal/signals";
import { type CutBy, claimText, type Outcome } from "@pi-subagents/progress";
import type { ResultFile } from "@pi-subagents/runs";
import { type EventLine, RUN_FILES, releaseRun } from "@pi-subagents/runs";
import type { AskedFor, LogSpec } from "@pi-subagents/runs/internal";
import {
	type ControlLine,
	isLifeCycleLine,
	judgeUnobserved,
	RunTotals,
	writeOwnResult,
} from "@pi-subagents/runs/internal";
import { withWorktree } from "../wrapper/worktree.ts";
import { Control, readSaid, type Said } from "./control.ts";
import { LiveLines } from "./live-lines.ts";
import { type Ask, type AskUser, Replies } from "./replies.ts";
import { type Ending, RunWatcher } from "./run-watcher.ts";
import type { StartedWrapper } from "./starter.ts";

/** How a run gets its directory and its wrapper. A rejection is how the run failed. */
export interface RunSource {
	/** The directory of its files. */
	openDir(): Promise<string>;
	/** Called when the run has settled. */
	closeDir?(dir: string): Promise<void>;
	/** Starts the wrapper, unless the signal has fired. Absent for a run that another process started. */
	start?(dir: string, signal: AbortSignal): Promise<StartedWrapper | undefined>;
	/** See `Run.startOver`. */
	startOver?(dir: string, outcome: Outcome): Promise<boolean>;
	/** Reconnects to the wrapper of a run that another process started. */
	rejoin?(dir: string): Promise<StartedWrapper> | StartedWrapper | undefined;
}

export interface DetachedRunContext {
	identity: RunIdentity;
	/** pi's own directory: the records of its processes, and the proofs of results. */
	agentDir: string;
	/** Its processes on this machine. Undefined: it runs elsewhere. */
	processesIn: (dir: string) => RunProcesses | undefined;
	/** What it was asked for, its models, and its checkout. */
	spec: AskedFor & LogSpec & Pick<RunSpec, "confinedTo">;
	/** The session that watches it. */
	sessionId: string | undefined;
	emit: Emit;
	checkpoint: Checkpoint | undefined;
	ask: Ask | undefined;
	/** The user's screen, for extensions in the child. */
	ui: { ask: AskUser; notify: (notice: ExtensionNotice) => void } | undefined;
	clock: Clock;
	report: Report;
}

/** More would push the conversation off the screen. */
const MAX_NOTICES = 20;

/** How long a wrapper may take to stop; longer with a checkout that it has to commit. */
const STOP_MS = 5_000;
const STOP_AND_COMMIT_MS = 60_000;
/** The same while this process ends, which waits for three seconds. */
const CLOSING_MS = 2_000;

export class DetachedRun implements Run {
	readonly settled: Promise<Outcome>;
	granted: Limits | undefined;
	durationMs: number | undefined;
	readonly #context: DetachedRunContext;
	readonly #source: RunSource;
	readonly #totals = new RunTotals();
	readonly #control: Control;
	readonly #replies: Replies;
	readonly #live: LiveLines;
	readonly #dirOpened = Promise.withResolvers<string>();
	readonly #controlOpened = Promise.withResolvers<string>();
	readonly #outcome = Promise.withResolvers<Outcome>();
	readonly #stopping = new AbortController();
	readonly #begun: Promise<void>;
	#dir: string | undefined;
	#started: StartedWrapper | undefined;
	#watch: RunWatcher | undefined;
	#processes: RunProcesses | undefined;
	#stop: Stop | undefined;
	#cancelForce = (): void => undefined;
	#isLive = false;
	#hasControl = false;
	/** What it may use without this process, and what it was last told of that. */
	#alone: Limits | undefined;
	#saidAlone = "{}";
	/** How many notices of its log have been shown. */
	#notices = 0;
	#isOver = false;
	/** A process of it may still run that could not be ended: its record stays. */
	#isLeftAlone = false;
	#onReach: ((isReached: boolean) => void) | undefined;

	constructor(context: DetachedRunContext, source: RunSource) {
		const { ask, ui, checkpoint, clock, report } = context;
		this.#context = context;
		this.#source = source;
		this.settled = this.#outcome.promise;
		this.#dirOpened.promise.catch(() => undefined); // awaited by those who need it
		this.#controlOpened.promise.catch(() => undefined);
		this.#control = new Control(this.#controlOpened.promise);
		this.#replies = new Replies({
			ask,
			askUser: ui?.ask,
			checkpoint,
			granted: () => this.granted,
			send: (line) => this.#control.send(line),
			clock,
			report,
		});
		const send = (line: ControlLine) => this.#send(line, "The request to watch");
		this.#live = new LiveLines({ dir: this.#dirOpened.promise, clock, send });
		this.#begun = this.#begin();
	}

	get isStarting(): boolean {
		return this.#source.start !== undefined && !this.#started && !this.#isOver;
	}

	abort(stop: Stop): void {
		if (this.#stop || this.#isOver) return;
		this.#stop = stop;
		this.#stopping.abort();
		this.#replies.close();
		// The time of one that is still starting begins later.
		if (!this.#source.start || this.#started) this.#forceLater();
		this.#control.sendNow({ type: "abort", stop }).catch(() => void this.#signal("SIGTERM")); // even if the disk is full
	}

	hurry(): void {
		// A wrapper that commits may need longer than we have; one that hangs is ended when the session is opened again.
		const isStarting = this.#source.start !== undefined && !this.#started;
		if (!this.#stop || this.#isOver || isStarting || this.#context.spec.isolation) return;
		this.#cancelForce();
		this.#cancelForce = this.#context.clock.after(CLOSING_MS, () => void this.#forceAll(CLOSING_MS));
	}

	steer(message: string): void {
		this.#send({ type: "steer", message }, "A message to");
	}

	wrapUp(reason?: string, by?: CutBy): void {
		this.#send({ type: "wrap_up", ...defined({ reason, by }) }, "The request to finish for");
	}

	limitAlone({ budgetTokens, budgetCost }: Limits): void {
		this.#alone = defined({ budgetTokens, budgetCost });
		if (this.#hasControl && !this.#isOver) this.#sayAlone();
	}

	watch(listener: PieceListener): () => void {
		return this.#isOver ? () => undefined : this.#live.watch(listener);
	}

	/** Its wrapper adds to its output when the child gives a sign of life, also on another machine. Asked only of a silent run. */
	get quietMs(): number | undefined {
		if (this.#dir === undefined || this.#isOver) return undefined;
		const printed = statSync(join(this.#dir, RUN_FILES.stdout), { throwIfNoEntry: false })?.mtimeMs;
		const ms = printed === undefined ? -1 : this.#context.clock.now() - printed;
		return ms < 0 ? undefined : ms; // the time of day was set back
	}

	/** One that is being started is not reached yet. */
	onReach(listener: (isReached: boolean) => void): void {
		this.#onReach = listener;
		this.#tellReach();
	}

	async startOver(outcome: Outcome): Promise<boolean> {
		return this.#dir !== undefined && ((await this.#source.startOver?.(this.#dir, outcome)) ?? false);
	}

	/** One that is being started must start first: no one else would do it. */
	async detach(): Promise<void> {
		if (this.#isOver) return;
		if (this.#live.isWatched) this.#send({ type: "watch" }, "The request to watch");
		this.#letGo();
		this.#release();
		await this.#begun;
	}

	/** Written before this returns: this process may be about to end. */
	#sayAlone(): void {
		const limits = this.#alone;
		const text = JSON.stringify(limits);
		if (this.#stop || !limits || text === this.#saidAlone) return;
		this.#saidAlone = text;
		const { identity, report } = this.#context;
		this.#control
			.sendNow({ type: "alone", limits })
			.catch((error) => report(`The limits of agent ${identity.agentId} could not be written: ${messageOf(error)}`));
	}

	async #begin(): Promise<void> {
		try {
			this.#dir = await this.#source.openDir();
			this.#processes = this.#context.processesIn(this.#dir);
			const control = await this.#openControl(this.#dir);
			this.#controlOpened.resolve(control);
			this.#dirOpened.resolve(this.#dir);
			await this.#controlOpened.promise;
			this.#hasControl = true;
			this.#sayAlone(); // also if we were detached meanwhile: the wrapper reads it before it starts the child
			this.#started = this.#source.start
				? await this.#source.start(this.#dir, this.#stopping.signal)
				: await this.#source.rejoin?.(this.#dir);
		} catch (error) {
			this.#controlOpened.reject(error);
			this.#dirOpened.reject(error);
			const failed: Outcome = { status: "failed", error: messageOf(error) };
			return this.#conclude(this.#stop ? this.#totals.stopped(this.#stop) : failed);
		}
		this.#tellReach();
		const wasStarted = !this.#source.start || this.#started;
		if (this.#stop && !wasStarted) return this.#conclude(this.#totals.stopped(this.#stop));
		if (this.#stop && this.#started) this.#forceLater();
		if (!this.#isOver) return this.#follow(this.#dir);
		this.#started?.letGo(); // we were detached while it was starting
		this.#release();
	}

	/** The copy of a run elsewhere is in reach of no agent: what is said to it is sent from there. */
	async #openControl(dir: string): Promise<string> {
		const place = { agentDir: this.#context.agentDir, runDir: dir };
		const path = this.#processes ? controlPath(place) : join(dir, RUN_FILES.control);
		if (this.#source.start) await new RunProcesses(place).begin();
		else {
			const said = await this.#readSaid(path);
			this.granted = said?.granted;
			this.#saidAlone = JSON.stringify(said?.alone ?? {});
		}
		return path;
	}

	async #readSaid(path: string): Promise<Said | undefined> {
		let said: Said | undefined;
		await bestEffort("reading an agent's control file", this.#context.report, async () => {
			said = await readSaid(path);
		});
		return said;
	}

	#tellReach(): void {
		if (!this.#onReach || this.#isOver) return;
		if (this.#started?.onReach) this.#started.onReach(this.#onReach);
		else this.#onReach(!this.isStarting);
	}

	#follow(dir: string): void {
		const { identity, spec, clock, report, agentDir } = this.#context;
		this.#watch = new RunWatcher({
			dir,
			identity,
			clock,
			report,
			started: this.#started,
			processes: this.#processes,
			spec,
			agentDir,
			onLine: (line) => this.#hear(line),
			onCaughtUp: () => void this.#goLive(),
			onEnd: (ending) => void this.#end(ending),
		});
	}

	async #goLive(): Promise<void> {
		this.#isLive = true;
		const said = await this.#readSaid(await this.#controlOpened.promise);
		this.#replies.goLive(said?.replied ?? new Set());
	}

	#hear(line: EventLine): void {
		// After a stop nothing counts except what has to be ended.
		if (this.#stop && line.type !== "child_started") return;
		this.#totals.add(line);
		this.#replies.hear(line);
		if (isLifeCycleLine(line)) return; // the manager says the same of the runs that it follows
		switch (line.type) {
			case "child_started":
			case "question":
			case "question_over":
			case "checkpoint":
			case "granted": // the agent can write into its log: only what was said to the wrapper counts
				return;
			case "notice":
				if (this.#isLive) this.#notice(line);
				return;
			default: {
				const { at, seq: _order, ...event } = line;
				void bestEffort("reporting an agent's event", this.#context.report, () => this.#context.emit(event, at));
			}
		}
	}

	/** The agent can write into its log: these are its words, and no more of them than a run has to say. */
	#notice({ text, level }: EventLine & { type: "notice" }): void {
		const { identity, ui, report } = this.#context;
		if (++this.#notices > MAX_NOTICES) return;
		if (level !== undefined) ui?.notify({ text, level });
		else report(`Agent ${identity.agentId}: ${claimText(text, "file")}`);
		if (this.#notices === MAX_NOTICES) report(`Agent ${identity.agentId} says more in its log, which is not shown.`);
	}

	async #end(ending: Ending): Promise<void> {
		if (ending.type === "gone") return this.#endLost(ending.why);
		// The manager measured those that we started.
		if (!this.#source.start) this.durationMs = ending.result.durationMs;
		if (ending.type === "sent") await this.#write(ending.result);
		await this.#settle(this.#asStopped(ending.result.outcome));
	}

	/** A completion that crossed the stop does not undo it. The wrapper knows best what had been said. */
	#asStopped(outcome: Outcome): Outcome {
		if (!this.#stop) return outcome;
		return outcome.status === "aborted"
			? abortedOutcome(this.#stop, outcome.partialText)
			: this.#totals.stopped(this.#stop);
	}

	async #endLost(why: string): Promise<void> {
		const { clock, report, spec } = this.#context;
		await bestEffort("ending what a lost agent left behind", report, async () => {
			if ((await this.#processes?.endRest(clock)) !== "unsure") return;
			this.#isLeftAlone = true;
			report(this.#notSignalled("What it started may still run"));
		});
		const judged = await judgeUnobserved(this.#totals, { by: "lost", reason: why }, spec, clock); // the wrapper did not
		await this.#conclude(this.#stop ? this.#totals.stopped(this.#stop) : judged);
	}

	/** Settles a run that has no result, and writes one for later readers. */
	async #conclude(outcome: Outcome): Promise<void> {
		const { identity, clock, spec } = this.#context;
		const result = await withWorktree(this.#totals.result(identity, outcome, clock.now()), spec);
		await this.#write(result);
		await this.#settle(result.outcome);
	}

	async #write(result: ResultFile): Promise<void> {
		const dir = this.#dir;
		const { report, agentDir } = this.#context;
		if (dir !== undefined)
			await bestEffort("writing an agent's result", report, () => writeOwnResult({ agentDir, runDir: dir }, result));
	}

	async #settle(outcome: Outcome): Promise<void> {
		this.#letGo();
		const dir = this.#dir;
		const { report } = this.#context;
		if (!this.#isLeftAlone)
			await bestEffort("forgetting an agent's processes", report, () => this.#processes?.forget());
		if (dir !== undefined) await bestEffort("cleaning up after an agent", report, () => this.#source.closeDir?.(dir));
		this.#outcome.resolve(outcome);
	}

	#letGo(): void {
		this.#isOver = true;
		this.#cancelForce();
		this.#replies.close();
		this.#watch?.close();
		this.#live.close();
		this.#started?.letGo();
	}

	#release(): void {
		const dir = this.#dir;
		const { agentDir, sessionId, report } = this.#context;
		if (dir === undefined) return;
		void bestEffort("releasing an agent", report, () => releaseRun({ agentDir, runDir: dir }, { sessionId }));
	}

	#send(line: ControlLine, what: string): void {
		if (this.#stop || this.#isOver) return;
		const { identity, report } = this.#context;
		this.#control
			.send(line)
			.catch((error) => report(`${what} agent ${identity.agentId} could not be written: ${messageOf(error)}`));
	}

	#forceLater(): void {
		const { clock, spec } = this.#context;
		const ms = spec.isolation ? STOP_AND_COMMIT_MS : STOP_MS;
		this.#cancelForce = clock.after(ms, () => void this.#force(ms));
	}

	/** Its time is up: once the wrapper is gone, its child is ended like that of a lost run. */
	async #force(ms: number): Promise<void> {
		const { identity, report } = this.#context;
		const late = `Agent ${identity.agentId} did not stop in ${ms / 1_000} s`;
		const isHeld = this.#started?.endNow !== undefined;
		if (isHeld) report(`${late} and was killed.`);
		await bestEffort("killing an agent", report, () => this.#started?.endNow?.());
		const done = await this.#signal("SIGKILL");
		if (isHeld) return;
		if (done === "signalled") return report(`${late} and was killed.`);
		if (done === "gone" || this.#isOver) return; // the watcher sees that, too
		this.#isLeftAlone = true;
		report(this.#notSignalled(late));
		this.#watch?.close();
		if (this.#stop) await this.#conclude(this.#totals.stopped(this.#stop));
	}

	/** There is no time to wait until its wrapper is seen to be gone. */
	async #forceAll(ms: number): Promise<void> {
		const { clock, report } = this.#context;
		await this.#force(ms);
		await bestEffort("ending what a stopped agent left behind", report, () => this.#processes?.endRest(clock));
	}

	/** A process that merely got its number later must not be hit. */
	#notSignalled(what: string): string {
		return `${what}. This system does not say which process is that of agent ${this.#context.identity.agentId}, so none was signalled; end it yourself if it still runs (docs/platforms.md).`;
	}

	async #signal(signal: EndSignal): Promise<Signalled> {
		let done: Signalled = "gone";
		await bestEffort("stopping an agent", this.#context.report, async () => {
			done = (await this.#processes?.signalWrapper(signal)) ?? "gone";
		});
		return done;
	}
}
