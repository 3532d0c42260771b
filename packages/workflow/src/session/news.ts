/** The events about a workflow for other extensions. Pure. */
import { defined } from "@pi-subagents/core/internal/base";
import type { JournalEvent } from "../journal/events.ts";
import { progressOf, type WorkflowState } from "../journal/state.ts";

/** The payload of `subagents:workflow_<type>`, one for each event of the journal. */
export interface WorkflowNews {
	/** The agent id of the workflow. */
	id: string;
	name: string;
	type: JournalEvent["type"];
	/** Milliseconds since the epoch. */
	at: number;
	/** The last phase that the script announced. */
	phase?: string;
	/** How many of its agents have answered, of those it has called. */
	done: number;
	total: number;
	/** The call that it is about. */
	path?: string;
	label?: string;
	agentId?: string;
	/** A log line, or the title of a phase. */
	text?: string;
	/** How it ended, and why if it failed. */
	status?: string;
	error?: string;
}

export function newsOf(event: JournalEvent, state: WorkflowState, id: string): WorkflowNews {
	const path = "path" in event ? event.path : undefined;
	const { label, agentId, phase = state.phase } = (path === undefined ? undefined : state.calls.get(path)) ?? {};
	return {
		id,
		name: state.started?.name ?? "",
		type: event.type,
		at: event.at,
		...progressOf(state),
		...defined({ phase, path, label, agentId }),
		...("text" in event ? { text: event.text } : {}),
		...(event.type === "ended"
			? { status: event.status, ...(event.error === undefined ? {} : { error: event.error }) }
			: {}),
	};
}
