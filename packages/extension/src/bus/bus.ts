/**
 * Publishes agent events of the whole tree and settings changes to other extensions over pi's bus. Restored events are
 * not re-emitted.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import {
	type AgentEvent,
	type AgentRecord,
	type Clock,
	type Manager,
	steadyClock,
	systemClock,
} from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import type { Settings } from "@pi-subagents/launch";
import {
	isV2Failure,
	type LifecycleEvent,
	type LifecycleEvents,
	lifecycleChannels,
	type SettledAgent,
} from "@pi-subagents/rpc";
import type { Host } from "../host/host.ts";
import { publishLive } from "./live.ts";
import { agentNewsOf, compactionOf, settledAgentOf } from "./payloads.ts";

export interface BusDeps {
	manager: Manager;
	host: Pick<Host, "warn">;
	clock?: Clock;
}

export interface EventPublisher {
	/** Publishes the settings if they changed. */
	settings(settings: Settings): void;
	/** Publishes that an agent whose id a caller knows was not launched. */
	refused(agent: SettledAgent): void;
	/** Publishes that requests are answered and a session is open. */
	ready(): void;
}

export function publishEvents({ events }: Pick<ExtensionAPI, "events">, deps: BusDeps): EventPublisher {
	const { manager, host, clock = systemClock } = deps;
	const monotonic = steadyClock(clock);
	const startedAt = monotonic.now();
	/** In current wall clock time, which may have been changed. */
	const processStart = () => clock.now() - (monotonic.now() - startedAt);
	const liveAgents = new Set<string>();
	let known: string | undefined;
	const publish = <Event extends LifecycleEvent>(event: Event, payload: LifecycleEvents[Event]) =>
		void bestEffort(`publishing "${event}"`, host.warn, () => events.emit(lifecycleChannels[event], payload));
	/** Events of earlier processes are restored into the store. Of a rejoined run, only new events count. */
	const isNew = ({ type, agentId, at }: AgentEvent, { outlives = false }: AgentRecord) => {
		if (type === "agent_queued" && manager.specOf(agentId)) liveAgents.add(agentId);
		const isLive = liveAgents.has(agentId);
		if (type === "agent_settled") liveAgents.delete(agentId);
		return isLive && (!outlives || at >= processStart()); // other runs started in this process
	};
	// Before the rest: what an agent wrote is sent before its end.
	const live = publishLive(
		{ events },
		{
			manager,
			clock,
			isNew: (agentId, at) => {
				const { outlives = false } = manager.store.record(agentId) ?? {};
				return liveAgents.has(agentId) && (!outlives || at >= processStart());
			},
			attempt: (what, work) => void bestEffort(what, host.warn, work),
		},
	);

	manager.store.subscribe(({ event, record }) => {
		if (!isNew(event, record)) return;
		switch (event.type) {
			case "agent_queued":
				if (record.run === 1) publish("created", { ...agentNewsOf(record), isBackground: record.isBackground });
				break;
			case "agent_started":
				publish("started", agentNewsOf(record));
				live.findReaders(record.id);
				break;
			case "turn":
				live.findReaders(record.id);
				break;
			case "agent_steered":
				publish("steered", { id: record.id, message: event.message });
				break;
			case "compacted":
				if (event.ok) publish("compacted", compactionOf(record, event));
				break;
			case "agent_settled": {
				const settled = settledAgentOf(record, event.outcome);
				publish(isV2Failure(settled.status) ? "failed" : "completed", settled);
				if (record.run > 1) publish("resumed", settledAgentOf(record, event.outcome));
				break;
			}
			default: // other events are not published
				break;
		}
	});
	return {
		ready: () => publish("ready", {}),
		refused: (agent) => publish("failed", agent),
		settings(settings) {
			const text = JSON.stringify(settings);
			if (text === known) return;
			if (known === undefined) publish("settings_loaded", { settings: { ...settings } });
			else publish("settings_changed", { settings: { ...settings }, persisted: true }); // settings come from files
			known = text;
		},
	};
}
