/** How the agents of a call ended, as its row shows it. The details come from a session file and are checked. Pure. */
import { type AgentDetails, factsIn, outcomeForPeople, saidIn } from "@pi-subagents/core/outcome-text";
import { endText, sanitizeBlock, unfenced, whyText } from "@pi-subagents/progress";

export interface ShownEnd {
	agentId: string;
	status: "completed" | "failed" | "aborted";
	/** How it ended, such as `Failed after 2s: Too many requests`. */
	how: string;
	/** The same beside an icon and a time. */
	why: string;
	/** What it said, what was wrong with that, and what became of its worktree. */
	said: string;
}

/** Of the agents that have settled. `text` is that of the result, as it is stored. */
export function endsOf(agents: readonly AgentDetails[], text: string): ShownEnd[] {
	return agents.flatMap((agent) => endOf(agent, text) ?? []);
}

function endOf({ agentId, durationMs, structured, said, ...agent }: AgentDetails, text: string): ShownEnd | undefined {
	const outcome = factsIn(agent.outcome);
	if (!outcome) return undefined;
	// Someone changed the text: then all of it is shown.
	const words = said === undefined ? "" : (saidIn(text, said) ?? unfenced(sanitizeBlock(text)));
	return {
		agentId,
		status: outcome.status,
		how: endText(outcome, { durationMs }),
		why: whyText(outcome, { durationMs }),
		said: outcomeForPeople({ outcome, structured, said: words }),
	};
}
