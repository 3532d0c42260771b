/**
 * Runs a workflow: its script in a thread, its calls through the ports, everything that happens in the journal first.
 * Given the journal of an earlier run it answers from there what was answered, and continues with the rest.
 */

import { randomBytes } from "node:crypto";
import { type Clock, defined, messageOf, systemClock } from "@pi-subagents/core";
import { checkArguments } from "@pi-subagents/progress";
import type { Answer, JournalEvent } from "../journal/events.ts";
import { advance, type CallState, type WorkflowState, workflowState } from "../journal/state.ts";
import type { OnError } from "../script/meta.ts";
import { type CheckedScript, checkScript } from "../script/script.ts";
import type { FromThread, OpenCall, ScriptCall, ScriptFailure } from "../thread/messages.ts";
import { answerOf, forgottenText, hashOf, placed, SKIPPED, withoutLabels, worded } from "./answers.ts";
import { Lanes } from "./lanes.ts";
import { type AgentRequest, agentRequest, askRequest, labelOf, workflowRequest } from "./options.ts";
import {
	type AgentResult,
	DEFAULT_LIMITS,
	type LaunchedAgent,
	type WorkflowLimits,
	type WorkflowOptions,
	type WorkflowResult,
	type WorkflowRun,
} from "./ports.ts";
import { Replay } from "./replay.ts";
import { type ScriptThread, startThread } from "./thread.ts";

/**
 * Throws a `ScriptError` for a script that cannot be run.
 *
 * @example
 * ```ts
 * const run = runWorkflow({ id: "w1", script, args: ["a.ts"], journal: memoryJournal(), ports });
 * const result = await run.settled;
 * ```
 */
export function runWorkflow(options: WorkflowOptions): WorkflowRun {
	checkArguments({
		options: [options, "object"],
		"options.id": [options?.id, "string"],
		"options.journal": [options?.journal, "object"],
		"options.ports": [options?.ports, "object"],
	});
	return new Engine(options);
}

/** A call that waits for its agent. */
interface ActiveCall {
	controller: AbortController;
	verdict?: "skip" | "retry";
}

class Engine implements WorkflowRun {
	readonly script: CheckedScript;
	readonly state: WorkflowState;
	readonly settled: Promise<WorkflowResult>;
	readonly #options: WorkflowOptions;
	readonly #limits: WorkflowLimits;
	readonly #clock: Clock;
	readonly #replay: Replay;
	readonly #lanes: Lanes;
	readonly #thread: ScriptThread;
	readonly #active = new Map<string, ActiveCall>();
	readonly #open = new Map<number, ScriptCall>();
	/** What a called workflow does with failures, by the beginning of its paths. */
	readonly #nestedOnError = new Map<string, OnError>();
	readonly #end: (result: WorkflowResult) => void;
	#spent = 0;
	#phase: string | undefined;
	#isOver = false;

