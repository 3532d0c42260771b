/**
 * Carries live agents from the queue to their end: slots, runner, events, deadlines, checkpoints, and one settlement.
 * Private to the manager, which says what may be asked of an agent; here is how it is done.
 */
import type { AssistantText, ChildEvent, Outcome } from "@pi-subagents/progress";
import { messageOf } from "./best-effort.ts";
import { type Clock, steadyClock } from "./clock.ts";
import { speaksAnew } from "./deadlines.ts";
import { AgentError } from "./error.ts";
import type { LifeCycleEvent, RunnerName } from "./event.ts";
import { Family } from "./family.ts";
import { type AdoptedRun, identityOf, type LiveAgent, LiveAgents, newLiveAgent, type Place } from "./live.ts";
import { splitModelName } from "./models.ts";
import { abortedOutcome } from "./outcome.ts";
import { type MayExtend, Purse } from "./purse.ts";
import { RateGate } from "./rate-gate.ts";
import { isRateLimit, rateLimitOf } from "./rate-gate-text.ts";
import { type Checkpoint, type Emit, type Run, type Runner, type RunSpec, runIdOf, type Stop } from "./runner.ts";
import { Slots } from "./slots.ts";
import type { SlotLimits } from "./slots-limits.ts";
import type { Store } from "./store.ts";
import { Watchdog } from "./watchdog.ts";

export interface ConductorOptions {
	store: Store;
	runners: Partial<Record<RunnerName, Runner>>;
	clock: Clock;
	random: () => number;
	slots: SlotLimits;
	mayExtend: MayExtend;
}

/** When a provider says "too fast" without saying how long. */
const PAUSE_MS = 5_000;

/** Why nothing waits for an agent any more. Words, no error: to make one, with its stack, is dear. */
const OVER = "the agent has settled";

/** How long reading what a rejoined run did meanwhile may take before its limits on time count. */
const CATCH_UP_MS = 10_000;

export class Conductor {
	readonly slots: Slots;
	readonly family: Family;
	readonly #options: ConductorOptions;
	/** Of the time that passes: for all that is too slow, or has to wait. */
	readonly #steady: Clock;
	readonly #gate: RateGate;
	readonly #lives: LiveAgents;
	readonly #watchdog: Watchdog;
	readonly #purse: Purse;
	/** Children of settled runs that still clean up, by agent. */
	readonly #endings = new Map<string, Promise<unknown>>();

