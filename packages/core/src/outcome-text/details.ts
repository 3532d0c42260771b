/** The details of a tool result. Small JSON only: pi writes it to the session file. */

import type { Status } from "@pi-subagents/progress";
import {
	beginningOf,
	endText,
	type Outcome,
	type OutcomeFacts,
	verificationText,
	type WaitsFor,
} from "@pi-subagents/progress";
import { wholeMs } from "../base/clock.ts";
import { defined } from "../base/values.ts";
import type { AgentRecord } from "../model/record.ts";
import { cachedShare, workTokens } from "../model/usage.ts";
import { factsOf } from "./facts.ts";
import type { Said } from "./said.ts";
import { type StructuredDetails, structuredDetails } from "./structured.ts";

export interface AgentDetails {
	agentId: string;
	preset: string;
	status: Status;
	/** What it was launched for, in short. */
	description?: string;
	/** What it does, while it runs; why it did not complete, if it did not. */
	activity?: string;
	/** What it asks, while it waits. */
	question?: string;
	/** Whom it asks, while it waits. */
	waitsFor?: WaitsFor;
	toolUses: number;
	turns: number;
	/** New work only, without tokens read from the cache. */
	tokens: number;
	/** The share of its input that came from the provider's cache. */
	cachedPercent?: number;
	/** In US dollars, if known. */
	cost?: number;
	/** With that of its sub-agents, if it has any. */
	treeCost?: number;
	durationMs: number;
	/** How its answer fared against the output schema. */
	structured?: StructuredDetails;
	/** Whether its work was verified, and how. */
	verified?: string;
	/** How it ended, once it has. */
	outcome?: OutcomeFacts;
	/** Where the text of the result has what it said. */
	said?: Said;
	/** The one that it uses. */
	model?: string;
	/** The models that failed before the current one. */
	attempts?: readonly { model: string; error: string }[];
}

/** More than a line of any screen. */
const DESCRIPTION_CHARACTERS = 200;

/** What is known of an agent beside its record. */
export interface DetailFacts {
	/** How long it has been running. */
	elapsedMs?: number | undefined;
	/** What it and its sub-agents cost together. */
	treeCost?: number | undefined;
	/** What it does now; by default the last line of its progress. */
	activity?: string | undefined;
	/** Where the text of the result has what it said. */
	said?: Said | undefined;
}

export function detailsOf(record: AgentRecord, live: DetailFacts = {}): AgentDetails {
	const { id, type, status, toolUses, turns, usage, question, waitsFor, outcome } = record;
	const activity = outcome ? endOf(outcome) : (live.activity ?? record.activity ?? record.queuedFor);
	const description = beginningOf(record.description, DESCRIPTION_CHARACTERS);
	const cachedPercent = cachedPercentOf(record);
	const structured = structuredDetails(record);
	return {
		agentId: id,
		preset: type,
		status,
		...defined({ activity, question, waitsFor }),
		...(description === "" ? {} : { description }),
		toolUses,
		turns,
		tokens: workTokens(usage),
		...(cachedPercent > 0 ? { cachedPercent } : {}),
		...(usage.cost > 0 ? { cost: usage.cost } : {}),
		...((live.treeCost ?? 0) > usage.cost ? defined({ treeCost: live.treeCost }) : {}),
		durationMs: live.elapsedMs ?? durationOf(record),
		...defined({ structured, verified: verifiedOf(record) }),
		...defined({ outcome: outcome && factsOf(outcome), said: live.said }),
		...defined({ model: record.model, attempts: record.attempts }),
	};
}

function endOf(outcome: Outcome): string | undefined {
	return outcome.status === "completed" ? undefined : endText(outcome);
}

function verifiedOf({ outcome }: AgentRecord): string | undefined {
	const verification = outcome?.status === "completed" ? outcome.verification : undefined;
	return verification && verificationText(verification);
}

/** A whole number; 0 if nothing was read yet. */
export function cachedPercentOf({ usage }: Pick<AgentRecord, "usage">): number {
	return Math.round(100 * (cachedShare(usage) ?? 0));
}

/** How long it has run, in whole milliseconds, without the time in the queue. */
export function durationOf({ startedAt, lastEventAt, durationMs }: AgentRecord): number {
	return durationMs ?? wholeMs(startedAt ?? lastEventAt, lastEventAt);
}
