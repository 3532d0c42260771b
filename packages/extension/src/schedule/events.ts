/** Publishes schedule events to other extensions over pi's bus. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Report } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import type { Scope } from "@pi-subagents/launch";
import type { Job } from "@pi-subagents/schedule";

export type ScheduleEvent =
	| { type: "added" | "updated"; job: Job & { scope: Scope } }
	| { type: "removed"; jobId: string }
	| { type: "fired"; jobId: string; agentId: string; name: string }
	| { type: "error"; jobId: string; error: string };

export type PublishScheduleEvent = (event: ScheduleEvent) => void;

export function scheduleEvents({ events }: Pick<ExtensionAPI, "events">, report: Report) {
	const emit = (channel: string, event: object) =>
		void bestEffort("publishing a schedule event", report, () => events.emit(channel, event));
	return {
		publish: (event: ScheduleEvent) => emit("subagents:scheduled", event),
		ready: (event: { sessionId: string; jobCount: number }) => emit("subagents:scheduler_ready", event),
	};
}
