/**
 * A runner whose children follow a plan instead of a model. What decides about a child is real: the driver and the
 * conversation loop of core. What is played is pi: it reads all queued messages before each request, and continues with
 * those that arrived during its last one.
 */
import type { Checkpoint, Emit, Outcome, Run, RunIdentity, Runner, RunSpec, Stop } from "@pi-subagents/core";
import { ConversationLoop, Driver, type Judge } from "@pi-subagents/core/internal/run";
import type { Plan, Turn } from "./program.ts";
import type { ProcessClock } from "./time.ts";

/** What a child tells the world around it. */
export interface Observer {
	/** A request to the model begins. */
	asked(run: RunIdentity): void;
	/** The response arrived, or will never. */
	answered(run: RunIdentity, cost: number): void;
	/** The child has read this message. */
	read(run: RunIdentity, message: string): void;
	/** The child was told to stop. */
	stopped(run: RunIdentity): void;
	/** Nothing of the child is left. */
	ended(run: RunIdentity): void;
	began(run: RunIdentity): void;
	/** The child launches another agent, and waits for it or not. Resolves when the call returns. */
	launch(run: RunIdentity, plan: Plan, isBackground: boolean): Promise<void>;
}

export const TURN_COST = 0.01;

export function plannedRunner(clock: ProcessClock, observer: Observer): Runner {
	return { start: (spec, emit, checkpoint) => new PlannedRun({ spec, emit, checkpoint, clock, observer }) };
}

interface Context {
	spec: RunSpec & RunIdentity;
	emit: Emit;
	checkpoint: Checkpoint | undefined;
	clock: ProcessClock;
	observer: Observer;
}

class PlannedRun implements Run {
	readonly settled: Promise<Outcome>;
	readonly #context: Context;
	readonly #plan: Plan;
	readonly #turns: Turn[];
	readonly #driver: Driver;
	readonly #inbox: string[] = [];
	readonly #stopping = new AbortController();
	#stop: Stop | undefined;
	#ended: Judge | undefined;
	#isSilenced = false;

	constructor(context: Context) {
		const { spec, emit, checkpoint, clock, observer } = context;
		this.#context = context;
		this.#plan = JSON.parse(spec.task) as Plan;
		this.#turns = [...this.#plan.turns];
		this.#driver = new Driver(spec, {
			clock,
			emit,
			isDeaf: () => this.#stop !== undefined,
			isOver: () => this.#isOver,
			contextPercent: () => undefined,
			pass: async () => ({ word: (await checkpoint?.()) ?? "go" }),
		});
		observer.began(spec);
		this.settled = this.#live();
	}

	abort(stop: Stop): void {
		if (this.#stop) return;
		this.#stop = stop;
		this.#context.observer.stopped(this.#context.spec);
		this.#stopping.abort();
	}

	steer(message: string): void {
		if (!this.#isOver) this.#inbox.push(message);
	}

	wrapUp(reason?: string): void {
		this.#driver.hurry(reason);
	}

	get partial(): string | undefined {
		return this.#driver.finalMessage.partial;
	}

	get #isOver(): boolean {
		return this.#stop !== undefined || this.#ended !== undefined;
	}

	async #live(): Promise<Outcome> {
		const { spec, emit, observer } = this.#context;
		const loop = new ConversationLoop({
			driver: this.#driver,
			channel: {
				isIdle: () => true,
				takeMessage: () => this.#inbox.shift(),
				restartWith: async () => "there is no other model",
			},
			signal: this.#stopping.signal,
			isOver: () => this.#isOver,
			end: (judge) => {
				this.#ended ??= judge;
			},
			emit,
		});
		let text: string | undefined = loop.opening;
		while (text !== undefined && !this.#isOver) {
			await this.#prompt(text);
			text = await loop.next();
		}
		await this.#pause(this.#stop ? this.#plan.cleanupMs : this.#plan.endMs, { isFirm: this.#stop !== undefined });
		observer.ended(spec);
		if (this.#stop) return this.#driver.stopped(this.#stop);
		return this.#ended ? this.#ended(this.#driver.finalMessage) : this.#driver.outcome();
	}

	/** As pi: turn after turn until the child has nothing left to do. */
	async #prompt(prompt: string): Promise<void> {
		const { spec, observer } = this.#context;
		let unread = [prompt];
		this.#askToFinish();
		while (!this.#isOver) {
			unread.push(...this.#inbox.splice(0));
			for (const message of unread) observer.read(spec, message);
			unread = [];
			const turn = this.#isSilenced ? undefined : this.#turns.shift();
			observer.asked(spec);
			const isThere = (await this.#pause(turn?.ms ?? 0)) && !this.#stop;
			observer.answered(spec, isThere ? TURN_COST : 0);
			if (!isThere) return;
			const continues = turn !== undefined && turn.does !== "fail";
			const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, cost: TURN_COST };
			this.#driver.observe(
				turn?.does === "fail"
					? { type: "assistant_text", text: "", stopReason: "error", error: "the planned failure" }
					: { type: "assistant_text", text: `said by ${spec.agentId}`, stopReason: continues ? "toolUse" : "stop" },
			);
			this.#driver.observe({ type: "usage", usage });
			if (turn?.child) await this.#runChild(turn.child, turn.does === "child in background");
			if (this.#stop) return;
			this.#driver.observe({ type: "turn" });
			this.#driver.countTurn();
			if (!continues && this.#inbox.length === 0) return;
			const ended = await this.#driver.afterTurn();
			if (ended) this.#ended ??= ended;
			else this.#askToFinish();
		}
	}

	async #runChild(plan: Plan, isBackground: boolean): Promise<void> {
		const { spec, observer } = this.#context;
		this.#driver.observe({ type: "tool_call", tool: "Agent", args: {} });
		await observer.launch(spec, plan, isBackground);
		if (!this.#stop) this.#driver.observe({ type: "tool_result", tool: "Agent", isError: false });
	}

	#askToFinish(): void {
		const message = this.#driver.takeWrapUp();
		if (message === undefined) return;
		this.#isSilenced = true;
		this.#inbox.push(message);
	}

	/** Resolves with false if the run was stopped meanwhile. */
	#pause(ms: number, { isFirm = false } = {}): Promise<boolean> {
		if (this.#stop && !isFirm) return Promise.resolve(false);
		if (ms === 0) return Promise.resolve(true);
		return new Promise((resolve) => {
			const cancel = this.#context.clock.after(ms, () => resolve(true));
			if (isFirm) return;
			this.#stopping.signal.addEventListener("abort", () => {
				cancel();
				resolve(false);
			});
		});
	}
}