	constructor(options: WorkflowOptions) {
		const { journal, clock = systemClock, limits } = options;
		this.#options = options;
		this.#limits = { ...DEFAULT_LIMITS, ...limits };
		this.#clock = clock;
		this.state = workflowState(journal.read());
		const earlier = this.state.started;
		this.script = checkScript(options.script ?? this.state.script);
		this.#replay = new Replay(this.state.calls.values());
		this.#lanes = new Lanes(this.#limits.concurrency);
		const { promise, resolve } = Promise.withResolvers<WorkflowResult>();
		this.settled = promise;
		this.#end = resolve;
		const { id, args = null, budget = null } = options;
		const { source, meta } = this.script;
		if (!earlier) {
			const seed = randomBytes(8).toString("hex");
			this.#note({ type: "started", id, name: meta.name, script: source, args, seed, budget });
		} else this.#note({ type: "resumed", ...(source === this.state.script ? {} : { script: source }) });
		const started = this.state.started;
		if (!started) throw new Error("A journal must begin with the start of its workflow.");
		this.#thread = startThread(
			{
				program: this.script.program,
				args: JSON.stringify(started.args ?? null),
				seed: started.seed,
				startedAt: started.at,
				budget: options.budget ?? started.budget ?? null,
				...this.#limits,
			},
			this.#limits,
			clock,
			{
				onMessage: (message) => this.#take(message),
				onRest: () => this.#notStuck(),
				onBroken: (why) => this.#fail(why),
			},
		);
	}

	pause(): void {
		if (this.#isOver || this.state.isPaused) return;
		this.#lanes.pause();
		this.#note({ type: "paused" });
	}

	continue(): void {
		if (this.#isOver || !this.state.isPaused) return;
		this.#note({ type: "continued" });
		this.#lanes.goOn();
	}

	skip(path: string): boolean {
		return this.#decide(path, "skip");
	}

	retry(path: string): boolean {
		return this.#decide(path, "retry");
	}

	end(how: "stopped" | "left"): void {
		if (this.#isOver) return;
		if (how === "stopped") this.#note({ type: "ended", status: "stopped" });
		this.#finish({ status: "stopped" });
	}

	#decide(path: string, verdict: "skip" | "retry"): boolean {
		const active = this.#active.get(path);
		if (!active) return false;
		active.verdict = verdict;
		active.controller.abort();
		return true;
	}

	#take(message: Exclude<FromThread, { type: "rest" }>): void {
		if (this.#isOver) return;
		switch (message.type) {
			case "call":
				this.#open.set(message.id, message);
				return void this.#call(message);
			case "phase":
			case "log": {
				const { type, path, text } = message;
				if (type === "phase") this.#phase = text;
				if (!this.state.noted.has(path)) this.#note({ type, path, text });
				return;
			}
			case "nested":
				this.#nested(message);
				return;
			case "returned":
				this.#returned(JSON.parse(message.value), message.open);
				return;
			case "threw":
				this.#fail(worded(message.error));
				return;
		}
	}

	/** A script that rests waits for an answer. Without an open call, none will come. */
	#notStuck(): void {
		if (this.#open.size === 0)
			this.#fail("The script waits for something that never comes: a promise that nothing resolves.");
	}

	async #call(call: ScriptCall): Promise<void> {
		try {
			const answer = await this.#answer(call);
			if (answer && !this.#isOver) this.#reply(call, answer);
		} catch (error) {
			if (this.#isOver) return;
			this.#refuse(call, { name: "Error", message: messageOf(error), isFatal: true });
		}
	}

	/** Undefined if the answer comes later, from a called workflow. */
	async #answer(call: ScriptCall): Promise<Answer | undefined> {
		const input: unknown = JSON.parse(call.input);
		const request = call.kind === "agent" ? agentRequest(input) : undefined;
		const asked = call.kind === "ask" ? askRequest(input) : undefined;
		const called = call.kind === "workflow" ? workflowRequest(input) : undefined;
		const phase = request?.phase ?? this.#phase;
		const label = request ? labelOf(request) : (asked?.question ?? called?.name ?? "").slice(0, 80);
		const { path } = call;
		const hash = hashOf(call.kind, request ? withoutLabels(request) : (asked ?? called));
		const { call: known, movedFrom, expected } = this.#replay.take(path, hash);
		if (expected && !this.state.diverged)
			this.#note({ type: "diverged", path, recorded: expected.label, called: placed(label, call) });
		if (movedFrom !== undefined) this.#note({ type: "moved", path, from: movedFrom, hash });
		if (!known) this.#note({ type: "called", path, kind: call.kind, hash, label, ...defined({ phase }) });
		if (known?.answer) {
			this.#spent += known.tokens;
			return known.answer;
		}
		if (called) return this.#startNested(call, called.name, called.args);
		const previous = agentIn(known);
		const work = request
			? (signal: AbortSignal) => this.#agent(request, { path, label, phase, previous, signal })
			: async (signal: AbortSignal): Promise<AgentResult> => {
					const text = await this.#options.ports.ask(asked ?? { question: "" }, signal);
					return text === undefined
						? { status: "failed", error: "Nobody answered.", tokens: 0 }
						: { status: "completed", text, tokens: 0 };
				};
		return this.#settle(path, work);
	}

	/** Until it has an answer: a retry runs it again. */
	async #settle(path: string, work: (signal: AbortSignal) => Promise<AgentResult>): Promise<Answer | undefined> {
		for (;;) {
			const active: ActiveCall = { controller: new AbortController() };
			this.#active.set(path, active);
			const { signal } = active.controller;
			const result = await this.#lanes.pass(async (): Promise<AgentResult | undefined> => {
				if (this.#isOver || signal.aborted) return undefined;
				return work(signal).catch((error: unknown) => {
					if (active.verdict || this.#isOver) return undefined;
					throw error;
				});
			});
			this.#active.delete(path);
			if (this.#isOver) return undefined;
			if (active.verdict === "retry") {
				this.#note({ type: "retried", path });
				continue;
			}
			const answer = active.verdict === "skip" || !result ? SKIPPED : answerOf(result);
			const tokens = result?.tokens ?? 0;
			this.#spent += tokens;
			this.#note({ type: "answered", path, answer, tokens });
			return answer;
		}
	}

	#agent(
		request: AgentRequest,
		call: {
			path: string;
			label: string;
			phase: string | undefined;
			previous: LaunchedAgent | undefined;
			signal: AbortSignal;
		},
	): Promise<AgentResult> {
		const total = this.#options.budget ?? this.state.started?.budget;
		if (total && this.#spent >= total)
			throw new Error(`The budget is used up: ${this.#spent} of ${total} tokens. No more agents are launched.`);
		const { path, label, phase, previous, signal } = call;
		const resumed = request.resume === undefined ? undefined : this.#agentCalled(request.resume);
		return this.#options.ports.agent(request, {
			path,
			label,
			signal,
			...defined({ phase, previous, resumed }),
			onLaunched: ({ agentId, run }) => {
				if (!this.#isOver) this.#note({ type: "launched", path, agentId, run });
			},
		});
	}

	/** The latest with this label. */
	#agentCalled(label: string): LaunchedAgent | undefined {
		return agentIn(
			[...this.state.calls.values()].findLast((call) => call.label === label && call.agentId !== undefined),
		);
	}

	async #startNested(call: ScriptCall, name: string, args: unknown): Promise<undefined> {
		const { load } = this.#options.ports;
		if (!load) throw new Error("Saved workflows cannot be called here.");
		const { program, meta } = checkScript(await load(name));
		this.#nestedOnError.set(`${call.path}:/`, meta.onError);
		this.#thread.post({ type: "run", id: call.id, program, args: JSON.stringify(args ?? null) });
		return undefined;
	}

	#nested({ id, value, error }: Extract<FromThread, { type: "nested" }>): void {
		const call = this.#open.get(id);
		if (!call) return;
		if (error) {
			this.#refuse(call, { ...error, message: worded(error) });
			return;
		}
		const answer: Answer = { ok: true, value: JSON.parse(value ?? "null") };
		this.#note({ type: "answered", path: call.path, answer, tokens: 0 });
		this.#reply(call, answer);
	}

	#reply(call: ScriptCall, answer: Answer): void {
		this.#open.delete(call.id);
		const at = this.state.calls.get(call.path)?.answeredAt ?? this.#clock.now();
		const common = { id: call.id, at, spent: this.#spent };
		const isNull = !answer.ok && (call.kind === "ask" || answer.status === "skipped" || this.#onError(call) === "null");
		if (answer.ok || isNull) {
			const value = answer.ok ? JSON.stringify(answer.value) : "null";
			this.#thread.post({ type: "answer", ...common, value });
			return;
		}
		const error = { name: "AgentFailed", message: answer.error };
		this.#thread.post({ type: "error", ...common, error, outcome: JSON.stringify(answer) });
	}

	#onError({ path, input }: ScriptCall): OnError {
		const nested = [...this.#nestedOnError].find(([beginning]) => path.startsWith(beginning))?.[1];
		return agentRequest(JSON.parse(input)).onError ?? nested ?? this.script.meta.onError;
	}

	#refuse({ id }: ScriptCall, error: ScriptFailure): void {
		this.#open.delete(id);
		this.#thread.post({ type: "error", id, error, at: this.#clock.now(), spent: this.#spent });
	}

	#returned(value: unknown, open: readonly OpenCall[]): void {
		const forgotten = forgottenText(open);
		if (forgotten !== undefined) {
			this.#fail(forgotten);
			return;
		}
		this.#note({ type: "ended", status: "completed", value });
		this.#finish({ status: "completed", value });
	}

	#fail(error: string): void {
		if (this.#isOver) return;
		this.#note({ type: "ended", status: "failed", error });
		this.#finish({ status: "failed", error });
	}

	#finish(result: WorkflowResult): void {
		this.#isOver = true;
		this.#thread.end();
		for (const { controller } of this.#active.values()) controller.abort();
		this.#options.journal.close();
		this.#end(result);
	}

	#note(event: Unstamped<JournalEvent>): void {
		const stamped = { ...event, at: this.#clock.now() } as JournalEvent;
		this.#options.journal.append(stamped);
		advance(this.state, stamped);
		this.#options.onEvent?.(stamped, this.state);
	}
}

type Unstamped<Event> = Event extends unknown ? Omit<Event, "at"> : never;

function agentIn(call: CallState | undefined): LaunchedAgent | undefined {
	return call?.agentId === undefined ? undefined : { agentId: call.agentId, run: call.run ?? 1 };
}
