/** What the arguments of subcommands can be: agents by their ids, presets by their names. Pure. */
import type { AgentRecord } from "@pi-subagents/core";
import type { Preset } from "@pi-subagents/presets";
import type { Offer } from "./subcommand.ts";
import { inOrder } from "./words.ts";

/** Those at work, and those launched last, are most likely meant. */
export function agentOffers(agents: readonly AgentRecord[]): Offer[] {
	return inOrder(agents).map(({ id, name, type, status, description }) => ({
		value: id,
		alias: name,
		label: `${id} ${name ?? type}`,
		description: `${status}: ${description}`,
	}));
}

export function presetOffers(presets: readonly Preset[]): Offer[] {
	return presets.map(({ name, description }) => ({ value: name, label: name, description }));
}
