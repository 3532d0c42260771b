/** Calls and answers as plain values: what identifies a call, what the journal keeps, and the words for what went wrong. Pure. */
import { createHash } from "node:crypto";
import type { Answer } from "../journal/events.ts";
import type { OpenCall, ScriptCall, ScriptFailure } from "../thread/messages.ts";
import type { AgentRequest } from "./options.ts";
import type { AgentResult } from "./ports.ts";

export const SKIPPED: Answer = { ok: false, status: "skipped", error: "It was skipped." };

export function answerOf(result: AgentResult): Answer {
	if (result.status !== "completed") return { ok: false, status: result.status, error: result.error };
	return { ok: true, value: result.data === undefined ? result.text : result.data };
}

/** What changes nothing about the answer. */
export function withoutLabels({ label, phase, onError, ...asked }: AgentRequest): object {
	return asked;
}

export function hashOf(kind: string, asked: unknown): string {
	return createHash("sha256")
		.update(`${kind} ${JSON.stringify(asked)}`)
		.digest("hex")
		.slice(0, 16);
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
	return `${what}${where}. Write \`await agent(…)\`, or return its promise.`;
}
