/** The events of one run → its spans. Pure; tolerates logs that were cut off. */

import type { AgentEvent } from "@pi-subagents/core";
import type { Usage } from "@pi-subagents/progress";
import type { Span } from "./types.ts";
import { addUsage, isZero, minus } from "./usage.ts";

export interface SpanInput {
	events: readonly AgentEvent[];
	queuedAt: number;
	startedAt: number | undefined;
	endedAt: number;
	/** It has not ended: `endedAt` is only the time of the report. */
	isRunning?: boolean;
	/** What the run used in all, if its result says so: what the log lacks of it gets a span, too. */
	usage: Usage | undefined;
	/** What to say of a tool call. */
	describeCall: (call: AgentEvent & { type: "tool_call" }) => string;
	/** Whether a call waits for agents, rather than doing something itself. */
	isWaiting: (call: AgentEvent & { type: "tool_call" }) => boolean;
}

/**
 * All spans lie between `queuedAt` and `endedAt`, and their usage adds up to that of the run.
 *
 * @example
 * ```ts
 * const spans = spansOf({ events, queuedAt: 0, startedAt: 10, endedAt: 99, usage, describeCall, isWaiting });
 * ```
 */
export function spansOf(input: SpanInput): Span[] {
	const { queuedAt, startedAt, endedAt, usage } = input;
	const walk = new Walk(input);
	if (startedAt === undefined || startedAt > queuedAt)
		walk.add({ kind: "queued", start: queuedAt, end: startedAt ?? endedAt, label: "waits for a slot" });
	if (startedAt !== undefined) {
		for (const event of input.events) walk.hear(event);
		walk.finish();
	}
	if (usage) walk.addMissing(minus(usage, walk.usage));
	return walk.spans.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Something that has begun and not ended. */
interface Open {
	span: Span;
	/** How its end is recognized. */
	key: string;
}

class Walk {
	readonly spans: Span[] = [];
	readonly #input: SpanInput;
	#open: Open[] = [];
	/** When the model was asked; undefined while it is not its turn. */
	#askedAt: number | undefined;
	#lastModel: Span | undefined;
	#now: number;

	constructor(input: SpanInput) {
		this.#input = input;
		this.#now = input.startedAt ?? input.endedAt;
		this.#askedAt = this.#now;
	}

	get usage(): Usage {
		return this.spans.reduce((sum, { usage }) => addUsage(sum, usage), addUsage());
	}

	add(span: Span): Span {
		const start = this.#within(span.start);
		const added = { ...span, start, end: Math.max(start, this.#within(span.end)) };
		this.spans.push(added);
		return added;
	}

	hear(event: AgentEvent): void {
		this.#now = Math.max(this.#now, this.#within(event.at)); // the time of day may have been set back
		switch (event.type) {
			case "assistant_text":
				this.#answered(event);
				return;
			case "usage":
				this.#spend(event.usage);
				return;
			case "tool_call":
				this.#askedAt = undefined;
				this.#begin(callKey(event), {
					kind: this.#input.isWaiting(event) ? "agents" : "tool",
					label: this.#input.describeCall(event),
					tool: event.tool,
					...(event.callId === undefined ? {} : { callId: event.callId }),
				});
				return;
			case "tool_result":
				this.#end(callKey(event), event.isError ? { error: "the tool failed" } : {});
				return;
			case "agent_asked":
				if (this.#open.some(({ key }) => key === "question")) return; // passed on
				this.#begin("question", { kind: event.to === "agent" ? "agents" : "person", label: event.question });
				return;
			case "agent_answered":
				this.#end("question");
				return;
			case "compacting":
				this.#begin("compaction", { kind: "compaction", label: "compacts its context" });
				return;
			case "compacted":
				this.#end("compaction", event.ok ? {} : { error: "the compaction failed" });
				return;
			case "verifying":
				this.#askedAt = undefined;
				this.#begin("verification", { kind: "verification", label: event.command });
				return;
			case "verified":
				this.#end("verification", event.verification.ok ? {} : { error: event.verification.problem ?? "it failed" });
				if (event.verification.ok) this.#askedAt = undefined;
				return;
			case "retrying":
				this.#retry(event);
				return;
			case "falling_back":
				this.#askedAt ??= this.#now;
				this.#closeModel(`falls back to ${event.to}`, { error: event.error, model: event.from });
				return;
			case "turn":
				this.#askedAt ??= this.#now;
				return;
			case "agent_steered":
				this.#askedAt ??= this.#now; // an idle agent continues
				return;
			case "idle":
				this.#end("verification"); // of one that passed, a log that an agent can write says no more
				this.#askedAt = undefined;
				return;
		}
	}

	/** What is still open was cut off by the end of the run, or continues. */
	finish(): void {
		this.#now = this.#input.endedAt;
		const label = this.#input.isRunning ? "continues" : "was cut off";
		const isLonger = this.#input.isRunning || this.#now > (this.#askedAt ?? this.#now);
		if (this.#askedAt !== undefined && this.#open.length === 0 && isLonger)
			this.add({ kind: "model", start: this.#askedAt, end: this.#now, label, isCut: true });
		for (const { span } of this.#open.splice(0)) this.add({ ...span, end: this.#now, isCut: true });
	}

	/** Usage that no line of the log accounts for. */
	addMissing(usage: Usage): void {
		if (isZero(usage)) return;
		const { endedAt } = this.#input;
		this.add({ kind: "model", start: endedAt, end: endedAt, label: "not in the log", usage });
	}

	#answered({ text, model, error }: AgentEvent & { type: "assistant_text" }): void {
		this.#closeModel(text.trim().split("\n", 1)[0] || "calls tools", {
			...(model === undefined ? {} : { model }),
			...(error === undefined ? {} : { error }),
		});
	}

	#closeModel(label: string, more: Partial<Span>): void {
		this.#lastModel = this.add({ kind: "model", start: this.#askedAt ?? this.#now, end: this.#now, label, ...more });
		this.#askedAt = undefined;
	}

	/** Providers report usage right after the answer; some before it. */
	#spend(usage: Usage): void {
		this.#lastModel ??= this.add({ kind: "model", start: this.#now, end: this.#now, label: "calls tools" });
		this.#lastModel.usage = addUsage(this.#lastModel.usage, usage);
	}

	/** The delay is announced; what comes sooner ends it. */
	#retry({ attempt, maxAttempts, delayMs, error }: AgentEvent & { type: "retrying" }): void {
		const label = `retries (${attempt} of ${maxAttempts}) after ${error.split("\n", 1)[0]}`;
		const { end } = this.add({ kind: "retry", start: this.#now, end: this.#now + delayMs, label, error });
		this.#askedAt = end;
	}

	#begin(key: string, span: Pick<Span, "kind" | "label"> & Partial<Span>): void {
		this.#open.push({ key, span: { ...span, start: this.#now, end: this.#now } });
	}

	#end(key: string, more: Partial<Span> = {}): void {
		const index = this.#open.findIndex((each) => each.key === key);
		const [found] = index < 0 ? [] : this.#open.splice(index, 1);
		if (found) this.add({ ...found.span, end: this.#now, ...more });
		// The last tool has ended: the model reads the results.
		if (this.#open.length === 0) this.#askedAt ??= this.#now;
	}

	#within(time: number): number {
		const { queuedAt, endedAt } = this.#input;
		return Math.min(Math.max(Math.floor(time), queuedAt), endedAt);
	}
}

/** Calls without an id are matched with their results by name, in order. */
function callKey({ callId, tool }: { callId?: string; tool: string }): string {
	return callId === undefined ? `tool ${tool}` : `call ${callId}`;
}