	constructor(options: ConductorOptions) {
		const { clock, store } = options;
		this.#options = options;
		const steady = steadyClock(clock);
		this.#steady = steady;
		this.family = new Family(store);
		this.#lives = new LiveAgents(clock);
		const onLate = (id: string, stop: Stop) => this.stop(id, stop);
		const isKept = ({ spec }: LiveAgent) => options.runners[spec.runner]?.keepsTime === true;
		this.#watchdog = new Watchdog({ clock: steady, store, lives: this.#lives, isKept, onLate });
		this.#purse = new Purse({ conductor: this, store, mayExtend: options.mayExtend });
		this.#gate = new RateGate({ clock: steady, random: options.random });
		this.slots = new Slots({ limits: options.slots, gate: this.#gate, onGrant: (id) => this.#start(id) });
	}

	live(id: string): LiveAgent | undefined {
		return this.#lives.get(id);
	}

	lives(): LiveAgent[] {
		return this.#lives.all();
	}

	/** Resolves when the children of all settled runs are gone. */
	async cleanedUp(): Promise<void> {
		await Promise.all(this.#endings.values());
	}

	/** The agent rightly waits for something; no limit on its time counts until the returned function is called. */
	hold(live: LiveAgent): () => void {
		return this.#watchdog.hold(live);
	}

	/** Refused launches leave no trace. Of any other, those who listen hear before its runner does. */
	queue(id: string, spec: RunSpec, place: Place): void {
		if (!this.#options.runners[spec.runner])
			throw new AgentError("unknown_runner", `There is no "${spec.runner}" runner here.`);
		const run = (this.#options.store.record(id)?.run ?? 0) + 1;
		const identity = { agentId: id, run };
		const artifacts = spec.runsDir === undefined ? {} : { artifacts: `${spec.runsDir}/${runIdOf(identity)}` };
		const live = newLiveAgent({ ...spec, ...identity, ...artifacts });
		this.#lives.add(live);
		const slot = this.slots.request({
			id,
			provider: providerOf(spec.model),
			model: spec.model,
			isForeground: !place.isBackground,
			...(place.parentAgentId === undefined ? {} : { parentId: place.parentAgentId }),
		});
		if (typeof slot === "object") {
			this.#lives.remove(live);
			throw new AgentError("slots_full", slot.refused);
		}
		this.#announce(live, place);
		if (slot === "granted") this.#start(id);
	}

	/** It takes no slot: it runs whatever the limits say, and must not keep new agents from starting, perhaps for hours. */
	adopt({ id, run, spec, queuedAt, startedAt = queuedAt, artifacts, ...place }: AdoptedRun): void {
		const live = newLiveAgent({ ...spec, agentId: id, run, artifacts });
		live.restedAt = this.#steady.now();
		live.sparedUntil = live.restedAt + CATCH_UP_MS;
		this.#lives.add(live);
		this.#announce(live, place, queuedAt);
		this.#purse.open(id);
		this.dispatch(id, { type: "agent_started" }, { at: startedAt });
		// Also if somebody who listens has stopped it already: only who has joined it can end its process.
		this.#join(live, {
			begin: (emit, checkpoint) => {
				const runner = this.#options.runners[spec.runner];
				if (!runner?.attach) throw new Error(`there is no "${spec.runner}" runner here that could rejoin it`);
				return runner.attach({ ...live.spec, artifacts }, emit, checkpoint);
			},
			onError: (reason) => ({ status: "aborted", by: "lost", reason }),
		});
	}

	/** The agent and all below it have settled when this returns; what they used is cleaned up behind them. */
	stop(id: string, stop: Stop): void {
		const below: Stop = { ...stop, by: stop.by === "shutdown" ? "shutdown" : "parent" };
		const doomed = [id, ...this.family.descendantsOf(id).map((record) => record.id)].flatMap(
			(each) => this.live(each) ?? [],
		);
		// The queued first: a slot that becomes free must not start one that is about to be stopped.
		for (const live of doomed.filter(({ run }) => !run)) this.#stopOne(live, live.id === id ? stop : below);
		for (const live of doomed) this.#stopOne(live, live.id === id ? stop : below);
	}

	/** Stops all, except those that live on without us: these are let go, unsettled. */
	close(stop: Stop): void {
		for (const live of this.lives().filter(({ run }) => !run)) this.#stopOne(live, stop);
		// Before the others end: a question that one of those was to answer would be told that nobody does.
		for (const live of this.lives()) if (live.spec.outlives && live.run?.detach) this.#letGo(live, live.run);
		for (const live of this.lives()) this.#stopOne(live, stop);
	}

	steer(live: LiveAgent, message: string): void {
		this.dispatch(live.id, { type: "agent_steered", message });
		this.tell(live, (run) => run.steer(message));
	}

	/** Now, or when it can hear. */
	tell(live: LiveAgent, say: (run: Run) => void): void {
		if (live.run) say(live.run);
		else live.early.push(say);
	}

	/** `at` is when it happened, if that was not now. */
	dispatch(id: string, event: LifeCycleEvent | ChildEvent, { at }: { at?: number } = {}): void {
		const { store, clock } = this.#options;
		const live = this.live(id);
		const run = live?.spec.run ?? store.record(id)?.run ?? 1;
		const now = clock.now();
		if (live) {
			live.movedAt = this.#steady.now() - (now - (at ?? now));
			if (event.type === "agent_started") live.beganAt = live.movedAt;
		}
		store.dispatch({ ...event, agentId: id, run, seq: store.seq + 1, at: at ?? now });
	}

	#announce(live: LiveAgent, place: Place, at = this.#options.clock.now()): void {
		this.dispatch(live.id, { type: "agent_queued", agent: identityOf(live, place) }, { at });
	}

	#start(id: string): void {
		const live = this.live(id);
		const ending = this.#endings.get(id);
		// The run before still cleans up, perhaps in the same files.
		if (ending) return void ending.then(() => this.#start(id));
		const runner = live && this.#options.runners[live.spec.runner];
		if (!runner || live.run) return;
		this.#purse.open(id);
		this.dispatch(id, { type: "agent_started" });
		if (live.stop) return; // a listener stopped it meanwhile
		this.#join(live, {
			begin: (emit, checkpoint) => runner.start(live.spec, emit, checkpoint),
			onError: (error) => ({ status: "failed", error }),
		});
	}

