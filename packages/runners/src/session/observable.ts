/** What others may see of a child's session. A listener that throws or rejects harms neither the child nor pi. */
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import type { ChildSession, Report } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";

const known = new WeakMap<AgentSession, ChildSession>();

/** The same object for the same session: observers compare. */
export function observable(session: AgentSession, report: Report): ChildSession {
	const view = known.get(session) ?? viewOf(session, report);
	known.set(session, view);
	return view;
}

function viewOf(session: AgentSession, report: Report): ChildSession {
	return {
		sessionId: session.sessionId,
		get messages() {
			return [...session.messages];
		},
		subscribe: (listener) =>
			session.subscribe((event) => void bestEffort("an observer of an agent", report, () => listener(event))),
	};
}
