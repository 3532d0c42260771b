/** One pi of a world: the real manager and the real delivery, over a session file whose model is the program. */
import { AgentError, type AgentRecord, Manager, type RunIdentity, type RunSpec, runIdOf } from "@pi-subagents/core";
import { sampleSpec } from "@pi-subagents/core/testing";
import { createDelivery, type Delivery, type SessionState } from "@pi-subagents/delivery";
import { type Observer, plannedRunner, TURN_COST } from "./child.ts";
import type { Ledger } from "./ledger.ts";
import type { Call, Plan } from "./program.ts";
import { OpenSession, type SessionFile } from "./session-file.ts";
import { calm, type ProcessClock, type WorldTime } from "./time.ts";

export interface PiOptions {
	time: WorldTime;
	file: SessionFile;
	ledger: Ledger;
	slots: number;
	newId: () => string;
}

/** How long the session's model takes for a turn. */
const TURN_MS = 1_000;

export class Pi {
	readonly manager: Manager;
	readonly session: OpenSession;
	readonly #options: PiOptions;
	readonly #clock: ProcessClock;
	readonly #delivery: Delivery;
	readonly #stateListeners: ((state: SessionState) => void)[] = [];
	readonly #arrivalListeners: ((details: unknown) => void)[] = [];
	#isBusy = false;
	#isInterrupted = false;
	#isGone = false;
	/** The turn that waits for agents, if one does. */
	#turn: AbortController | undefined;
	#messages = 0;
	#calls = 0;

