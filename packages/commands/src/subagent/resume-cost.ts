/**
 * Before a person resumes an agent whose conversation is long: says what each turn will send and cost, and offers to
 * compact the conversation first. What is expensive is decided purely.
 */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, type RunSpec, splitModelName } from "@pi-subagents/core";
import { formatCost, formatTokens } from "@pi-subagents/progress";
import type { Choice, Screen } from "@pi-subagents/widget/dialogs";
import { agentLabel } from "../text/agent-text.ts";

/** What is known of a model; prices are dollars for a million tokens. */
export interface ModelPrice {
	contextWindow: number;
	cost: { input: number; cacheRead: number };
}

/** What a turn sends before anything new is said. */
export interface TurnCost {
	tokens: number;
	/** At the full price, as the first turn after a pause pays it. */
	cost: number;
	/** At the price of the provider's cache. */
	cachedCost: number;
}

/** Half of the most common window, 200k: from here on turns are slow, and a few of them cost more than a compaction. */
const MANY_TOKENS = 100_000;
/** Twice what pi keeps when it compacts: below, compacting would hardly make a turn cheaper, whatever the model costs. */
const WORTH_COMPACTING = 40_000;
/** Ten turns at this price cost two dollars, more than most agents cost in all. */
const MUCH_MONEY = 0.2;

export type ResumeChoice = "cancel" | "compact" | "as_is";

/** Undefined if the next turns are not expensive, or nothing says how full the context is. */
export function expensiveTurn(
	contextPercent: number | undefined,
	/** The model that filled the context, and the one that reads it next. */
	{ filledBy, readBy }: { filledBy: ModelPrice | undefined; readBy: ModelPrice | undefined },
): TurnCost | undefined {
	const tokens = ((contextPercent ?? 0) / 100) * (filledBy?.contextWindow ?? 0);
	const priceOf = (perMillion = 0) => (tokens * perMillion) / 1_000_000;
	const turn = { tokens, cost: priceOf(readBy?.cost.input), cachedCost: priceOf(readBy?.cost.cacheRead) };
	return tokens >= MANY_TOKENS || (tokens >= WORTH_COMPACTING && turn.cost >= MUCH_MONEY) ? turn : undefined;
}

export function turnCostText({ tokens, cost, cachedCost }: TurnCost): string {
	const cached =
		cachedCost > 0 && cachedCost < cost ? `, or ${dollars(cachedCost)} while the provider has them cached` : "";
	const price = cost > 0 ? ` (about ${dollars(cost)}${cached})` : "";
	return `Each turn sends about ${formatTokens(Math.round(tokens / 1_000) * 1_000)} tokens${price}.`;
}

function dollars(amount: number): string {
	return formatCost(amount < 0.01 ? amount : Math.round(amount * 100) / 100);
}

/** What the run of this spec will send with each turn, if that is expensive. */
export function turnCostOf(
	{ contextPercent, model }: Pick<AgentRecord, "contextPercent" | "model">,
	spec: Pick<RunSpec, "model">,
	{ modelRegistry }: Pick<ExtensionContext, "modelRegistry">,
): TurnCost | undefined {
	const find = (name: string) => {
		const { provider, id } = splitModelName(name);
		return modelRegistry.find(provider, id);
	};
	return expensiveTurn(contextPercent, { filledBy: find(model ?? spec.model), readBy: find(spec.model) });
}

/** Escape cancels. */
export async function askHowToResume(agent: AgentRecord, turn: TurnCost, screen: Screen): Promise<ResumeChoice> {
	const chosen = await screen.choose(resumeChoice(agent, turn));
	return ANSWERS.find((answer) => answer === chosen) ?? "cancel";
}

const ANSWERS: readonly ResumeChoice[] = ["cancel", "compact", "as_is"];

/** The safe choice comes first, as in every decision: Enter pressed too early spends nothing. */
function resumeChoice(agent: AgentRecord, turn: TurnCost): Choice {
	const labels: Record<ResumeChoice, string> = {
		cancel: "Do not resume it",
		compact: "Compact first, then resume",
		as_is: "Resume as it is",
	};
	return {
		title: `Resume ${agentLabel(agent)}?`,
		intro: `${turnCostText(turn)} Compacting reads the conversation once more and replaces all but its end with a summary.`,
		items: () => ANSWERS.map((value) => ({ value, label: labels[value] })),
	};
}
