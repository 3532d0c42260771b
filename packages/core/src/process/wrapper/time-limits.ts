/** Enforces a run's time limits, even if no one watches it. */
import type { ChildEvent } from "@pi-subagents/progress";
import { type Clock, steadyClock, wholeMs } from "../../base/clock.ts";
import { endsTools, nextDeadline } from "../../model/deadlines.ts";
import type { AgentEvent } from "../../model/event.ts";
import { type AgentRecord, newRecord } from "../../model/record.ts";
import { reduce } from "../../model/reduce.ts";
import type { Stop } from "../../model/runner.ts";
import type { Meta } from "../../runs/format/meta.ts";

export class TimeLimits {
	readonly #meta: Meta;
	readonly #clock: Clock;
	readonly #onLate: (stop: Stop) => void;
	readonly #tools = new Map<string, { tool: string; startedAt: number }>();
	/** When it began, by the time of day. */
	readonly startedAt: number;
	#record: AgentRecord;
	#seq = 0;
	#holds = 0;
	#restedAt = 0;
	#cancel = (): void => undefined;

	/** The clock starts now. */
	constructor(meta: Meta, clock: Clock, onLate: (stop: Stop) => void) {
		this.#meta = meta;
		this.#clock = steadyClock(clock);
		this.startedAt = clock.now();
		this.#onLate = onLate;
		this.#record = newRecord({ ...this.#envelope(this.#clock.now()), type: "agent_queued", agent: identityIn(meta) });
		this.#reduce({ ...this.#envelope(this.#clock.now()), type: "agent_started" });
		this.#watch();
	}

	/** The child's record so far. */
	get record(): AgentRecord {
		return this.#record;
	}

	/** The duration so far. */
	get elapsedMs(): number {
		return wholeMs(this.#record.queuedAt, this.#clock.now());
	}

	observe(event: ChildEvent): void {
		const at = this.#clock.now();
		if (endsTools(event)) this.#tools.clear();
		if (event.type === "tool_call") this.#tools.set(event.callId ?? event.tool, { tool: event.tool, startedAt: at });
		if (event.type === "tool_result") this.#tools.delete(event.callId ?? event.tool);
		this.#reduce({ ...event, ...this.#envelope(at) });
		if (event.type === "tool_call" || event.type === "verified") this.#watch();
	}

	/** Stops all clocks but the total one until the returned function is called. */
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
			// Events only postpone deadlines, so most timers find that theirs has moved and wait again.
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
