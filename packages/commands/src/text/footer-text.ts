/** The one item in pi's footer: how many agents there are, what the user is asked, and what quitting would stop. Pure. */
import type { AgentRecord } from "@pi-subagents/core";
import { beginningOf, isElsewhere, sanitize, tallyText } from "@pi-subagents/progress";

export interface FooterFacts {
	/** The agents of all levels that have not settled. */
	active: readonly AgentRecord[];
	/** The runs that outlive the session: all, and those that have not settled. */
	detached: { total: number; running: number };
}

/** pi cuts the footer where the screen ends, so what follows a question would not be seen. */
const QUESTION_CHARACTERS = 30;

/** `agents: 2 running, 1 waiting for you (Which one?) · quitting stops 3`; undefined if there is nothing to say. */
export function footerText({ active, detached }: FooterFacts): string | undefined {
	const asked = active.find((agent) => agent.question !== undefined && !isElsewhere(agent))?.question;
	const stopped = active.filter(({ outlives }) => !outlives).length;
	const parts = [
		`${tallyText(active)}${asked === undefined ? "" : ` (${clipped(sanitize(asked))})`}`,
		...(detached.total > 0 ? [`${detached.running} of ${detached.total} detached running`] : []),
		...(stopped > 0 ? [`quitting stops ${stopped === active.length ? them(stopped) : stopped}`] : []),
	].filter((part) => part !== "");
	return parts.length === 0 ? undefined : `agents: ${parts.join(" · ")}`;
}

function clipped(question: string): string {
	return question.length > QUESTION_CHARACTERS ? `${beginningOf(question, QUESTION_CHARACTERS - 1)}…` : question;
}

function them(count: number): string {
	return count === 1 ? "it" : "them";
}
