/** The record of a wrapper's child: what it has used and done so far, from the same events and by the same rules as everywhere. */

import type { AgentEvent, Clock, LifeCycleEvent } from "@pi-subagents/core";
import { type AgentRecord, reduce } from "@pi-subagents/core";
import { agentIdentity, newRecord } from "@pi-subagents/core/internal/run";
import type { ChildEvent } from "@pi-subagents/progress";
import type { Meta } from "@pi-subagents/runs";

export class ChildRecord {
	readonly #meta: Meta;
	readonly #clock: Pick<Clock, "now">;
	#record: AgentRecord;
	#seq = 0;

	/** The run starts now. */
	constructor(meta: Meta, clock: Pick<Clock, "now">) {
		this.#meta = meta;
		this.#clock = clock;
		const { spec, depth = 1, isBackground = true } = meta;
		const agent = agentIdentity(spec, { depth, isBackground });
		this.#record = newRecord({ type: "agent_queued", agent, ...this.#envelope() });
		this.observe({ type: "agent_started" });
	}

	get current(): AgentRecord {
		return this.#record;
	}

	observe(event: ChildEvent | Extract<LifeCycleEvent, { type: "agent_started" }>): void {
		const happened: AgentEvent = { ...event, ...this.#envelope() };
		this.#record = reduce(this.#record, happened) ?? this.#record;
	}

	#envelope() {
		const { agentId, run } = this.#meta;
		return { agentId, run, seq: ++this.#seq, at: Math.floor(this.#clock.now()) };
	}
}
