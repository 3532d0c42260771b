/**
 * The operations on agents: launch, wait, steer, stop, ask, answer, resume. Only the manager dispatches events;
 * everything else about an agent is in its record in the store.
 */

import type { LaunchedBy, RunnerName } from "@pi-subagents/progress";
import { checkArguments, type Outcome } from "@pi-subagents/progress";
import type { Clock } from "../base/clock.ts";
import { AgentError } from "../base/error.ts";
import { visibleName } from "../base/names.ts";
import { defined } from "../base/values.ts";
import { isYes, type SessionLimits } from "../model/budget.ts";
import type { Dialog, DialogAnswer } from "../model/dialog.ts";
import type { AgentEvent } from "../model/event.ts";
import { type PieceListener, watchWhenStarted } from "../model/live-piece.ts";
import { type Audience, unanswered } from "../model/question.ts";
import type { AgentRecord } from "../model/record.ts";
import type { ChildSession, RunIdentity, Runner, RunSpec, Stop } from "../model/runner.ts";
import type { Answer, Question, WhyUnanswered } from "../model/schema/question.ts";
import { Store } from "../model/store.ts";
import type { SlotLimits } from "../queue/limits.ts";
import type { SlotsSnapshot } from "../queue/slots.ts";
import { type Agents, ownAgents } from "./agents.ts";
import { ExtensionDialogs, type ShowDialog } from "./dialogs.ts";
import { type AdoptedRun, type AskedQuestion, type LiveAgent, type StoppedRun, untilSettled } from "./live-agents.ts";
import { LiveStatus } from "./live-status.ts";
import { Questions } from "./questions.ts";
import { RunLifecycle } from "./run-lifecycle.ts";
import { questionFor, SessionBudget } from "./session-budget.ts";

export interface ManagerOptions {
	runners: Partial<Record<RunnerName, Runner>>;
	clock: Clock;
	newId: () => string;
	/** From 0 to below 1; `Math.random` when absent. */
	random?: () => number;
	store?: Store;
	/** How many may run at once; when absent, 8, and the rest queue. */
	slots?: SlotLimits;
	/** The maximum depth of agents, read at each launch; 4 when absent. */
	maxDepth?: () => number;
	/** Who outside the tree can answer questions; when absent, questions get no answer. */
	audience?: Audience;
	/** Called for each question, with its addressee. */
	onQuestion?: (question: AskedQuestion) => void;
	/** Shows the user a dialog of an extension inside an agent; when absent, such dialogs are dismissed. */
	showDialog?: ShowDialog;
	/** Tells the user that most of the session's budget is used; when absent, no one is told. */
	notify?: (text: string) => void;
	/**
	 * Called when a run starts that has waited for a slot, or starts over: the spec that it may run with now. Throws if it
	 * may not run any more, and the run fails with that. When absent, it runs as it was launched.
	 */
	recheck?: (spec: RunSpec) => RunSpec;
	/** Asks the user whether agents may be launched beyond the session's budget; when absent, they may not. */
	confirm?: (question: string) => Promise<boolean>;
}

/** What a launch says besides the spec. */
export interface LaunchOptions {
	/** An id from `newId`, where the caller needed one before the spec was known. */
	id?: string;
	name?: string;
	/** The launching call does not wait for the result. */
	isBackground?: boolean;
	parentAgentId?: string;
	/** `model` when absent, and always for what an agent launches. */
	launchedBy?: LaunchedBy;
	/** The tool call that launches it. */
	callId?: string;
	/** The part of a workflow that it belongs to. */
	phase?: string;
}

/** What a resume says besides the spec. */
export type ResumeOptions = Pick<LaunchOptions, "isBackground" | "callId">;

export interface WaitOptions {
	signal?: AbortSignal;
	/** The waiting agent, if one does: it lends its slot meanwhile. */
	waiterId?: string;
}

/** Shown in lists and messages beside many others. */
const LONGEST_NAME = 100;

export class Manager {
	readonly store: Store;
	readonly #options: ManagerOptions;
	readonly #lifecycle: RunLifecycle;
	readonly #questions: Questions;
	readonly #dialogs: ExtensionDialogs;
	readonly #liveStatus: LiveStatus;
	readonly #sessionBudget: SessionBudget;
	#isShutDown = false;