	constructor(options: PiOptions) {
		const { time, file, slots, newId } = options;
		this.#options = options;
		this.#clock = time.clock();
		this.session = new OpenSession(file);
		this.manager = new Manager({
			runners: { session: plannedRunner(this.#clock, this.#observer()) },
			clock: this.#clock,
			newId,
			random: () => 0.5,
			slots: { maxConcurrent: slots, whenFull: "queue" },
		});
		this.#delivery = createDelivery({
			manager: this.manager,
			clock: this.#clock,
			sessionId: () => file.id,
			log: {
				append: (customType, data) => this.session.append({ type: "custom", customType, data }),
				entries: () => this.session.entries,
				branchIds: () => this.session.branch().map(({ id }) => id),
				reread: async () => file.entries,
			},
			messenger: {
				canSend: () => !this.#isBusy && !this.#isGone,
				send: (notification, { startsTurn }) => {
					if (startsTurn) this.#takeTurn(() => this.#arrive(notification));
					else this.session.append({ type: "custom_message", ...notification });
					return !startsTurn;
				},
				onArrived: (listener) => void this.#arrivalListeners.push(listener),
			},
			states: { onState: (listener) => void this.#stateListeners.push(listener), announce: () => this.#announce() },
		});
	}

	get isBusy(): boolean {
		return this.#isBusy;
	}

	get left(): { timers: number; holds: number } {
		return this.#clock.left();
	}

	async open(): Promise<void> {
		await this.#delivery.sessionStarted();
		this.#announce();
		await calm();
	}

	/** The user's prompt: the model makes these calls in one message, and says something when all have returned. */
	prompt(calls: readonly Call[]): void {
		if (this.#isBusy) return;
		this.#isInterrupted = false;
		this.#takeTurn(() => undefined, calls);
	}

	escape(): void {
		if (!this.#turn) return;
		this.#isInterrupted = true;
		this.#turn.abort();
	}

	/** What the user does with `/subagent`, whatever the session does. */
	userLaunches(plan: Plan): void {
		this.#launch(plan, { isBackground: true, launchedBy: "user" });
	}

	userSteers(agent: number): void {
		this.#steer(agent);
	}

	userStops(agent: number): void {
		this.#stop(agent, "user");
	}

	/** `/tree`. pi allows it when it is idle. */
	rewind(entry: number): void {
		if (this.#isBusy || this.session.entries.length === 0) return;
		this.session.leaf = this.session.entries[entry % this.session.entries.length]?.id;
		this.#delivery.branchChanged();
	}

	goTo(tip: string): void {
		this.session.leaf = tip;
		this.#delivery.branchChanged();
	}

	async quit(): Promise<void> {
		this.#stopped(this.manager.store.currentRecords());
		const ended = this.#delivery.sessionEnded();
		const shutdown = this.manager.shutdown();
		for (let waited = 0; waited < 10; waited++) await this.#options.time.pass(1_000); // what was stopped takes its time
		await Promise.all([ended, shutdown]);
		this.#isGone = true;
		this.session.abandon();
		this.#turn?.abort();
		await calm();
		this.#forgetTurn();
	}

	/** kill -9 */
	kill(): void {
		this.#isGone = true;
		this.#clock.stop();
		this.session.abandon();
		const { ledger } = this.#options;
		ledger.wasKilled = true;
		this.#stopped(this.manager.store.currentRecords());
		ledger.living.clear();
		ledger.working.clear();
		this.#forgetTurn();
	}

	#forgetTurn(): void {
		this.#options.ledger.waits.clear(); // who waited is gone
		this.#clock.stop();
	}

	#takeTurn(begin: () => void, calls: readonly Call[] = []): void {
		this.#isBusy = true;
		const turn = new AbortController();
		this.#turn = turn;
		this.#announce();
		queueMicrotask(async () => {
			if (this.#isGone) return;
			begin();
			this.#delivery.turnStarted();
			const named = calls.map((call) => ({
				call,
				id: `call-${this.session.file.id}-${this.#options.time.now}-${++this.#calls}`,
			}));
			const content = named.map(({ id }) => ({ type: "toolCall", id }));
			this.session.append({ type: "message", message: { role: "assistant", content } });
			const results = await Promise.all(named.map(({ call, id }) => this.#call(call, id, turn.signal)));
			if (this.#isGone) return;
			for (const [index, tells] of results.entries()) {
				const toolCallId = named[index]?.id;
				this.session.append({ type: "message", message: { role: "toolResult", toolCallId }, tells });
			}
			this.#clock.after(turn.signal.aborted ? 0 : TURN_MS, () => this.#endTurn());
		});
	}

	#endTurn(): void {
		this.session.append({ type: "message", message: { role: "assistant", content: [] } });
		this.#turn = undefined;
		this.#isBusy = false;
		this.#announce();
	}

	/** Resolves with the runs whose results the call tells. */
	async #call(call: Call, callId: string, signal: AbortSignal): Promise<string[]> {
		switch (call.call) {
			case "launch":
				return this.#answerOf(this.#launch(call.plan, { isBackground: call.isBackground, callId }), call, signal);
			case "resume":
				return this.#answerOf(this.#resume(call, callId), call, signal);
			case "steer":
				this.#steer(call.agent);
				return [];
			case "wrap up":
				this.#try(call.agent, ({ id }) => this.manager.wrapUp(id));
				return [];
			case "stop":
				this.#stop(call.agent, "parent");
				return [];
			case "read":
				return this.#read(call, callId, signal);
		}
	}

	async #answerOf(
		run: RunIdentity | undefined,
		{ isBackground }: { isBackground: boolean },
		signal: AbortSignal,
	): Promise<string[]> {
		if (!run || isBackground) return [];
		const giveUp = () => {
			this.#stopped(this.#tree(run.agentId));
			this.manager.abort(run.agentId, { by: "user" });
		};
		signal.addEventListener("abort", giveUp);
		await this.#wait(runIdOf(run), () => this.manager.wait(run.agentId));
		signal.removeEventListener("abort", giveUp);
		return [runIdOf(run)];
	}

	async #read({ agent, waits }: Call & { call: "read" }, callId: string, signal: AbortSignal): Promise<string[]> {
		const found = this.#agent(agent);
		if (!found) return [];
		const release = this.#delivery.expect(runIdOf({ agentId: found.id, run: found.run }));
		if (waits)
			await this.#wait(`${found.id} by ${callId}`, () => this.manager.wait(found.id, { signal })).catch(
				() => undefined,
			);
		const record = this.manager.store.record(found.id);
		if (record?.outcome) this.#delivery.claim(record, callId);
		release();
		return record?.outcome ? [runIdOf({ agentId: record.id, run: record.run })] : [];
	}

	#launch(plan: Plan, options: { isBackground: boolean; callId?: string; launchedBy?: "user" }): RunIdentity {
		const id = this.manager.newId();
		this.#options.ledger.launched({ runId: id, agentId: id, isRoot: true, isBackground: options.isBackground });
		this.manager.spawn(specFor(plan), { id, ...options });
		return { agentId: id, run: 1 };
	}

