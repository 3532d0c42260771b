/**
 * Tells other extensions over pi's bus what happens to agents, all of the tree, and to the settings. What an opened
 * session remembers is no news: only what happens from now on is told.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import {
	type AgentEvent,
	type AgentRecord,
	bestEffort,
	type Clock,
	type Manager,
	steadyClock,
	systemClock,
} from "@pi-subagents/core";
import { isV2Failure, type LifecycleEvent, type LifecycleEvents, lifecycleChannels } from "@pi-subagents/rpc";
import type { Host } from "../host.ts";
import type { Settings } from "../settings.ts";
import { compactionOf, newsOf, settledAgentOf } from "./payloads.ts";

export interface BusDeps {
	manager: Manager;
	host: Pick<Host, "tell">;
	clock?: Clock;
}

export interface BusTeller {
	/** The settings were read. */
	settings(settings: Settings): void;
	/** Requests are answered from now on, and a session is open. */
	ready(): void;
}

export function tellBus({ events }: Pick<ExtensionAPI, "events">, deps: BusDeps): BusTeller {
	const { manager, host, clock = systemClock } = deps;
	const steady = steadyClock(clock);
	const bornAt = steady.now();
	/** By the time of day as it is set now. */
	const birth = () => clock.now() - (steady.now() - bornAt);
	const live = new Set<string>();
	let known: string | undefined;
	const tell = <Event extends LifecycleEvent>(event: Event, payload: LifecycleEvents[Event]) =>
		void bestEffort(`telling other extensions of "${event}"`, host.tell, () =>
			events.emit(lifecycleChannels[event], payload),
		);
	/** What an earlier process did is read back into the store. Of a run that is rejoined, only what it does from now on counts. */
	const isNews = ({ type, agentId, at }: AgentEvent, { outlives = false }: AgentRecord) => {
		if (type === "agent_queued" && manager.specOf(agentId)) live.add(agentId);
		const isLive = live.has(agentId);
		if (type === "agent_settled") live.delete(agentId);
		return isLive && (!outlives || at >= birth()); // all others began here
	};

	manager.store.subscribe((event, record) => {
		if (!isNews(event, record)) return;
		switch (event.type) {
			case "agent_queued":
				if (record.run === 1) tell("created", { ...newsOf(record), isBackground: record.isBackground });
				break;
			case "agent_started":
				tell("started", newsOf(record));
				break;
			case "agent_steered":
				tell("steered", { id: record.id, message: event.message });
				break;
			case "compacted":
				if (event.ok) tell("compacted", compactionOf(record, event));
				break;
			case "agent_settled": {
				const settled = settledAgentOf(record, event.outcome);
				tell(isV2Failure(settled.status) ? "failed" : "completed", settled);
				break;
			}
			default: // what an agent does in between is shown, not told
				break;
		}
	});
	return {
		ready: () => tell("ready", {}),
		settings(settings) {
			const text = JSON.stringify(settings);
			if (text === known) return;
			if (known === undefined) tell("settings_loaded", { settings: { ...settings } });
			else tell("settings_changed", { settings: { ...settings }, persisted: true }); // they come from files
			known = text;
		},
	};
}
