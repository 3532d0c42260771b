/**
 * Carries live agents from the queue to their end: slots, runner, events, deadlines, checkpoints, and one settlement.
 * Private to the manager, which says what may be asked of an agent; here is how it is done.
 */
import type { AssistantText, ChildEvent, Outcome } from "@pi-subagents/progress";
import { messageOf } from "./best-effort.ts";
import type { Clock } from "./clock.ts";
import { nextDeadline } from "./deadlines.ts";
import { AgentError } from "./error.ts";
import type { AgentIdentity, LifeCycleEvent, RunnerName } from "./event.ts";
import { Family } from "./family.ts";
import { type LiveAgent, newLiveAgent } from "./live.ts";
import { splitModelName } from "./models.ts";
import { abortedOutcome } from "./outcome.ts";
import { type MayExtend, Purse } from "./purse.ts";
import { RateGate } from "./rate-gate.ts";
import { isRateLimit, rateLimitOf } from "./rate-gate-text.ts";
import type { Run, Runner, RunSpec, Stop } from "./runner.ts";
import { Slots } from "./slots.ts";
import type { SlotLimits } from "./slots-limits.ts";
import type { Store } from "./store.ts";

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

export class Conductor {
	readonly slots: Slots;
	readonly family: Family;
	readonly #options: ConductorOptions;
	readonly #gate: RateGate;
	readonly #live = new Map<string, LiveAgent>();
	readonly #purse: Purse;
	/** Children of settled runs that still clean up, by agent. */
	readonly #endings = new Map<string, Promise<unknown>>();
	#letGo: (() => void) | undefined;

