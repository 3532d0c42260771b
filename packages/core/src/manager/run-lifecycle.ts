/**
 * Runs live agents from the queue to settlement: slots, runner, events, deadlines, checkpoints. Private to the
 * manager, which decides what is allowed; this is how it is done.
 */
import type { ChildEvent, Outcome, RunnerName } from "@pi-subagents/progress";
import { messageOf } from "../base/best-effort.ts";
import { type Clock, steadyClock } from "../base/clock.ts";
import { AgentError } from "../base/error.ts";
import { defined } from "../base/values.ts";
import type { LifeCycleEvent } from "../model/event.ts";
import { abortedOutcome } from "../model/outcome.ts";
import type { AgentRecord } from "../model/record.ts";
import {
	type Checkpoint,
	type Emit,
	type Run,
	type Runner,
	type RunSpec,
	runIdOf,
	type Stop,
} from "../model/runner.ts";
import { agentIdentity, type LaunchInfo } from "../model/schema/launch.ts";
import type { Store } from "../model/store.ts";
import { Watchdog } from "../model/watchdog.ts";
import { type HoldReason, holdText } from "../queue/hold-reason.ts";
import type { SlotLimits } from "../queue/limits.ts";
import { Slots } from "../queue/slots.ts";
import { AgentTree } from "./agent-tree.ts";
import { backstopOf, endedHere } from "./backstop.ts";
import { BudgetTracker, type BudgetTrackerOptions, type MayExtend } from "./budget-tracker.ts";
import { Checkpoints, providerOf } from "./checkpoints.ts";
import { type AdoptedRun, Cleanups, type LiveAgent, LiveAgents, newLiveAgent, type StoppedRun } from "./live-agents.ts";

export interface RunLifecycleOptions {
	store: Store;
	runners: Partial<Record<RunnerName, Runner>>;
	clock: Clock;
	random: () => number;
	slots: SlotLimits;
	mayExtend: MayExtend;
	/** The spec that a run that has waited may run with now; throws if it may not run. */
	recheck: (spec: RunSpec) => RunSpec;
	/** Whether there is anyone to ask about an agent's budget. */
	canAsk: (payerId: string) => boolean;
	session: NonNullable<BudgetTrackerOptions["session"]>;
}

/** A string, because creating an Error captures a stack. */
const OVER = "the agent has settled";

/** How long a rejoined run may be read before its time limits count. */
const CATCH_UP_MS = 10_000;

export class RunLifecycle {
	readonly slots: Slots;
	readonly tree: AgentTree;
	readonly #options: RunLifecycleOptions;
	/** Unaffected by changes of the time of day: for deadlines and pauses. */
	readonly #steady: Clock;
	readonly #liveAgents: LiveAgents;
	readonly #checkpoints: Checkpoints;
	/** Children of settled runs that still clean up. */
	readonly #cleanups = new Cleanups();
	/** Runs whose stop has not taken effect. */
	readonly #stopping = new Set<Run>();