	#resume({ agent, plan, isBackground }: Call & { call: "resume" }, callId: string): RunIdentity | undefined {
		const found = this.#agent(agent);
		if (!found?.outcome || found.parentAgentId !== undefined) return undefined;
		const run = { agentId: found.id, run: found.run + 1 };
		this.#options.ledger.launched({ runId: runIdOf(run), agentId: found.id, isRoot: true, isBackground });
		this.manager.resume(found.id, specFor(plan), { isBackground, callId });
		return run;
	}

	#steer(agent: number): void {
		const text = `message ${this.session.file.id}-${++this.#messages}`;
		this.#try(agent, ({ id, run }) => {
			this.manager.steer(id, text);
			this.#options.ledger.messages.set(text, { text, runId: runIdOf({ agentId: id, run }), isRead: false });
		});
	}

	#stop(agent: number, by: "user" | "parent"): void {
		this.#try(agent, ({ id }) => {
			const tree = this.#tree(id);
			this.#stopped(tree);
			this.manager.abort(id, { by });
			for (const each of tree)
				if (!this.manager.store.record(each.id)?.outcome)
					throw new Error(`stops: ${each.id} has not settled when the stop returns`);
		});
	}

	/** What is refused is refused with a reason. */
	#try(agent: number, work: (record: AgentRecord) => void): void {
		const record = this.#agent(agent);
		if (!record) return;
		try {
			work(record);
		} catch (error) {
			if (!(error instanceof AgentError)) throw error;
		}
	}

	#agent(index: number): AgentRecord | undefined {
		const { records } = this.manager.store.snapshot();
		return records[index % Math.max(1, records.length)];
	}

	#tree(id: string): AgentRecord[] {
		return this.manager.store.snapshot().records.filter((record) => record.id === id || this.#isBelow(record, id));
	}

	#isBelow({ parentAgentId }: AgentRecord, id: string): boolean {
		const parent = parentAgentId === undefined ? undefined : this.manager.store.record(parentAgentId);
		return parent !== undefined && (parent.id === id || this.#isBelow(parent, id));
	}

	#stopped(records: Iterable<AgentRecord>): void {
		for (const { id: agentId, run, outcome } of records)
			if (!outcome) this.#options.ledger.stopped(runIdOf({ agentId, run }));
	}

	async #wait<Value>(what: string, wait: () => Promise<Value>): Promise<Value> {
		const { waits } = this.#options.ledger;
		waits.add(what);
		try {
			return await wait();
		} finally {
			waits.delete(what);
		}
	}

	#arrive(notification: object): void {
		this.session.append({ type: "custom_message", ...notification });
		for (const listener of this.#arrivalListeners)
			listener("details" in notification ? notification.details : undefined);
	}

	#announce(): void {
		const state = this.#isBusy ? "busy" : this.#isInterrupted ? "waiting_for_user" : "idle";
		for (const listener of this.#stateListeners) listener(state);
	}

	#observer(): Observer {
		const { ledger } = this.#options;
		return {
			began: (run) => void ledger.living.add(runIdOf(run)),
			asked: (run) => ledger.asked(runIdOf(run)),
			answered: (run, cost) => {
				ledger.working.delete(runIdOf(run));
				ledger.cost += cost > 0 ? TURN_COST : 0;
			},
			read: (_run, message) => {
				const known = ledger.messages.get(message);
				if (known) known.isRead = true;
			},
			stopped: (run) => ledger.cutOff(runIdOf(run)),
			ended: (run) => ledger.ended(runIdOf(run)),
			launch: async (run, plan, isBackground) => {
				const scope = this.manager.scope(run.agentId);
				const id = this.manager.newId();
				ledger.launched({ runId: id, agentId: id, isRoot: false, isBackground });
				scope.spawn(specFor(plan), { id, isBackground });
				if (isBackground) return;
				ledger.haveWaited.add(runIdOf(run));
				await this.#wait(id, () => scope.wait(id));
			},
		};
	}
}

function specFor(plan: Plan): RunSpec {
	return { ...sampleSpec, task: JSON.stringify(plan), subagents: "*" };
}