	#join(
		live: LiveAgent,
		{ begin, onError }: { begin: (emit: Emit, checkpoint: Checkpoint) => Run; onError: (error: string) => Outcome },
	): void {
		try {
			live.run = begin(
				(event, at) => this.#observe(live, event, at),
				() => this.#checkpoint(live),
			);
		} catch (error) {
			this.#settle(live, onError(messageOf(error)));
			return;
		}
		if (live.stop) this.#cleanUp(live, live.run, live.stop); // its first event made somebody stop it
		for (const say of live.early.splice(0)) say(live.run);
		this.#watchdog.watch(live);
		const isOver = (outcome: Outcome) => {
			if (!this.#lives.has(live)) return;
			this.#settle(live, outcome);
			// What it launched reports to it alone: nobody would ever hear of them.
			const reason = "the agent that launched it has ended";
			for (const { id } of this.family.childrenOf(live.id)) this.stop(id, { by: "parent", reason });
		};
		// The contract says that this cannot reject; a runner that breaks it must not leave its agent running for ever.
		live.run.settled.then(isOver, (error) => isOver({ status: "aborted", by: "lost", reason: messageOf(error) }));
	}

	#stopOne(live: LiveAgent, stop: Stop): void {
		if (!this.#lives.has(live)) return; // it settled before
		live.stop = stop;
		if (live.run) this.#cleanUp(live, live.run, stop);
		const worktree = live.run?.worktree;
		this.#settle(live, { ...abortedOutcome(stop, live.said), ...(worktree ? { worktree } : {}) });
	}

	#cleanUp({ id }: LiveAgent, run: Run, stop: Stop): void {
		this.#whenOver(id, run.settled);
		run.abort(stop);
	}

	/** Whoever ends waits for what is still done for the agent, and so does its next run. */
	#whenOver(id: string, work: Promise<unknown> | undefined): void {
		const forget = () => this.#endings.delete(id);
		if (work) this.#endings.set(id, work.then(forget, forget));
	}

	#observe(live: LiveAgent, event: ChildEvent, at?: number): void {
		if (!this.#lives.has(live)) return; // late news of a settled run
		const now = this.#options.clock.now();
		const happenedAt = Math.min(at ?? now, now); // nothing has happened yet that is still to come
		const age = now - happenedAt;
		if (isSpoken(event)) live.said = event.text;
		if (event.type === "usage") this.#purse.spend(live.id, event.usage);
		if (speaksAnew(event)) live.tools.clear();
		if (event.type === "tool_call")
			live.tools.set(event.callId ?? event.tool, { tool: event.tool, startedAt: this.#steady.now() - age });
		if (event.type === "tool_result") live.tools.delete(event.callId ?? event.tool);
		const trouble = event.type === "retrying" || event.type === "assistant_text" ? event.error : undefined;
		if (trouble && isRateLimit(trouble)) {
			const pauseMs = rateLimitOf(trouble, happenedAt) ?? PAUSE_MS;
			this.#gate.pause(this.#providerOf(live), this.#steady.now() - age + pauseMs);
		}
		this.dispatch(live.id, event, { at: happenedAt });
		if (event.type === "tool_call" && live.limits.toolTimeoutMs !== undefined) this.#watchdog.watch(live);
	}

	/** Between two turns: wait while the provider wants a pause, and stop for who pays. */
	async #checkpoint(live: LiveAgent): Promise<"go" | "end"> {
		const goOn = this.hold(live);
		try {
			await this.#gate.whenOpen(this.#providerOf(live), live.abort.signal);
			for (const id of [live.id, ...this.family.ancestorsOf(live.id).map((record) => record.id)]) {
				if (!(await this.#purse.isPaid(live, id))) return "end";
			}
			return "go";
		} finally {
			goOn();
		}
	}

	/** Whom it asks now: it may have gone on with another model. */
	#providerOf({ id, spec }: LiveAgent): string {
		return providerOf(this.#options.store.record(id)?.model ?? spec.model);
	}

	#settle(live: LiveAgent, outcome: Outcome): void {
		if (!this.#lives.has(live)) return;
		this.#forget(live);
		// Before anybody hears of it: a listener may resume the agent, and that takes a slot of its own.
		this.slots.release(live.id);
		this.dispatch(live.id, { type: "agent_settled", outcome });
		for (const waiter of live.waiters) waiter.resolve(outcome);
	}

	/** First of all the run, so that it hears nothing of what ends here because of it. */
	#letGo(live: LiveAgent, run: Run): void {
		if (!this.#lives.has(live)) return;
		this.#whenOver(live.id, run.detach?.());
		this.#forget(live);
		this.slots.release(live.id);
		const message = `The session is ending. Agent ${live.id} goes on without it.`;
		for (const waiter of live.waiters) waiter.reject(new AgentError("shut_down", message));
	}

	/** Ends all that waits for it, or on its behalf. */
	#forget(live: LiveAgent): void {
		this.#lives.remove(live);
		live.cancelDeadline?.();
		live.abort.abort(OVER);
		live.question?.answer({ by: "nobody" });
		for (const waiter of live.waiters) waiter.takeBack();
	}
}

function providerOf(model: string): string {
	return splitModelName(model).provider;
}

function isSpoken(event: ChildEvent): event is AssistantText {
	return event.type === "assistant_text" && event.text.trim() !== "";
}
