/** A run whose child lives in another process, and may outlive this one: all that is known of it is in its files. */
import type { Outcome } from "@pi-subagents/progress";
import { bestEffort, messageOf, type Report } from "../best-effort.ts";
import type { Clock } from "../clock.ts";
import { abortedOutcome } from "../outcome.ts";
import type { Checkpoint, Emit, Limits, Run, RunIdentity, RunSpec, Stop } from "../runner.ts";
import { checkAnswer } from "../sequel.ts";
import { Account } from "./account.ts";
import { Control, readReplies } from "./control.ts";
import { type Ending, Watch } from "./follow.ts";
import type { ControlLine, EventLine, ResultFile } from "./layout.ts";
import { releaseRun } from "./owner.ts";
import { type Ask, Replies } from "./replies.ts";
import { writeResult } from "./result.ts";
import { endGroup, endLeftovers, signalGroup } from "./signals.ts";
import type { StartedWrapper } from "./starter.ts";
import { endStrays } from "./wrapper/group.ts";
import { withWorktree } from "./wrapper/worktree.ts";

/** How a run comes to be. Whatever rejects here is how it failed. */
export interface Beginning {
	/** The directory of its files. */
	openDir(): Promise<string>;
	/** Called when the run has settled. */
	closeDir?(dir: string): Promise<void>;
	/** Starts the wrapper, unless the signal has fired. Absent for a run that another process has started. */
	start?(dir: string, signal: AbortSignal): Promise<StartedWrapper | undefined>;
}

export interface RunSurroundings {
	identity: RunIdentity;
	/** What its answer must match, and the checkout that it has for itself. */
	spec: Pick<RunSpec, "output" | "isolation" | "confinedTo">;
	/** The session that watches it. */
	sessionId: string | undefined;
	emit: Emit;
	checkpoint: Checkpoint | undefined;
	ask: Ask | undefined;
	clock: Clock;
	report: Report;
}

/** How long a wrapper that was told to stop may take; and with a checkout of its own, which it has to commit. */
const STOP_MS = 5_000;
const STOP_AND_COMMIT_MS = 60_000;

export class DetachedRun implements Run {
	readonly settled: Promise<Outcome>;
	granted: Limits | undefined;
	readonly #around: RunSurroundings;
	readonly #beginning: Beginning;
	readonly #account = new Account();
	readonly #control: Control;
	readonly #replies: Replies;
	readonly #dirOpened = Promise.withResolvers<string>();
	readonly #outcome = Promise.withResolvers<Outcome>();
	readonly #stopping = new AbortController();
	readonly #begun: Promise<void>;
	#dir: string | undefined;
	#started: StartedWrapper | undefined;
	#watch: Watch | undefined;
	#stop: Stop | undefined;
	#cancelForce = (): void => undefined;
	#isLive = false;
	#isOver = false;

