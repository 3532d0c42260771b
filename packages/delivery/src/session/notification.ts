/** The message that delivers results: its type, and the details that say which runs it delivers. A contract with session files. */
import type { Status } from "@pi-subagents/core";
import type { OutcomeFacts } from "@pi-subagents/progress";

/** The one type of message that delivers results. */
export const NOTIFICATION = "subagent-notification";

/** A message with the results of one or more runs. */
export interface Notification {
	customType: typeof NOTIFICATION;
	display: true;
	/** What the model reads. */
	content: string;
	details: NotificationDetails;
}

/** Kept in the session log: small, and JSON only. */
export interface NotificationDetails {
	/** The runs whose results the message delivers. A session that holds it gets no second one for them. */
	runIds: string[];
	/** What a person sees of them. */
	agents: NotifiedAgent[];
}

export interface NotifiedAgent {
	id: string;
	name?: string;
	preset: string;
	description: string;
	status: Status;
	/** How it ended, as one line. */
	summary: string;
	/** How it ended, as data. Messages of older versions have only the line. */
	outcome?: OutcomeFacts;
	/** A workflow that can be continued. */
	isPaused?: true;
	/** The beginning of what it said. */
	preview: string;
	/** The end of what the command printed that did not accept its work. */
	checkOutput?: string;
	toolUses: number;
	tokens: number;
	/** In US dollars, if known. */
	cost?: number;
	durationMs: number;
	resultPath?: string;
}

/** The runs that a message delivers, from its details as they are found in a session file. */
export function runIdsIn(details: unknown): string[] {
	const runIds = typeof details === "object" && details !== null && "runIds" in details ? details.runIds : undefined;
	return Array.isArray(runIds) ? runIds.filter((runId) => typeof runId === "string") : [];
}