	constructor(options: RunLifecycleOptions) {
		const { clock, store } = options;
		this.#options = options;
		const steady = steadyClock(clock);
		this.#steady = steady;
		this.tree = new AgentTree(store);
		this.#liveAgents = new LiveAgents(clock);
		const { mayExtend, canAsk, session, random } = options;
		const budgets = new BudgetTracker({ lifecycle: this, store, mayExtend, canAsk, session });
		const { tree } = this;
		const keepsOwnTime = ({ spec }: LiveAgent) => this.#keepsTime(spec) !== undefined;
		this.#checkpoints = new Checkpoints({ store, tree, budgets, keepsOwnTime, clock: steady, random });
		const { gate } = this.#checkpoints;
		this.slots = new Slots({ limits: options.slots, gate, onGrant: (id) => this.#start(id) });
	}

	live(id: string): LiveAgent | undefined {
		return this.#liveAgents.get(id);
	}

	liveAgents(): LiveAgent[] {
		return this.#liveAgents.all();
	}

	/** Resolves when the children of all settled runs are gone. */
	async cleanedUp(): Promise<void> {
		await this.#cleanups.done();
	}

	/** Why a live agent does not run now, if something holds it back. */
	holdReason(id: string): HoldReason | undefined {
		const live = this.live(id);
		if (!live) return undefined;
		if (live.run) return this.#checkpoints.reasonFor(live);
		return this.slots.reasonFor(id) ?? (this.#cleanups.of(id) && { by: "cleanup" });
	}

	/** For how long a live agent has given no sign of life, if it counts as stalled. */
	silentMs(record: AgentRecord): number | undefined {
		return this.live(record.id)?.watchdog.silentMs(record);
	}

	/** A refused launch leaves no trace. Listeners hear of any other before its runner does. */
	queue(id: string, spec: RunSpec, launch: LaunchInfo): void {
		const runner = this.#options.runners[spec.runner];
		if (!runner) throw new AgentError("unknown_runner", `There is no "${spec.runner}" runner here.`);
		const run = (this.#options.store.record(id)?.run ?? 0) + 1;
		const identity = { agentId: id, run };
		const artifacts = spec.runsDir === undefined ? {} : { artifacts: `${spec.runsDir}/${runIdOf(identity)}` };
		const queuedAt = Math.floor(this.#options.clock.now());
		const live = this.#add({ ...spec, ...identity, ...artifacts, launchInfo: { ...launch, queuedAt } });
		const slot = runner.takesNoSlot
			? "granted"
			: this.slots.request({
					id,
					provider: providerOf(spec.model),
					model: spec.model,
					isForeground: !launch.isBackground,
					...defined({ parentId: launch.parentAgentId }),
				});
		if (typeof slot === "object") {
			this.#liveAgents.remove(live);
			throw new AgentError("slots_full", slot.refused);
		}
		const held = slot === "granted" ? undefined : this.holdReason(id);
		const waits = held && holdText(held);
		live.hasWaited = slot !== "granted";
		this.dispatch(id, { type: "agent_queued", agent: agentIdentity(live.spec, launch), ...defined({ waits }) });
		if (slot === "granted") this.#start(id);
	}

	/** An adopted run takes no slot: it runs anyway, and must not block new agents, perhaps for hours. */
	adopt({ id, run, spec, artifacts, ...adopted }: AdoptedRun): void {
		const { queuedAt, startedAt = queuedAt, ...launch } = adopted;
		const now = this.#options.clock.now(); // the time of day may have been set back since then
		const live = this.#add({ ...spec, agentId: id, run, artifacts }, { sparedMs: CATCH_UP_MS });
		this.dispatch(
			id,
			{ type: "agent_queued", agent: agentIdentity(live.spec, launch) },
			{ at: Math.min(queuedAt, now) },
		);
		this.#checkpoints.open(id);
		this.dispatch(id, { type: "agent_started" }, { at: Math.min(startedAt, now) });
		// Even if a listener has stopped it already: only a rejoined run can be ended.
		this.#follow(live, {
			begin: (emit, checkpoint) => {
				const runner = this.#options.runners[spec.runner];
				if (!runner?.attach) throw new Error(`there is no "${spec.runner}" runner here that could rejoin it`);
				return runner.attach({ ...live.spec, artifacts }, emit, checkpoint);
			},
			onError: (reason) => ({ status: "aborted", by: "lost", reason }),
		});
	}

	/** Its record has settled, and stays as it is. */
	finishStop({ id, run, spec, artifacts }: StoppedRun, stop: Stop): void {
		const { attach } = this.#options.runners[spec.runner] ?? {};
		if (!attach) throw new Error(`there is no "${spec.runner}" runner here that could rejoin it`);
		const child = attach({ ...spec, agentId: id, run, artifacts }, () => undefined);
		this.#cleanUp({ id }, child, stop);
	}

	/** The agent and its descendants have settled when this returns; cleanup continues in the background. */
	stop(id: string, stop: Stop): void {
		const below: Stop = { ...stop, by: stop.by === "shutdown" ? "shutdown" : "parent" };
		const targets = [id, ...this.tree.descendantsOf(id).map((record) => record.id)].flatMap(
			(each) => this.live(each) ?? [],
		);
		// Queued ones first: a freed slot must not start one that is about to be stopped.
		for (const live of targets.filter(({ run }) => !run)) this.#stopOne(live, live.id === id ? stop : below);
		for (const live of targets) this.#stopOne(live, live.id === id ? stop : below);
	}

	/** The session's budget is another one: runs that may continue without us are told. */
	limitAlone(): void {
		for (const live of this.liveAgents()) this.#checkpoints.limitAlone(live);
	}

	/** Stops all agents except those that outlive us, which are detached unsettled. */
	close(stop: Stop): void {
		for (const live of this.liveAgents().filter(({ run }) => !run)) this.#stopOne(live, stop);
		// Before the others end: a question for one of them would be answered with `nobody`.
		const outliving = this.liveAgents().filter(({ spec, run }) => spec.outlives && run?.detach);
		for (const live of outliving) this.#checkpoints.limitAlone(live);
		for (const live of outliving) if (live.run) this.#detach(live, live.run);
		for (const live of this.liveAgents()) this.#stopOne(live, stop);
		for (const run of this.#stopping) run.hurry?.();
	}

	steer(live: LiveAgent, message: string): void {
		this.dispatch(live.id, { type: "agent_steered", message });
		this.whenRunning(live, (run) => run.steer(message));
	}

	/** Now, or as soon as the run has started. */
	whenRunning(live: LiveAgent, say: (run: Run) => void): void {
		if (live.spec.retry) live.messages.push(say);
		if (live.run) say(live.run);
		else live.early.push(say);
	}

	/** How long an agent has been running, by the steady clock. Undefined if it has not started or has settled. */
	elapsedMs(id: string): number | undefined {
		return this.live(id)?.watchdog.elapsedMs;
	}

	/** `at` is when it happened, if that was not now. */
	dispatch(id: string, event: LifeCycleEvent | ChildEvent, { at }: { at?: number } = {}): void {
		const { store, clock } = this.#options;
		const live = this.live(id);
		const run = live?.spec.run ?? store.record(id)?.run ?? 1;
		const now = clock.now();
		const steadyAt = this.#steady.now() - (now - (at ?? now));
		if (event.type === "agent_started") live?.watchdog.begin(steadyAt);
		else live?.watchdog.move(steadyAt);
		store.dispatch({ ...event, agentId: id, run, seq: store.seq + 1, at: Math.floor(at ?? now) });
	}

	#add(spec: LiveAgent["spec"], { sparedMs }: { sparedMs?: number } = {}): LiveAgent {
		const { agentId: id, limits } = spec;
		const isElsewhere = this.#keepsTime(spec) === "elsewhere";
		const watchdog = new Watchdog({
			clock: this.#steady,
			limits: isElsewhere ? backstopOf(limits) : limits,
			activity: () => (this.#keepsTime(spec) === true ? undefined : this.#options.store.record(id)),
			quietMs: () => this.live(id)?.run?.quietMs,
			onLate: (stop) => this.stop(id, isElsewhere ? endedHere(stop) : stop),
			...defined({ sparedMs }),
		});
		const live = newLiveAgent(spec, watchdog);
		this.#liveAgents.add(live);
		return live;
	}

	/** Whether its runner enforces the time limits. */
	#keepsTime({ runner }: RunSpec): Runner["keepsTime"] {
		return this.#options.runners[runner]?.keepsTime;
	}

	#start(id: string): void {
		const live = this.live(id);
		const ending = this.#cleanups.of(id);
		// The previous run is still cleaning up, perhaps the same files.
		if (ending) return void ending.then(() => this.#start(id));
		const runner = live && this.#options.runners[live.spec.runner];
		if (!runner || live.run) return;
		this.#checkpoints.open(id);
		this.dispatch(id, { type: "agent_started" });
		if (live.stop) return; // a listener stopped it meanwhile
		this.#follow(live, {
			begin: (emit, checkpoint) => runner.start(this.#startSpec(live), emit, checkpoint),
			onError: (error) => ({ status: "failed", error }),
		});
	}

	/** What was allowed when it was launched may not be when it starts. */
	#startSpec({ spec, hasWaited }: LiveAgent): LiveAgent["spec"] {
		return hasWaited ? { ...spec, ...this.#options.recheck(spec) } : spec;
	}

	#follow(
		live: LiveAgent,
		{ begin, onError }: { begin: (emit: Emit, checkpoint: Checkpoint) => Run; onError: (error: string) => Outcome },
	): void {
		try {
			live.run = begin(
				(event, at) => this.#observe(live, event, at),
				() => this.#checkpoints.pass(live),
			);
		} catch (error) {
			this.#settle(live, onError(messageOf(error)));
			return;
		}
		if (live.stop) this.#cleanUp(live, live.run, live.stop); // a listener stopped it on its first event
		for (const say of live.early.splice(0)) say(live.run);
		live.run.onReach?.((isReached) => live.watchdog.setSeen(isReached));
		this.#checkpoints.limitAlone(live);
		live.watchdog.watch();
		const isOver = (outcome: Outcome) => {
			if (!this.#liveAgents.has(live)) return;
			if (live.spec.retry) void this.#startOver(live, outcome).then((isAgain) => isAgain || this.#end(live, outcome));
			else this.#end(live, outcome);
		};
		// By contract this cannot reject; a runner that breaks it must not leave its agent running forever.
		live.run.settled.then(isOver, (error) => isOver({ status: "aborted", by: "lost", reason: messageOf(error) }));
	}

	#end(live: LiveAgent, outcome: Outcome): void {
		this.#settle(live, outcome);
		// Its children report to it alone, so their results would reach no one.
		const reason = "the agent that launched it has ended";
		for (const { id } of this.tree.childrenOf(live.id)) this.stop(id, { by: "parent", reason });
	}

	/** Whether it runs again: then this was not its end. Its budget counts on; its turns and its time start at zero. */
	async #startOver(live: LiveAgent, outcome: Outcome): Promise<boolean> {
		const { spec, run } = live;
		const runner = this.#options.runners[spec.runner];
		if (!runner || !(await run?.startOver?.(outcome).catch(() => false))) return false;
		if (!this.#liveAgents.has(live)) return true; // it was stopped meanwhile
		live.watchdog.startOver();
		live.early.push(...live.messages);
		live.hasWaited = true;
		const again = (emit: Emit, checkpoint: Checkpoint) => {
			const next = runner.start(this.#startSpec(live), emit, checkpoint);
			if (run?.granted) next.granted = run.granted;
			return next;
		};
		this.#follow(live, { begin: again, onError: (error) => ({ status: "failed", error }) });
		return true;
	}

	#stopOne(live: LiveAgent, stop: Stop): void {
		if (!this.#liveAgents.has(live)) return; // it settled before
		live.stop = stop;
		const said = live.run?.partial ?? live.said;
		if (live.run) this.#cleanUp(live, live.run, stop);
		const worktree = live.run?.worktree;
		this.#settle(live, { ...abortedOutcome(stop, said), ...defined({ worktree }) });
	}

	#cleanUp({ id }: Pick<LiveAgent, "id">, run: Run, stop: Stop): void {
		const isOver = () => this.#stopping.delete(run);
		this.#stopping.add(run);
		run.settled.then(isOver, isOver);
		this.#cleanups.add(id, run.settled);
		run.abort(stop);
	}

	#observe(live: LiveAgent, event: ChildEvent, at?: number): void {
		if (!this.#liveAgents.has(live)) return; // late event of a settled run
		const now = this.#options.clock.now();
		const happenedAt = Math.min(at ?? now, now); // an event cannot be in the future
		const age = now - happenedAt;
		// The clock of another machine says nothing about when it moved.
		const steadyAt = this.#steady.now() - (this.#keepsTime(live.spec) === "elsewhere" ? 0 : age);
		if (event.type === "assistant_text" && event.text.trim() !== "") live.said = event.text;
		if (event.type === "usage") this.#checkpoints.spend(live.id, event.usage);
		if (event.type === "retrying" || event.type === "assistant_text")
			this.#checkpoints.observe(live, event, happenedAt, age);
		this.dispatch(live.id, event, { at: happenedAt });
		if (event.type === "usage") this.#options.session.budget.notice();
		live.watchdog.observe(event, steadyAt);
	}

	#settle(live: LiveAgent, outcome: Outcome): void {
		if (!this.#liveAgents.has(live)) return;
		const durationMs = live.run?.durationMs ?? this.elapsedMs(live.id);
		this.#release(live);
		// Before listeners hear of it: one may resume the agent, which takes a slot.
		this.slots.release(live.id);
		this.dispatch(live.id, { type: "agent_settled", outcome, ...defined({ durationMs }) });
		for (const waiter of live.waiters) waiter.resolve(outcome);
	}

	/** The run first, so that it does not see what ends here because of it. */
	#detach(live: LiveAgent, run: Run): void {
		if (!this.#liveAgents.has(live)) return;
		this.#cleanups.add(live.id, run.detach?.());
		this.#release(live);
		this.slots.release(live.id);
		const message = `The session is ending. Agent ${live.id} continues without it.`;
		for (const waiter of live.waiters) waiter.reject(new AgentError("shut_down", message));
	}

	/** Ends everything that waits for it or on its behalf. */
	#release(live: LiveAgent): void {
		this.#liveAgents.remove(live);
		live.watchdog.close();
		live.abort.abort(OVER);
		live.question?.answer({ by: "nobody" });
		for (const waiter of live.waiters) waiter.takeBack();
	}
}