	constructor(around: RunSurroundings, beginning: Beginning) {
		const { ask, checkpoint, clock, report } = around;
		this.#around = around;
		this.#beginning = beginning;
		this.settled = this.#outcome.promise;
		this.#dirOpened.promise.catch(() => undefined); // those who need it hear of it
		this.#control = new Control(this.#dirOpened.promise, { isContinued: !beginning.start });
		this.#replies = new Replies({
			ask,
			checkpoint,
			granted: () => this.granted,
			send: (line) => this.#control.send(line),
			clock,
			report,
		});
		this.#begun = this.#begin();
	}

	abort(stop: Stop): void {
		if (this.#stop || this.#isOver) return;
		this.#stop = stop;
		this.#stopping.abort();
		this.#replies.close();
		// One that is still being started has its time from then on.
		if (!this.#beginning.start || this.#started) this.#forceLater();
		this.#control.send({ type: "abort", stop }).catch(() => this.#signal("SIGTERM")); // a full disk must not keep it alive
	}

	steer(message: string): void {
		this.#tell({ type: "steer", message }, "A message to");
	}

	wrapUp(reason?: string): void {
		this.#tell({ type: "wrap_up", ...(reason === undefined ? {} : { reason }) }, "The wish to finish for");
	}

	/** One that is being started is started first: nobody else would. */
	async detach(): Promise<void> {
		if (this.#isOver) return;
		this.#letGo();
		this.#release();
		await this.#begun;
	}

	async #begin(): Promise<void> {
		try {
			this.#dir = await this.#beginning.openDir();
			this.#dirOpened.resolve(this.#dir);
			this.#started = await this.#beginning.start?.(this.#dir, this.#stopping.signal);
		} catch (error) {
			this.#dirOpened.reject(error);
			const failed: Outcome = { status: "failed", error: messageOf(error) };
			return this.#conclude(this.#stop ? this.#account.stopped(this.#stop) : failed);
		}
		const wasStarted = !this.#beginning.start || this.#started;
		if (this.#stop && !wasStarted) return this.#conclude(this.#account.stopped(this.#stop));
		if (this.#stop && this.#started) this.#forceLater();
		if (!this.#isOver) return this.#follow(this.#dir);
		this.#started?.letGo(); // we were told to let go of it while it was being started
		this.#release();
	}

	#follow(dir: string): void {
		const { identity, clock, report } = this.#around;
		this.#watch = new Watch({
			dir,
			identity,
			clock,
			report,
			started: this.#started,
			onLine: (line) => this.#hear(line),
			onCaughtUp: () => void this.#goLive(dir),
			onEnd: (ending) => void this.#end(ending),
		});
	}

	async #goLive(dir: string): Promise<void> {
		this.#isLive = true;
		let settled: ReadonlySet<string> = new Set();
		await bestEffort("reading what an agent was told", this.#around.report, async () => {
			settled = await readReplies(dir);
		});
		this.#replies.goLive(settled);
	}

	#hear(line: EventLine): void {
		// After a stop nothing is heard any more, except what has to be ended.
		if (this.#stop && line.type !== "child_started") return;
		this.#account.add(line);
		this.#replies.hear(line);
		switch (line.type) {
			case "child_started":
			case "question":
			case "question_over":
			case "checkpoint":
				return;
			case "granted":
				this.granted = line.limits;
				return;
			case "notice":
				if (this.#isLive) this.#around.report(`Agent ${this.#around.identity.agentId}: ${line.text}`);
				return;
			default: {
				const { at, ...event } = line;
				void bestEffort("telling of an agent", this.#around.report, () => this.#around.emit(event, at));
			}
		}
	}

	async #end(ending: Ending): Promise<void> {
		if (ending.type === "gone") return this.#endLost(ending.why);
		if (ending.type === "told") await this.#write(ending.result);
		await this.#settle(this.#asStopped(ending.result.outcome));
	}

	/** A completion that crossed the stop on its way does not undo it. What had been said the wrapper knows best. */
	#asStopped(outcome: Outcome): Outcome {
		if (!this.#stop) return outcome;
		return outcome.status === "aborted"
			? abortedOutcome(this.#stop, outcome.partialText)
			: this.#account.stopped(this.#stop);
	}

	async #endLost(why: string): Promise<void> {
		const { clock, report, spec } = this.#around;
		const { child } = this.#account;
		await bestEffort("ending what a lost agent left behind", report, async () => {
			if (child) await endGroup(child, clock);
			if (this.#dir === undefined) return;
			if (child) await endLeftovers(this.#dir, child, clock);
			await endStrays(this.#dir);
		});
		const { checked } = await checkAnswer(this.#account.judge(why), spec.output, clock); // nobody else has
		await this.#conclude(this.#stop ? this.#account.stopped(this.#stop) : checked);
	}

	/** Settles a run that has no result, and leaves one for those who look later. */
	async #conclude(outcome: Outcome): Promise<void> {
		const { identity, clock, spec } = this.#around;
		const result = await withWorktree(this.#account.result(identity, outcome, clock.now()), spec);
		await this.#write(result);
		await this.#settle(result.outcome);
	}

	async #write(result: ResultFile): Promise<void> {
		const dir = this.#dir;
		if (dir !== undefined)
			await bestEffort("keeping an agent's result", this.#around.report, () => writeResult(dir, result));
	}

	async #settle(outcome: Outcome): Promise<void> {
		this.#letGo();
		const dir = this.#dir;
		if (dir !== undefined)
			await bestEffort("clearing up after an agent", this.#around.report, () => this.#beginning.closeDir?.(dir));
		this.#outcome.resolve(outcome);
	}

	#letGo(): void {
		this.#isOver = true;
		this.#cancelForce();
		this.#replies.close();
		this.#watch?.close();
		this.#started?.letGo();
	}

	#release(): void {
		const dir = this.#dir;
		const { sessionId, report } = this.#around;
		if (dir !== undefined) void bestEffort("letting go of an agent", report, () => releaseRun(dir, { sessionId }));
	}

	#tell(line: ControlLine, what: string): void {
		if (this.#stop || this.#isOver) return;
		const { identity, report } = this.#around;
		this.#control
			.send(line)
			.catch((error) => report(`${what} agent ${identity.agentId} could not be written: ${messageOf(error)}`));
	}

	#forceLater(): void {
		const { clock, spec } = this.#around;
		const ms = spec.isolation ? STOP_AND_COMMIT_MS : STOP_MS;
		this.#cancelForce = clock.after(ms, () => void this.#force(ms));
	}

	/** It had its time: without the wrapper, its child is ended as that of a lost run. */
	async #force(ms: number): Promise<void> {
		this.#around.report(`Agent ${this.#around.identity.agentId} did not stop in ${ms / 1_000} s and is killed.`);
		await bestEffort("killing an agent", this.#around.report, () => this.#started?.kill());
		await this.#signal("SIGKILL");
	}

	async #signal(signal: NodeJS.Signals): Promise<void> {
		await bestEffort("stopping an agent", this.#around.report, async () => {
			const wrapper = await this.#watch?.wrapper();
			if (wrapper) await signalGroup(wrapper, signal);
		});
	}
}
