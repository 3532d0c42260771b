/** Calls and answers as plain values: what identifies a call, what the journal keeps, and the words for what went wrong. Pure. */
import { hash } from "node:crypto";
import type { Answer } from "../journal/events.ts";
import type { OpenCall, ScriptCall, ScriptFailure } from "../thread/messages.ts";
import {
	type AgentRequest,
	type AskRequest,
	agentRequest,
	askRequest,
	labelOf,
	type WorkflowRequest,
	workflowRequest,
} from "./options.ts";
import type { AgentResult } from "./ports.ts";

export const SKIPPED: Answer = { ok: false, status: "skipped", error: "It was skipped." };

/** A call whose options are right. */
export interface Asked {
	/** One of these, by the kind of the call. */
	agent?: AgentRequest;
	ask?: AskRequest;
	workflow?: WorkflowRequest;
	/** A few words for people. */
	label: string;
	/** The same for a call that asks for the same. */
	hash: string;
}

/** Throws an error that names what is wrong. */
export function askedBy({ kind, input }: ScriptCall): Asked {
	const given: unknown = JSON.parse(input);
	switch (kind) {
		case "agent": {
			const agent = agentRequest(given);
			return { agent, label: labelOf(agent), hash: hashOf(kind, withoutLabels(agent)) };
		}
		case "ask": {
			const ask = askRequest(given);
			return { ask, label: ask.question.slice(0, MAX_LABEL), hash: hashOf(kind, ask) };
		}
		case "workflow": {
			const workflow = workflowRequest(given);
			return { workflow, label: workflow.name.slice(0, MAX_LABEL), hash: hashOf(kind, workflow) };
		}
	}
}

const MAX_LABEL = 80;

export function answerOf(result: AgentResult): Answer {
	if (result.status !== "completed") return { ok: false, status: result.status, error: result.error };
	return { ok: true, value: result.data === undefined ? result.text : result.data };
}

/** What changes nothing about the answer. */
function withoutLabels({ label, phase, onError, ...asked }: AgentRequest): object {
	return asked;
}

function hashOf(kind: string, asked: unknown): string {
	return hash("sha256", `${kind} ${JSON.stringify(asked)}`).slice(0, 16);
}

export function placed(label: string, { line }: ScriptCall): string {
	return line === undefined ? label : `${label} (line ${line})`;
}

export function worded({ name, message, line }: ScriptFailure): string {
	const kind = name === "Error" || name === "WorkflowMistake" ? "" : `${name}: `;
	return `${line === undefined ? "" : `line ${line}: `}${kind}${message}`;
}

/** Undefined if every call was awaited. */
export function forgottenText(open: readonly OpenCall[]): string | undefined {
	const forgotten = open.filter(({ isAwaited }) => !isAwaited);
	if (forgotten.length === 0) return undefined;
	const lines = [...new Set(forgotten.flatMap(({ line }) => line ?? []))];
	const where = lines.length > 0 ? ` (line ${lines.join(", ")})` : "";
	const what = forgotten.length === 1 ? "A call was not awaited" : `${forgotten.length} calls were not awaited`;
	return `${what}${where}. Write \`await\` in front of it, or return its promise.`;
}
