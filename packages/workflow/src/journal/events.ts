/**
 * What a workflow's journal says, one JSON object per line. The file only grows. A partial last line was being written
 * when the process died, and a line of an unknown type comes from a newer version; both are skipped.
 */

import type { LaunchedBy } from "@pi-subagents/core";
import { isObject } from "@pi-subagents/core/internal/base";
import type { CallKind } from "../thread/messages.ts";

export type JournalEvent = { at: number } & (
	| Started
	| Resumed
	| Called
	| Launched
	| Answered
	| Noted
	| { type: "retried"; path: string }
	| Moved
	| { type: "paused" }
	| { type: "continued" }
	| Diverged
	| Ended
);

/** The first event: everything that is needed to run the workflow again. */
export interface Started {
	type: "started";
	id: string;
	name: string;
	/** The script's text. */
	script: string;
	args: unknown;
	/** The seed of `Math.random`. */
	seed: string;
	/** Null: no limit. */
	budget: number | null;
	/** Who wrote the script. Absent in journals of older versions. */
	author?: LaunchedBy;
}

/** Another process, or a later run, resumed it. */
interface Resumed {
	type: "resumed";
	/** The script, if it has changed. */
	script?: string;
	/** Who wrote it. */
	author?: LaunchedBy;
}

/** The script made a call. */
interface Called {
	type: "called";
	path: string;
	kind: CallKind;
	/** Of what was asked for: equal calls have equal hashes. */
	hash: string;
	/** A few words for people. */
	label: string;
	phase?: string;
}

/** An agent was launched for the call. It may come again: after a restart, or a retry. */
interface Launched {
	type: "launched";
	path: string;
	agentId: string;
	/** Which of the agent's runs; 1 when absent. */
	run?: number;
}

/** The call has its answer. */
interface Answered {
	type: "answered";
	path: string;
	answer: Answer;
	/** What it took, in tokens. */
	tokens: number;
}

export type Answer =
	/** As JSON. */
	| { ok: true; value: unknown }
	/** `status` says how it ended, `error` why. The call gives null, or throws. */
	| { ok: false; status: "failed" | "aborted" | "skipped"; error: string };

/** A changed script makes the same call in another place: its record moves there. */
interface Moved {
	type: "moved";
	path: string;
	from: string;
	hash: string;
}

/** For people: where the script is, and what it says. */
interface Noted {
	type: "phase" | "log";
	path: string;
	text: string;
}

/** The script made a different call from the recorded one: it has changed, or is not deterministic. */
export interface Diverged {
	type: "diverged";
	path: string;
	/** What the journal holds, and what was called. */
	recorded: string;
	called: string;
}

interface Ended {
	type: "ended";
	status: "completed" | "failed" | "stopped";
	/** What it returned. */
	value?: unknown;
	error?: string;
}

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => typeof value === "number";
const oneOf =
	(...values: readonly string[]): Check =>
	(value) =>
		values.some((each) => each === value);
const isAnswer: Check = (value) => {
	if (!isObject(value)) return false;
	if (value.ok === true) return "value" in value;
	return value.ok === false && oneOf("failed", "aborted", "skipped")(value.status) && text(value.error);
};

/** The fields that a line of each type must have to be valid. */
const REQUIRED: Record<JournalEvent["type"], Readonly<Record<string, Check>>> = {
	started: { id: text, name: text, script: text, seed: text },
	resumed: {},
	called: { path: text, kind: oneOf("agent", "ask", "workflow"), hash: text, label: text },
	launched: { path: text, agentId: text },
	answered: { path: text, answer: isAnswer, tokens: number },
	phase: { path: text, text },
	log: { path: text, text },
	retried: { path: text },
	moved: { path: text, from: text, hash: text },
	paused: {},
	continued: {},
	diverged: { path: text, recorded: text, called: text },
	ended: { status: oneOf("completed", "failed", "stopped") },
};

/** The events of a file's text, without what cannot be read. */
export function parseJournal(text: string): JournalEvent[] {
	return text.split("\n").flatMap((line) => {
		const event = line === "" ? undefined : parseLine(line);
		return event ? [event] : [];
	});
}

function parseLine(line: string): JournalEvent | undefined {
	let value: unknown;
	try {
		value = JSON.parse(line);
	} catch (error) {
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
	if (!isObject(value) || typeof value.type !== "string" || typeof value.at !== "number") return undefined;
	const required = Object.hasOwn(REQUIRED, value.type) ? REQUIRED[value.type as JournalEvent["type"]] : undefined;
	if (!required) return undefined;
	for (const field in required) if (!required[field]?.(value[field])) return undefined;
	return value as unknown as JournalEvent;
}
