/** The one item in pi's footer: how many agents there are, what the user is asked, and what quitting would stop. Pure. */
import type { AgentRecord } from "@pi-subagents/core";
import { formatCount, isElsewhere, sanitize, tally, tallyText } from "@pi-subagents/progress";
import { clip, firstThatFits } from "@pi-subagents/widget/cells";

export interface FooterFacts {
	/** The agents of all levels that have not settled. */
	active: readonly AgentRecord[];
	/** The runs that outlive the session: all, and those that have not settled. */
	detached: { total: number; running: number };
	/** Of the terminal, if there is one: pi cuts what is longer, and what quitting stops comes last. */
	columns?: number | undefined;
}

const QUESTION_COLUMNS = 30;

/**
 * `agents: 2 running, 1 waiting for you (Which one?) · quitting stops them`; undefined if there is nothing to say. Where
 * that is too long, the question goes first, then the states of agents that nobody has to answer, then detached agents.
 */
export function footerText({ active, detached, columns = Number.POSITIVE_INFINITY }: FooterFacts): string | undefined {
	const inside = active.filter(({ outlives }) => !outlives);
	const outside = active.filter(({ outlives }) => outlives);
	const isAsking = (agent: AgentRecord) => agent.status === "waiting" && !isElsewhere(agent);
	const count = inside.length === 0 ? "" : formatCount(inside.length, "agent");
	const waiting = inside.some(isAsking) ? `, ${tallyText(inside.filter(isAsking))}` : "";
	const apart = detachedText(outside, detached);
	const quitting = inside.length === 0 ? "" : `quitting stops ${stoppedText(inside.length, active.length)}`;
	const forms = [
		["agents:", withQuestion(tallyText(inside), inside), withQuestion(apart, outside), quitting],
		["agents:", tallyText(inside), apart, quitting],
		["", `${count}${waiting}`, apart, quitting],
		["", `${count}${waiting}`, quitting],
		["", count, quitting],
	].map(([title, ...parts]) => [title, parts.filter((part) => part !== "").join(" · ")].filter(Boolean).join(" "));
	return active.length === 0 && apart === "" ? undefined : firstThatFits(forms.filter(Boolean), columns);
}

/** `1 of 3 detached running, 1 waiting for you`. */
function detachedText(active: readonly AgentRecord[], { total, running }: FooterFacts["detached"]): string {
	if (active.length === 0) return total === 0 ? "" : `${running} of ${total} detached running`;
	const of = ` of ${Math.max(total, active.length)} detached`;
	return tally(active)
		.map(({ count, word }, at) => `${count}${at === 0 ? of : ""} ${word}`)
		.join(", ");
}

function withQuestion(text: string, agents: readonly AgentRecord[]): string {
	const asked = agents.find((agent) => agent.question !== undefined && !isElsewhere(agent))?.question;
	return asked === undefined ? text : `${text} (${clip(sanitize(asked), QUESTION_COLUMNS)})`;
}

function stoppedText(stopped: number, active: number): string {
	if (stopped < active) return String(stopped);
	return stopped === 1 ? "it" : "them";
}
