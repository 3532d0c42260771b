/** Whether an agent, with all that it launched, has used up what it was given. Pure. */
import { formatCost, formatTokens, type Usage } from "@pi-subagents/progress";
import type { Limits } from "./runner.ts";
import { billedTokens } from "./usage.ts";

/** A budget that is used up, in words for the one who may grant more. */
export interface Overrun {
	/** `$0.52 of $0.50`. */
	used: string;
	/** What the limits become when as much again is granted. */
	extended: Limits;
}

export function overrun(usage: Usage, limits: Limits): Overrun | undefined {
	const { budgetTokens, budgetCost } = limits;
	const tokens = billedTokens(usage);
	if (budgetTokens !== undefined && tokens >= budgetTokens) {
		return {
			used: `${formatTokens(tokens)} of ${formatTokens(budgetTokens)} tokens`,
			extended: { ...limits, budgetTokens: tokens + budgetTokens },
		};
	}
	if (budgetCost !== undefined && usage.cost >= budgetCost) {
		return {
			used: `${formatCost(usage.cost)} of ${formatCost(budgetCost)}`,
			extended: { ...limits, budgetCost: usage.cost + budgetCost },
		};
	}
	return undefined;
}

/** A plain yes grants more; anything that says more than that is taken as a no, since money is at stake. */
export function isYes(answer: string): boolean {
	return /^\s*(?:y|yes|ok|okay|sure|go on|continue)(?:[\s,.!]+(?:please|go on|continue|sure))*[\s.!]*$/i.test(answer);
}
