/** Whether an agent and its descendants have used up their budget. Pure. */
import { formatCost, formatTokens, type Usage } from "@pi-subagents/progress";
import { isNear, type NearLimit } from "./deadlines.ts";
import type { Limits } from "./schema/spec.ts";
import type { Spent } from "./store.ts";
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

/** Whether the rest of a budget should be used for the answer. `turn` is what its last turn used. */
export function nearBudget(usage: Usage, turn: Usage, limits: Limits): NearLimit | undefined {
	const { budgetTokens, budgetCost, wrapUpPercent: percent } = limits;
	const tokens = billedTokens(usage);
	const left: string[] = [];
	if (isNear({ limit: budgetTokens, used: tokens, turn: billedTokens(turn), percent }))
		left.push(
			`${formatTokens(Math.max(0, (budgetTokens ?? 0) - tokens))} of ${formatTokens(budgetTokens ?? 0)} tokens`,
		);
	if (isNear({ limit: budgetCost, used: usage.cost, turn: turn.cost, percent }))
		left.push(`${formatCost(Math.max(0, (budgetCost ?? 0) - usage.cost))} of ${formatCost(budgetCost ?? 0)}`);
	return left[0] === undefined ? undefined : { by: "budget", reason: `${left[0]} are left` };
}

/** What all agents of a session may use together; 0 is no limit. */
export interface SessionLimits {
	/** In US dollars. */
	cost: number;
	tokens: number;
	/** How many may be launched. */
	agents: number;
}

/** At this share of a session's budget the user gets a notice. */
const NOTICE_SHARE = 0.8;

/** The parts of the session's budget, with what was used of each: `$4.10 of $5.00`. */
export function sessionParts({ usage, agents }: Spent, limits: SessionLimits) {
	const tokens = billedTokens(usage);
	return [
		{
			name: "cost",
			used: usage.cost,
			limit: limits.cost,
			text: `${formatCost(usage.cost)} of ${formatCost(limits.cost)}`,
		},
		{
			name: "tokens",
			used: tokens,
			limit: limits.tokens,
			text: `${formatTokens(tokens)} of ${formatTokens(limits.tokens)} tokens`,
		},
		{ name: "agents", used: agents, limit: limits.agents, text: `${agents} of ${limits.agents} agents` },
	]
		.filter(({ limit }) => limit > 0)
		.map((part) => ({ ...part, isOver: part.used >= part.limit, isNear: part.used >= part.limit * NOTICE_SHARE }));
}

/**
 * What one of several runs may use in all without the process that counts for the session: what it has used, and its
 * share of what is left. All of them together then use no more than that.
 */
export function shareOf(
	used: Usage,
	{ spent, limits, among }: { spent: Usage; limits: Limits; among: number },
): Limits {
	const { budgetTokens, budgetCost } = limits;
	const share = (limit: number, total: number) => Math.max(0, limit - total) / Math.max(1, among);
	return {
		...(budgetTokens !== undefined && {
			budgetTokens: billedTokens(used) + Math.floor(share(budgetTokens, billedTokens(spent))),
		}),
		...(budgetCost !== undefined && { budgetCost: used.cost + share(budgetCost, spent.cost) }),
	};
}

/** The limits if the same amount of everything that is used up is granted again. */
export function extendSession(limits: SessionLimits, spent: Spent, granted: SessionLimits): SessionLimits {
	const extended = { ...granted };
	for (const { name, used, isOver } of sessionParts(spent, granted)) {
		const key = name as keyof SessionLimits;
		if (isOver) extended[key] = used + limits[key];
	}
	return extended;
}

/** Only a plain yes grants more; anything longer counts as a no, since money is at stake. */
export function isYes(answer: string): boolean {
	return /^\s*(?:y|yes|ok|okay|sure|go on|continue)(?:[\s,.!]+(?:please|go on|continue|sure))*[\s.!]*$/i.test(answer);
}