	constructor(options: ConductorOptions) {
		this.#options = options;
		this.family = new Family(options.store);
		this.#purse = new Purse({ conductor: this, store: options.store, mayExtend: options.mayExtend });
		this.#gate = new RateGate({ clock: options.clock, random: options.random });
		this.slots = new Slots({ limits: options.slots, gate: this.#gate, onGrant: (id) => this.#start(id) });
	}

	live(id: string): LiveAgent | undefined {
		return this.#live.get(id);
	}

	lives(): LiveAgent[] {
		return [...this.#live.values()];
	}

	/** Resolves when the children of all settled runs are gone. */
	async cleanedUp(): Promise<void> {
		await Promise.all(this.#endings.values());
	}

	/** The agent rightly waits for something; no limit on its time counts until the returned function is called. */
	hold(live: LiveAgent): () => void {
		live.holds++;
		this.watch(live);
		let isOver = false;
		return () => {
			if (isOver) return;
			isOver = true;
			live.holds--;
			live.restedAt = this.#options.clock.now();
			this.watch(live);
		};
	}

	/** Refused launches leave no trace. */
	queue(
		id: string,
		spec: RunSpec,
		identity: Pick<AgentIdentity, "name" | "parentAgentId" | "depth" | "isBackground">,
	): void {
		const runner = this.#options.runners[spec.runner];
		if (!runner) throw new AgentError("unknown_runner", `There is no "${spec.runner}" runner here.`);
		const live = newLiveAgent(id, runner, spec);
		this.#live.set(id, live);
		this.#letGo ??= this.#options.clock.hold?.();
		const { parentAgentId, isBackground } = identity;
		const slot = this.slots.request({
			id,
			provider: providerOf(spec.model),
			model: spec.model,
			isForeground: !isBackground,
			...(parentAgentId === undefined ? {} : { parentId: parentAgentId }),
		});
		if (typeof slot === "object") {
			this.#forget(live);
			throw new AgentError("slots_full", slot.refused);
		}
		const { type, description, task, cwd, runner: name, model, limits } = spec;
		const turns = limits.maxTurns === undefined ? {} : { maxTurns: limits.maxTurns };
		const run = (this.#options.store.record(id)?.run ?? 0) + 1;
		this.dispatch(
			id,
			{ type: "agent_queued", agent: { ...identity, type, description, task, cwd, runner: name, model, ...turns } },
			run,
		);
		if (slot === "granted") this.#start(id);
	}

	/** The agent and all below it have settled when this returns; what they used is cleaned up behind them. */
	stop(id: string, stop: Stop): void {
		const below: Stop = { ...stop, by: stop.by === "shutdown" ? "shutdown" : "parent" };
		const doomed = [id, ...this.family.descendantsOf(id).map((record) => record.id)].flatMap(
			(each) => this.#live.get(each) ?? [],
		);
		// The queued first: a slot that becomes free must not start one that is about to be stopped.
		for (const live of doomed.filter(({ run }) => !run)) this.#stopOne(live, live.id === id ? stop : below);
		for (const live of doomed) this.#stopOne(live, live.id === id ? stop : below);
	}

	stopAll(stop: Stop): void {
		for (const live of this.lives().sort((a, b) => Number(!!a.run) - Number(!!b.run))) this.#stopOne(live, stop);
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

	dispatch(id: string, event: LifeCycleEvent | ChildEvent, run = this.#options.store.record(id)?.run ?? 1): void {
		const { store, clock } = this.#options;
		store.dispatch({ ...event, agentId: id, run, seq: store.seq + 1, at: clock.now() });
	}

	/** Sets the timer of the agent's next deadline anew, after something that moved it. */
	watch(live: LiveAgent): void {
		live.cancelDeadline?.();
		const record = this.#options.store.record(live.id);
		if (!record || this.#live.get(live.id) !== live) return;
		const deadline = nextDeadline(record, live.limits, live);
		const { clock } = this.#options;
		if (!deadline) return;
		live.cancelDeadline = clock.after(Math.max(0, deadline.at - clock.now()), () => {
			// Events only move deadlines away, so most timers find that theirs has moved, and go on.
			const due = nextDeadline(this.#options.store.record(live.id) ?? record, live.limits, live);
			if (due && due.at <= clock.now()) this.stop(live.id, due.stop);
			else this.watch(live);
		});
	}

	#start(id: string): void {
		const live = this.#live.get(id);
		const ending = this.#endings.get(id);
		// The run before still cleans up, perhaps in the same files.
		if (ending) return void ending.then(() => this.#start(id));
		if (!live || live.run) return;
		this.#purse.open(id);
		this.dispatch(id, { type: "agent_started" });
		if (live.stop) return; // a listener stopped it meanwhile
		const run = this.#options.store.record(id)?.run ?? 1;
		const checkpoint = () => this.#checkpoint(live);
		try {
			live.run = live.runner.start(
				{ ...live.spec, agentId: id, run },
				(event) => this.#observe(live, event),
				checkpoint,
			);
		} catch (error) {
			this.#settle(live, { status: "failed", error: messageOf(error) });
			return;
		}
		if (live.stop) this.#cleanUp(live, live.run, live.stop); // its first event made somebody stop it
		for (const say of live.early.splice(0)) say(live.run);
		this.watch(live);
		const isOver = (outcome: Outcome) => this.#settle(live, outcome);
		// The contract says that this cannot reject; a runner that breaks it must not leave its agent running for ever.
		live.run.settled.then(isOver, (error) => isOver({ status: "aborted", by: "lost", reason: messageOf(error) }));
	}

	#stopOne(live: LiveAgent, stop: Stop): void {
		if (this.#live.get(live.id) !== live) return; // it settled before
		live.stop = stop;
		if (live.run) this.#cleanUp(live, live.run, stop);
		this.#settle(live, abortedOutcome(stop, live.said));
	}

	#cleanUp({ id }: LiveAgent, run: Run, stop: Stop): void {
		const ending = run.settled.then(
			() => this.#endings.delete(id),
			() => this.#endings.delete(id),
		);
		this.#endings.set(id, ending);
		run.abort(stop);
	}

	#observe(live: LiveAgent, event: ChildEvent): void {
		if (this.#live.get(live.id) !== live) return; // late news of a settled run
		const now = this.#options.clock.now();
		if (isSpoken(event)) live.said = event.text;
		if (event.type === "usage") this.#purse.spend(live.id, event.usage);
		if (event.type === "tool_call") live.tools.set(event.callId ?? event.tool, { tool: event.tool, startedAt: now });
		if (event.type === "tool_result") live.tools.delete(event.callId ?? event.tool);
		const trouble = event.type === "retrying" || event.type === "assistant_text" ? event.error : undefined;
		if (trouble && isRateLimit(trouble)) {
			this.#gate.pause(providerOf(live.spec.model), now + (rateLimitOf(trouble, now) ?? PAUSE_MS));
		}
		this.dispatch(live.id, event);
		if (event.type === "tool_call" && live.limits.toolTimeoutMs !== undefined) this.watch(live);
	}

	/** Between two turns: wait while the provider wants a pause, and stop for who pays. */
	async #checkpoint(live: LiveAgent): Promise<"go" | "end"> {
		const goOn = this.hold(live);
		try {
			await this.#gate.whenOpen(providerOf(live.spec.model), live.abort.signal);
			for (const id of [live.id, ...this.family.ancestorsOf(live.id).map((record) => record.id)]) {
				if (!(await this.#purse.isPaid(live, id))) return "end";
			}
			return "go";
		} finally {
			goOn();
		}
	}

	#settle(live: LiveAgent, outcome: Outcome): void {
		if (this.#live.get(live.id) !== live) return;
		this.#forget(live);
		live.cancelDeadline?.();
		live.abort.abort();
		live.question?.answer({ by: "nobody" });
		for (const waiter of live.waiters) waiter.takeBack();
		// Before anybody hears of it: a listener may resume the agent, and that takes a slot of its own.
		this.slots.release(live.id);
		this.dispatch(live.id, { type: "agent_settled", outcome });
		for (const waiter of live.waiters) waiter.resolve(outcome);
	}

	#forget({ id }: LiveAgent): void {
		this.#live.delete(id);
		if (this.#live.size > 0) return;
		this.#letGo?.();
		this.#letGo = undefined;
	}
}

function providerOf(model: string): string {
	return splitModelName(model).provider;
}

function isSpoken(event: ChildEvent): event is AssistantText {
	return event.type === "assistant_text" && event.text.trim() !== "";
}
