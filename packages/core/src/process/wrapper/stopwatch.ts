/** How long a run has taken, and over what: stops it when a limit on its time is reached, whoever else is gone. */
import type { ChildEvent } from "@pi-subagents/progress";
import { type Clock, steadyClock } from "../../clock.ts";
import { nextDeadline, speaksAnew } from "../../deadlines.ts";
import type { AgentEvent } from "../../event.ts";
import { type AgentRecord, newRecord } from "../../record.ts";
import { reduce } from "../../reduce.ts";
import type { Stop } from "../../runner.ts";
import type { Meta } from "../layout.ts";

export class Stopwatch {
	readonly #meta: Meta;
	readonly #clock: Clock;
	readonly #onLate: (stop: Stop) => void;
	readonly #tools = new Map<string, { tool: string; startedAt: number }>();
	#record: AgentRecord;
	#seq = 0;
	#holds = 0;
	#restedAt = 0;
	#cancel = (): void => undefined;

	/** Time counts from now. */
	constructor(meta: Meta, clock: Clock, onLate: (stop: Stop) => void) {
		this.#meta = meta;
		this.#clock = steadyClock(clock);
		this.#onLate = onLate;
		this.#record = newRecord({ ...this.#envelope(this.#clock.now()), type: "agent_queued", agent: identityIn(meta) });
		this.#reduce({ ...this.#envelope(this.#clock.now()), type: "agent_started" });
		this.#watch();
	}

	/** What the child has done so far. */
	get record(): AgentRecord {
		return this.#record;
	}

	observe(event: ChildEvent): void {
		const at = this.#clock.now();
		if (speaksAnew(event)) this.#tools.clear();
		if (event.type === "tool_call") this.#tools.set(event.callId ?? event.tool, { tool: event.tool, startedAt: at });
		if (event.type === "tool_result") this.#tools.delete(event.callId ?? event.tool);
		this.#reduce({ ...event, ...this.#envelope(at) });
		if (event.type === "tool_call") this.#watch();
	}

	/** It rightly waits for something; only its whole time counts until the returned function is called. */
	hold(): () => void {
		this.#holds++;
		this.#watch();
		return () => {
			this.#holds--;
			this.#restedAt = this.#clock.now();
			this.#watch();
		};
	}

	close(): void {
		this.#cancel();
	}

	#watch(): void {
		this.#cancel();
		const deadline = this.#nextDeadline();
		if (!deadline) return;
		this.#cancel = this.#clock.after(Math.max(0, deadline.at - this.#clock.now()), () => {
			// Events only move deadlines away, so most timers find that theirs has moved, and go on.
			const due = this.#nextDeadline();
			if (due && due.at <= this.#clock.now()) this.#onLate(due.stop);
			else this.#watch();
		});
	}

	#nextDeadline() {
		const { startedAt: beganAt = 0, lastEventAt: movedAt } = this.#record;
		const pace = { beganAt, movedAt, tools: this.#tools, holds: this.#holds, restedAt: this.#restedAt };
		return nextDeadline(this.#record, this.#meta.spec.limits, pace);
	}

	#reduce(event: AgentEvent): void {
		this.#record = reduce(this.#record, event) ?? this.#record;
	}

	#envelope(at: number) {
		return { agentId: this.#meta.agentId, run: this.#meta.run, seq: ++this.#seq, at };
	}
}

function identityIn({ spec: { type, description, task, cwd, runner, model } }: Meta) {
	return { depth: 1, type, description, task, cwd, runner, model, isBackground: true };
}
