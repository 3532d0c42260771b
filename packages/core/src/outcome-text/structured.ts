/** How a structured answer, or a failed one, is reported. Pure. */

import type { Outcome } from "@pi-subagents/progress";
import {
	fence,
	formatCount,
	type ModelTextOptions,
	type Structured,
	sanitize,
	sanitizeBlock,
	type Unstructured,
	type Verification,
} from "@pi-subagents/progress";
import { clip } from "../base/error.ts";
import { isObject } from "../base/values.ts";
import type { AgentRecord } from "../model/record.ts";
import { extractJson } from "../output/extract.ts";

/** For programs. Data too large for a session file is only in the run's files. */
export type StructuredDetails = { ok: true; preview: string; data?: unknown; dataPath?: string } | Unstructured;

const MAX_DETAILS = 8_000;

export function structuredDetails({ outcome, artifacts }: AgentRecord): StructuredDetails | undefined {
	if (outcome?.status === "aborted" || !outcome?.structured) return undefined;
	const { structured } = outcome;
	if (!structured.ok) return structured;
	const { data, preview } = structured;
	if (JSON.stringify(data).length <= MAX_DETAILS) return { ok: true, data, preview };
	return { ok: true, preview, ...(artifacts === undefined ? {} : { dataPath: `${artifacts}/result.json` }) };
}

/** Data between our tags. */
export interface StructuredElement {
	open: string;
	data: string;
	close: string;
	/** How many characters did not fit. */
	beyond: number;
}

/** The data between our tags. It can neither close nor imitate them, and stays the same JSON. */
export function structuredElement({ data }: Structured, most: number): StructuredElement {
	const harmless = (char: string) => (char !== "<" && sanitizeBlock(char) === char ? char : inAscii(char));
	const json = JSON.stringify(data).replace(/<|[^ -~]/gu, harmless);
	const clean = sanitizeBlock(json.slice(0, most)); // the cut may split a character
	const beyond = Math.max(0, json.length - most);
	return { open: "<structured-output>\n", data: clean, close: "\n</structured-output>", beyond };
}

/** As a JSON escape. */
function inAscii(char: string): string {
	const codes = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at));
	return codes.map((code) => `\\u${code.toString(16).padStart(4, "0")}`).join("");
}

/** The agent's text without the data. */
export function proseIn(text: string, outcome: Outcome): string {
	if (outcome.status !== "completed" || !outcome.structured) return text;
	const found = extractJson(text);
	const { data } = outcome.structured;
	const answer = isObject(data) ? data : { value: data }; // as the agent was asked to give it
	// What a verifying command printed is not part of the text.
	if ("problem" in found || JSON.stringify(found.data) !== JSON.stringify(answer)) return text;
	const start = text.lastIndexOf(found.json);
	const before = text.slice(0, start).replace(/```\w*\s*$/, "");
	const after = text.slice(start + found.json.length).replace(/^\s*```/, "");
	return `${before.trimEnd()}\n${after.trimStart()}`.trim();
}

/** What the end of a failed run says about its answer. */
interface Complained {
	structured?: Unstructured | undefined;
	verification?: Verification | undefined;
}

/** Why an answer was not accepted: what does not match, and what the verifying command printed. */
export function complaints({ structured, verification }: Complained): string[] {
	return [
		...(structured?.validationErrors ?? []).map(
			({ path, message }) => `- ${sanitize(path || "(root)")}: ${sanitize(message)}`,
		),
		...(verification?.tail === undefined ? [] : [sanitizeBlock(verification.tail)]),
	];
}

/** Which models failed before the current one. For a model, what they failed with is fenced: a server said it. */
export function attemptsText(
	{ attempts = [] }: Pick<AgentRecord, "attempts">,
	{ isForModel = false, escapeText = (text) => text }: Pick<ModelTextOptions, "isForModel" | "escapeText"> = {},
): string {
	if (attempts.length === 0) return "";
	const why = (error: string) => {
		const text = clip(sanitize(error), MAX_ERROR);
		return isForModel ? fence("cause", text, { isLine: true }) : escapeText(text);
	};
	return `after ${attempts.map(({ model, error }) => `${escapeText(sanitize(model))} failed (${why(error)})`).join(", ")}`;
}

const MAX_ERROR = 120;

/** Where the rest of a clipped text is. */
export function restText(beyond: number, { artifacts }: Pick<AgentRecord, "artifacts">): string {
	const where = artifacts === undefined ? "left out" : `in ${artifacts}/result.json`;
	return `[${formatCount(beyond, "more character")} ${where}]`;
}

/** For text that neither the session nor a file holds. */
export function lostText(characters: number): string {
	return `${formatCount(characters, "more character")} of it are lost: result.json was not written, was changed, or is gone.`;
}
