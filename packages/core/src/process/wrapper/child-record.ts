/** The record of a wrapper's child: what it has used and done so far, from the same events and by the same rules as everywhere. */
import type { ChildEvent } from "@pi-subagents/progress";
import type { Clock } from "../../base/clock.ts";
import type { AgentEvent, LifeCycleEvent } from "../../model/event.ts";
import { type AgentRecord, newRecord } from "../../model/record.ts";
import { reduce } from "../../model/reduce.ts";
import { agentIdentity } from "../../model/schema/launch.ts";
import type { Meta } from "../../runs/format/meta.ts";

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
