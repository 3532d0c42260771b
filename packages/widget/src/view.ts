/** What the widget needs to know of an agent. Everybody's data fits: only two fields are required. */
import type { Usage } from "@pi-subagents/progress";

export type ViewStatus = "queued" | "running" | "waiting" | "completed" | "failed" | "aborted";

export interface AgentView {
	id: string;
	status: ViewStatus;
	parentAgentId?: string | undefined;
	depth?: number | undefined;
	type?: string | undefined;
	description?: string | undefined;
	model?: string | undefined;
	startedAt?: number | undefined;
	completedAt?: number | undefined;
	error?: string | undefined;
	activity?: string | undefined;
	turns?: number | undefined;
	maxTurns?: number | undefined;
	toolUses?: number | undefined;
	usage?: Usage | undefined;
}