	constructor(options: ManagerOptions) {
		checkArguments({
			options: [options, "object"],
			"options.runners": [options?.runners, "object"],
			"options.clock": [options?.clock, "object"],
			"options.newId": [options?.newId, "function"],
		});
		this.#options = options;
		this.store = options.store ?? new Store();
		const { notify = () => undefined, confirm } = options;
		this.#sessionBudget = new SessionBudget({ store: this.store, notify, confirm });
		this.#lifecycle = new RunLifecycle({
			store: this.store,
			runners: options.runners,
			clock: options.clock,
			random: options.random ?? Math.random,
			recheck: options.recheck ?? ((spec) => spec),
			slots: options.slots ?? { maxConcurrent: 8, whenFull: "queue" },
			mayExtend: (askerId, payer, used) => this.#mayExtend(askerId, payer, used),
			canAsk: (payerId) => this.#questions.canAskAbout(payerId),
			session: {
				budget: this.#sessionBudget,
				canAsk: () => options.audience?.userCanAnswer() ?? false,
				mayExtend: (askerId, used) => this.#isAllowed(askerId, { question: questionFor(used), isForUser: true }),
			},
		});
		const { clock, audience, onQuestion } = options;
		this.#questions = new Questions({ store: this.store, lifecycle: this.#lifecycle, clock, audience, onQuestion });
		this.#dialogs = new ExtensionDialogs({
			store: this.store,
			lifecycle: this.#lifecycle,
			clock,
			audience,
			show: options.showDialog,
			block: (id) => this.#questions.block(id),
		});
		this.#liveStatus = new LiveStatus({
			clock,
			watch: (id, tell) => this.watch(id, tell),
			holdReason: (id) => this.#lifecycle.holdReason(id),
			isStarting: (id) => this.#lifecycle.live(id)?.run?.isStarting ?? false,
			silentMs: (record) => this.#lifecycle.silentMs(record),
		});
	}

	/** Launches an agent, or queues it, and returns its record. A run that cannot start is a failed outcome, not an error. */
	spawn(spec: RunSpec, options: LaunchOptions = {}): AgentRecord {
		const { name: asked = "", parentAgentId, isBackground = false, launchedBy = "model", callId, phase } = options;
		this.#assertOpen();
		const name = visibleName(asked, "name");
		if (name.length > LONGEST_NAME)
			throw new AgentError(
				"bad_request",
				`The name is too long: ${name.length} characters, and at most ${LONGEST_NAME} can be used.`,
			);
		const depth = parentAgentId === undefined ? 1 : this.#recordOf(parentAgentId).depth + 1;
		const maxDepth = this.#options.maxDepth?.() ?? 4;
		if (depth > maxDepth) {
			const message = `Agents may launch agents down to level ${maxDepth}, and this would be level ${depth}. Do the work here instead.`;
			throw new AgentError("too_deep", message);
		}
		if (parentAgentId !== undefined) this.#liveOf(parentAgentId, "launch agents");
		if (spec.runner !== "workflow") this.#sessionBudget.assertOpen();
		const id = options.id ?? this.newId();
		if (this.store.record(id)) throw new AgentError("wrong_state", `There is an agent ${id} already.`);
		this.#lifecycle.queue(id, spec, {
			...(name === "" ? {} : { name }),
			...defined({ parentAgentId }),
			depth,
			isBackground,
			launchedBy: parentAgentId === undefined ? launchedBy : "model",
			...defined({ callId, phase }),
		});
		return this.#recordOf(id);
	}

	/** An id that no agent has. */
	newId(): string {
		for (;;) {
			const id = this.#options.newId();
			if (!this.store.record(id)) return id;
		}
	}

	/** Runs a settled agent again with a new task. Its runner continues the conversation if that was saved. */
	resume(id: string, spec: RunSpec, options: ResumeOptions & Pick<LaunchOptions, "launchedBy"> = {}): AgentRecord {
		this.#assertOpen();
		const { outcome, status, name, parentAgentId, depth, isBackground } = this.#recordOf(id);
		if (!outcome) throw new AgentError("wrong_state", `Agent ${id} is ${status}; steer it instead of resuming it.`);
		this.#lifecycle.queue(id, spec, {
			...defined({ name, parentAgentId }),
			depth,
			isBackground: options.isBackground ?? isBackground,
			launchedBy: parentAgentId === undefined ? (options.launchedBy ?? "model") : "model",
			...defined({ callId: options.callId }),
		});
		return this.#recordOf(id);
	}

	/**
	 * Adopts an agent whose run an earlier process started, and rejoins that run. A run that cannot be rejoined
	 * settles as aborted by `lost`.
	 */
	adopt(adopted: AdoptedRun): AgentRecord {
		this.#assertOpen();
		const known = this.store.record(adopted.id);
		if (known && !(known.outcome && adopted.run === known.run + 1)) {
			const message = `Agent ${adopted.id} is ${known.status} here, in run ${known.run}; its run ${adopted.run} cannot be adopted.`;
			throw new AgentError("wrong_state", message);
		}
		this.#lifecycle.adopt(adopted);
		return this.#recordOf(adopted.id);
	}

	/**
	 * Stops a run once more that an earlier process stopped, since something of it still runs. What is known of it stays as
	 * it is; the agent's next run waits until this one is gone.
	 */
	finishStop(stopped: StoppedRun, stop: Stop): void {
		this.#assertOpen();
		this.#lifecycle.finishStop(stopped, stop);
	}

	/** A live agent's spec, and where its current run's files are. */
	specOf(id: string): (RunSpec & RunIdentity) | undefined {
		return this.#lifecycle.live(id)?.spec;
	}

	/** The conversation of a live agent that runs in this process, once it is open. */
	sessionOf(id: string): ChildSession | undefined {
		return this.#lifecycle.live(id)?.run?.session;
	}

	/**
	 * Resolves when the agent has settled, immediately if it has. Rejects when `signal` fires, and on shutdown if the
	 * agent continues.
	 */
	wait(id: string, { signal, waiterId }: WaitOptions = {}): Promise<Outcome> {
		const { outcome } = this.#recordOf(id);
		const live = this.#lifecycle.live(id);
		if (outcome) return Promise.resolve(outcome);
		if (!live) throw new AgentError("wrong_state", `Agent ${id} has not settled, and this process does not run it.`);
		if (signal?.aborted) return Promise.reject(signal.reason);
		return untilSettled(live, this.#questions.block(waiterId), signal);
	}

	/** The caller stops waiting: the agent continues in the background. */
	moveToBackground(id: string): void {
		this.#liveOf(id, "continue in the background");
		this.#lifecycle.dispatch(id, { type: "moved_to_background" });
	}

	/** Sends a live agent a message; a queued one gets it when it starts. */
	steer(id: string, message: string): void {
		this.#lifecycle.steer(this.#liveOf(id, "be steered"), message);
	}

	/** Asks a live agent to answer now with what it has. */
	wrapUp(id: string, reason?: string): void {
		this.#lifecycle.whenRunning(this.#liveOf(id, "be asked to finish"), (run) => run.wrapUp(reason));
	}

	/**
	 * Tells what a live agent writes in its current run, until the returned function is called. Costs nothing while
	 * no one watches; `followLive` has it in order with the agent's other steps.
	 */
	watch(id: string, listener: PieceListener): () => void {
		const live = this.#lifecycle.live(id);
		if (!live) return () => undefined;
		return watchWhenStarted((say) => this.#lifecycle.whenRunning(live, say), listener);
	}

	/** Stops the agent and its descendants. They have settled when this returns; cleanup continues in the background. */
	abort(id: string, stop: Stop): void {
		this.#recordOf(id);
		this.#lifecycle.stop(id, stop);
	}

	/** The whole result is in the run's files: from now on the record holds only the start of a long answer. */
	markArchived({ agentId, run }: RunIdentity): void {
		if (this.store.record(agentId)?.run === run) this.#lifecycle.dispatch(agentId, { type: "result_archived" });
	}

	/** A running agent asks. Resolves with the answer, or immediately with `nobody` if no one can answer. */
	ask(id: string, question: Question, signal?: AbortSignal): Promise<Answer> {
		const live = this.#liveOf(id, "ask");
		if (live.question)
			throw new AgentError("wrong_state", `Agent ${id} is already waiting for the answer to another question.`);
		return this.#questions.ask(live, question, { signal });
	}

	/** An extension inside an agent asks the user. Resolves with undefined if there is no answer, or the signal fires. */
	async askUser(id: string, dialog: Dialog, signal: AbortSignal): Promise<DialogAnswer | undefined> {
		const live = this.#lifecycle.live(id);
		return live && this.#dialogs.ask(live, dialog, signal);
	}

	/** Answers an agent's open question. */
	answer(id: string, text: string, by: "agent" | "session" | "user"): void {
		const { status } = this.#recordOf(id);
		const { question, dialogs } = this.#lifecycle.live(id) ?? {};
		if (!question && dialogs && dialogs.size > 0)
			throw new AgentError(
				"wrong_state",
				`Agent ${id} waits for a dialog of one of its extensions, which only the user can answer, on the screen.`,
			);
		if (!question) throw new AgentError("wrong_state", `Agent ${id} is ${status}; it is not waiting for an answer.`);
		question.answer({ by, text });
	}

	/** Declines the agent's open question: it gets its default, or decides by itself. Dialogs of its extensions end, too. */
	decline(id: string, why: WhyUnanswered = "dismissed"): void {
		const { question, dialogs = [] } = this.#lifecycle.live(id) ?? {};
		question?.answer(unanswered(question.asked, why));
		for (const { dismiss } of [...dialogs]) dismiss();
	}

	/** The session had its turn and left this question open: the user is asked, or it ends if there is none. */
	passToUser(question: AskedQuestion): void {
		this.#questions.passToUser(question);
	}

	/** The open questions, oldest first. */
	questions(): AskedQuestion[] {
		return this.#questions.open();
	}

	/** An agent's view: its own descendants only. */
	scope(parentId: string): Agents {
		const allowed = () => this.#lifecycle.live(parentId)?.spec.subagents;
		return ownAgents({ manager: this, tree: this.#lifecycle.tree, parentId, allowed });
	}

	/**
	 * How long an agent has been running, in whole milliseconds, unaffected by changes of the time of day. Undefined
	 * if it is not running; then its record has the duration.
	 */
	elapsedMs(id: string): number | undefined {
		return this.#lifecycle.elapsedMs(id);
	}

	/**
	 * What an active agent does now, for people: `Reading a.ts`, `thinking…`, `connecting to box…`, `waiting for a slot
	 * (3 ahead)`. Fresher than its record, which holds events only. Ask once a second while it is on a screen.
	 */
	activityOf(id: string): string | undefined {
		const record = this.store.record(id);
		return record && this.#liveStatus.textOf(record);
	}

	slots(): SlotsSnapshot {
		return this.#lifecycle.slots.snapshot();
	}

	/** Takes effect immediately; running agents are not stopped. */
	setSlots(limits: SlotLimits): void {
		this.#lifecycle.slots.setLimits(limits);
	}

	/** What all agents of the session may use together. Takes effect between two turns, and at the next launch. */
	setSessionBudget(limits: SessionLimits): void {
		this.#sessionBudget.setLimits(limits);
		this.#lifecycle.limitAlone();
	}

	/** What was used of the session's budget: `$4.10 of $5.00`. Empty without one. */
	sessionBudget(): string[] {
		return this.#sessionBudget.texts();
	}

	/** Asks the user before a launch beyond the session's budget. Throws if that is not allowed. */
	approveLaunch(): Promise<void> {
		return this.#sessionBudget.approveLaunch();
	}

	/** Replays the events of an earlier process. What had not settled there ended with it. */
	restore(events: Iterable<AgentEvent>): void {
		for (const event of events) this.store.dispatch(event);
		for (const { id, outcome } of this.store.currentRecords()) {
			if (outcome || this.#lifecycle.live(id)) continue;
			this.#lifecycle.dispatch(id, { type: "agent_settled", outcome: { status: "aborted", by: "shutdown" } });
		}
	}

	/** Stops every live agent, detaches those that outlive us, and resolves when the stopped children are gone. */
	async shutdown({ reason }: Pick<Stop, "reason"> = {}): Promise<void> {
		this.#isShutDown = true;
		this.#liveStatus.close();
		this.#lifecycle.close({ by: "shutdown", ...defined({ reason }) });
		await this.#lifecycle.cleanedUp();
	}

	/** Asking beats killing; but if no one can answer, the limit holds. */
	async #mayExtend(askerId: string, payer: AgentRecord, used: string): Promise<boolean> {
		const question = `Agent ${payer.id} (${payer.type}) has used ${used}. May it use the same amount again? (yes/no)`;
		return this.#isAllowed(askerId, { question }, payer.id);
	}

	async #isAllowed(askerId: string, question: Question, aboutId?: string): Promise<boolean> {
		const asker = this.#lifecycle.live(askerId);
		if (!asker || asker.question) return false;
		const answer = await this.#questions.ask(asker, question, defined({ aboutId }));
		return answer.by !== "nobody" && isYes(answer.text);
	}

	#assertOpen(): void {
		if (this.#isShutDown) throw new AgentError("shut_down", "The session is ending; no more agents can be launched.");
	}

	#liveOf(id: string, what: string): LiveAgent {
		const { status } = this.#recordOf(id);
		const live = this.#lifecycle.live(id);
		if (!live) throw new AgentError("wrong_state", `Agent ${id} is ${status}; it cannot ${what} any more.`);
		return live;
	}

	#recordOf(id: string): AgentRecord {
		const record = this.store.record(id);
		if (!record) throw new AgentError("unknown_agent", `There is no agent ${id}.`);
		return record;
	}
}
