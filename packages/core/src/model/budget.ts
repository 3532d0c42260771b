/** Whether an agent and its descendants have used up their budget. Pure. */
import { formatCost, formatTokens, type Usage } from "@pi-subagents/progress";
import type { Limits } from "./runner.ts";
import { billedTokens } from "./usage.ts";

/** A used-up budget, as text for the one who may extend it. */
export interface Overrun {
	/** `$0.52 of $0.50`. */
	used: string;
	/** The limits if the same amount is granted again. */
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

/** Only a plain yes grants more; anything longer counts as a no, since money is at stake. */
export function isYes(answer: string): boolean {
	return /^\s*(?:y|yes|ok|okay|sure|go on|continue)(?:[\s,.!]+(?:please|go on|continue|sure))*[\s.!]*$/i.test(answer);
}
