/**
 * Runs a workflow: its script in a thread, its calls through the ports, everything that happens in the journal first.
 * Given the journal of an earlier run, it replays the recorded answers and continues with the rest.
 */

import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { checkArguments } from "@pi-subagents/progress";
import type { Answer, JournalEvent } from "../journal/events.ts";
import { advance, agentCalled, agentOf, type CallState, type WorkflowState, workflowState } from "../journal/state.ts";
import { type CheckedScript, checkScript } from "../script/script.ts";
import type { FromThread, OpenCall, ScriptCall } from "../thread/messages.ts";
import { type Asked, answerOf, askedBy, forgottenText, placed, SKIPPED, worded } from "./answers.ts";
import { Attempts } from "./attempts.ts";
import type { AgentRequest, AskRequest, WorkflowRequest } from "./options.ts";
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
import { Replies } from "./replies.ts";
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

class Engine implements WorkflowRun {
	readonly script: CheckedScript;
	readonly state: WorkflowState;
	readonly settled: Promise<WorkflowResult>;
	readonly #options: WorkflowOptions;
	readonly #limits: WorkflowLimits;
	readonly #clock: Clock;
	readonly #replay: Replay;
	readonly #attempts: Attempts;
	readonly #thread: ScriptThread;
	readonly #replies: Replies;
	readonly #end: (result: WorkflowResult) => void;
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
		const { source, meta } = this.script;
		this.#replay = new Replay(this.state.calls.values(), {
			hasChanged: this.state.hasChanged || source !== this.state.script,
		});
		this.#attempts = new Attempts(this.#limits.concurrency);
		const { promise, resolve } = Promise.withResolvers<WorkflowResult>();
		this.settled = promise;
		this.#end = resolve;
		const { id, args = null, budget = null } = options;
		const author = defined({ author: options.author });
		if (!earlier) {
			const seed = randomBytes(8).toString("hex");
			this.#note({ type: "started", id, name: meta.name, script: source, args, seed, budget, ...author });
		} else this.#note({ type: "resumed", ...(source === this.state.script ? {} : { script: source }), ...author });
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
		this.#replies = new Replies(this.#thread, meta.onError);
	}

	pause(): void {
		if (this.#isOver || this.state.isPaused) return;
		this.#attempts.pause();
		this.#note({ type: "paused" });
	}

	continue(): void {
		if (this.#isOver || !this.state.isPaused) return;
		this.#note({ type: "continued" });
		this.#attempts.goOn();
	}

	skip(path: string): boolean {
		return this.#attempts.decide(path, "skip");
	}

	retry(path: string): boolean {
		return this.#attempts.decide(path, "retry");
	}

	end(how: "stopped" | "left"): void {
		if (this.#isOver) return;
		if (how === "stopped") this.#note({ type: "ended", status: "stopped" });
		this.#finish({ status: "stopped" });
	}

	#take(message: Exclude<FromThread, { type: "rest" }>): void {
		if (this.#isOver) return;
		switch (message.type) {
			case "call":
				this.#call(message);
				return;
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
		if (this.#replies.areAllGiven) this.#fail("The script waits forever: nothing resolves the promise that it awaits.");
	}

	#call(call: ScriptCall): void {
		this.#replies.expect(call);
		try {
			const asked = askedBy(call);
			this.#replies.expect(call, asked);
			const phase = asked.agent?.phase ?? this.#phase;
			const known = this.#recorded(call, asked, phase);
			if (known?.answer) {
				this.#reply(call, known.answer);
				return;
			}
			this.#work(call, asked, { phase, previous: agentOf(known) }).catch((error: unknown) => {
				if (!this.#isOver) this.#replies.mistake(call, error);
			});
		} catch (error) {
			this.#replies.mistake(call, error);
		}
	}

	/** What the journal holds of this call. One that is new is noted. */
	#recorded(call: ScriptCall, { label, hash }: Asked, phase: string | undefined): CallState | undefined {
		const { path, kind } = call;
		const { call: known, movedFrom, expected } = this.#replay.take(path, hash);
		if (expected && !this.state.diverged)
			this.#note({ type: "diverged", path, recorded: expected.label, called: placed(label, call) });
		if (movedFrom !== undefined) this.#note({ type: "moved", path, from: movedFrom, hash });
		if (!known) this.#note({ type: "called", path, kind, hash, label, ...defined({ phase }) });
		return known;
	}

	/** Until it has an answer: a retry runs it again. That of a called workflow comes from the thread. */
	async #work(
		call: ScriptCall,
		{ agent, ask, workflow, label }: Asked,
		{ phase, previous }: { phase: string | undefined; previous: LaunchedAgent | undefined },
	): Promise<void> {
		if (workflow) return this.#startNested(call, workflow);
		const { path } = call;
		const attempt = (signal: AbortSignal): Promise<AgentResult> =>
			agent ? this.#agent(agent, { path, label, phase, previous, signal }) : this.#ask(ask ?? { question: "" }, signal);
		for (;;) {
			const { verdict, result } = await this.#attempts.make(path, attempt);
			if (this.#isOver) return;
			if (verdict === "retry") {
				this.#note({ type: "retried", path });
				continue;
			}
			const answer = verdict === "skip" || !result ? SKIPPED : answerOf(result);
			this.#note({ type: "answered", path, answer, tokens: result?.tokens ?? 0 });
			this.#reply(call, answer);
			return;
		}
	}

	async #ask(request: AskRequest, signal: AbortSignal): Promise<AgentResult> {
		const text = await this.#options.ports.ask(request, signal);
		if (text === undefined) return { status: "failed", error: "Nobody answered.", tokens: 0 };
		return { status: "completed", text, tokens: 0 };
	}

	async #agent(
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
		const { spent } = this.state;
		if (total && spent >= total)
			throw new Error(`The budget is used up: ${spent} of ${total} tokens. No more agents are launched.`);
		const { path, label, phase, previous, signal } = call;
		const resumed = request.resume === undefined ? undefined : agentCalled(this.state, request.resume);
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

	async #startNested(call: ScriptCall, { name, args }: WorkflowRequest): Promise<void> {
		const { load } = this.#options.ports;
		if (!load) throw new Error("Saved workflows cannot be called here.");
		this.#replies.runNested(call, checkScript(await load(name)), args);
	}

	#nested({ id, value, error }: Extract<FromThread, { type: "nested" }>): void {
		const call = this.#replies.waiting(id);
		if (!call) return;
		if (error) {
			this.#replies.refuse(call, { ...error, message: worded(error) });
			return;
		}
		const answer: Answer = { ok: true, value: JSON.parse(value ?? "null") };
		this.#note({ type: "answered", path: call.path, answer, tokens: 0 });
		this.#reply(call, answer);
	}

	/** With the time and the tokens that it had when it was recorded, so that both are the same in every run. */
	#reply(call: ScriptCall, answer: Answer): void {
		const { answeredAt = this.#clock.now(), spentThen = this.state.spent } = this.state.calls.get(call.path) ?? {};
		this.#replies.answer(call, answer, { at: answeredAt, spent: spentThen });
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
		this.#attempts.end();
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
