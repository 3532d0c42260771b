/**
 * Carries live agents from the queue to their end: slots, runner, events, deadlines, checkpoints, and one settlement.
 * Private to the manager, which says what may be asked of an agent; here is how it is done.
 */
import type { AssistantText, ChildEvent, Outcome, Usage } from "@pi-subagents/progress";
import { messageOf } from "./best-effort.ts";
import { overrun } from "./budget.ts";
import type { Clock } from "./clock.ts";
import { nextDeadline } from "./deadlines.ts";
import { AgentError } from "./error.ts";
import type { AgentIdentity, LifeCycleEvent, RunnerName } from "./event.ts";
import { Family } from "./family.ts";
import { type LiveAgent, newLiveAgent } from "./live.ts";
import { abortedOutcome } from "./outcome.ts";
import { RateGate } from "./rate-gate.ts";
import { isRateLimit, rateLimitOf } from "./rate-gate-text.ts";
import type { AgentRecord } from "./record.ts";
import type { Limits, Run, Runner, RunSpec, Stop } from "./runner.ts";
import { Slots } from "./slots.ts";
import type { SlotLimits } from "./slots-limits.ts";
import type { Store } from "./store.ts";
import { addUsage, NO_USAGE } from "./usage.ts";

export interface ConductorOptions {
	store: Store;
	runners: Partial<Record<RunnerName, Runner>>;
	clock: Clock;
	random: () => number;
	slots: SlotLimits;
	/** Somebody's budget is used up. Resolves with the limits to go on with, or undefined to end. */
	extendBudget: (
		agent: AgentRecord,
		used: string,
		extended: Limits,
		signal: AbortSignal,
	) => Promise<Limits | undefined>;
}

/** When a provider says "too fast" without saying how long. */
const PAUSE_MS = 5_000;

export class Conductor {
	readonly slots: Slots;
	readonly family: Family;
	readonly #options: ConductorOptions;
	readonly #gate: RateGate;
	readonly #live = new Map<string, LiveAgent>();
	/** Of each agent with all below it. */
	readonly #treeUsage = new Map<string, Usage>();

	constructor(options: ConductorOptions) {
		this.#options = options;
		this.family = new Family(options.store);
		this.#gate = new RateGate({ clock: options.clock, random: options.random });
		this.slots = new Slots({ limits: options.slots, gate: this.#gate, onGrant: (id) => this.#start(id) });
	}

	live(id: string): LiveAgent | undefined {
		return this.#live.get(id);
	}

	lives(): LiveAgent[] {
		return [...this.#live.values()];
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
		const { parentAgentId, isBackground } = identity;
		const slot = this.slots.request({
			id,
			provider: providerOf(spec.model),
			model: spec.model,
			isForeground: !isBackground,
			...(parentAgentId === undefined ? {} : { parentId: parentAgentId }),
		});
		if (typeof slot === "object") {
			this.#live.delete(id);
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
		for (const record of this.family.descendantsOf(id)) this.#stopOne(record.id, below);
		this.#stopOne(id, stop);
	}

	#stopOne(id: string, stop: Stop): void {
		const live = this.#live.get(id);
		if (!live) return; // it settled before
		live.stop = stop;
		this.#settle(id, abortedOutcome(stop, live.said));
		live.run?.abort(stop);
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
		if (!record || !this.#live.has(live.id)) return;
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
		this.dispatch(id, { type: "agent_started" });
		if (!live || live.stop) return; // a listener stopped it meanwhile
		const run = this.#options.store.record(id)?.run ?? 1;
		try {
			live.run = live.runner.start(
				{ ...live.spec, agentId: id, run },
				(event) => this.#observe(live, event),
				() => this.#checkpoint(live),
			);
		} catch (error) {
			this.#settle(id, { status: "failed", error: messageOf(error) });
			return;
		}
		if (live.stop) live.run.abort(live.stop); // its first event made somebody stop it
		for (const say of live.early.splice(0)) say(live.run);
		this.watch(live);
		const isOver = (outcome: Outcome) => this.#settle(id, outcome);
		// The contract says that this cannot reject; a runner that breaks it must not leave its agent running for ever.
		live.run.settled.then(isOver, (error) => isOver({ status: "aborted", by: "lost", reason: messageOf(error) }));
	}

	#observe(live: LiveAgent, event: ChildEvent): void {
		if (!this.#live.has(live.id)) return; // late news of a settled run
		const now = this.#options.clock.now();
		if (isSpoken(event)) live.said = event.text;
		if (event.type === "usage") this.#count(live.id, event.usage);
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
		await this.#gate.whenOpen(providerOf(live.spec.model), live.abort.signal);
		const { store } = this.#options;
		for (const { id } of [{ id: live.id }, ...this.family.ancestorsOf(live.id)]) {
			const payer = this.#live.get(id);
			const record = store.record(id);
			const over = payer && overrun(this.#treeUsage.get(id) ?? NO_USAGE, payer.limits);
			if (!payer || !record || !over) continue;
			const limits = await this.#options.extendBudget(record, over.used, over.extended, live.abort.signal);
			if (!limits) {
				this.stop(id, { by: "budget", reason: `it used ${over.used}` });
				return "end";
			}
			payer.limits = limits;
		}
		return "go";
	}

	#count(id: string, usage: Usage): void {
		for (const each of [id, ...this.family.ancestorsOf(id).map((record) => record.id)]) {
			this.#treeUsage.set(each, addUsage(this.#treeUsage.get(each) ?? NO_USAGE, usage));
		}
	}

	#settle(id: string, outcome: Outcome): void {
		const live = this.#live.get(id);
		if (!live) return;
		this.#live.delete(id);
		live.cancelDeadline?.();
		live.abort.abort();
		live.question?.answer({ by: "nobody" });
		this.dispatch(id, { type: "agent_settled", outcome });
		for (const waiter of live.waiters) waiter.takeBack();
		this.slots.release(id);
		for (const waiter of live.waiters) waiter.resolve(outcome);
	}
}

/** `provider` of `provider/id`. */
function providerOf(model: string): string {
	return model.slice(0, Math.max(0, model.indexOf("/")));
}

function isSpoken(event: ChildEvent): event is AssistantText {
	return event.type === "assistant_text" && event.text.trim() !== "";
}
