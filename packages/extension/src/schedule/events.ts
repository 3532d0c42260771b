/** What other extensions hear of schedules, on pi's bus. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { bestEffort, type Report } from "@pi-subagents/core";
import type { Job } from "@pi-subagents/schedule";
import type { Scope } from "./request.ts";

export type ScheduleEvent =
	| { type: "added" | "updated"; job: Job & { scope: Scope } }
	| { type: "removed"; jobId: string }
	| { type: "fired"; jobId: string; agentId: string; name: string }
	| { type: "error"; jobId: string; error: string };

export type Announce = (event: ScheduleEvent) => void;

export function announcer({ events }: Pick<ExtensionAPI, "events">, report: Report) {
	const emit = (channel: string, event: object) =>
		void bestEffort("telling other extensions of schedules", report, () => events.emit(channel, event));
	return {
		announce: (event: ScheduleEvent) => emit("subagents:scheduled", event),
		ready: (event: { sessionId: string; jobCount: number }) => emit("subagents:scheduler_ready", event),
	};
}
