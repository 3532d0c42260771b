/** Checks a text answer against its output schema. */
import { type Structured, sanitize, type Unstructured, type ValidationError } from "@pi-subagents/progress";
import { messageOf } from "../base/best-effort.ts";
import { clip } from "../base/error.ts";
import type { OutputSpec } from "../model/schema/spec.ts";
import { type Extracted, extractJson } from "./extract.ts";
import { isWrapped } from "./schema.ts";
import { type ValidateOptions, validate } from "./validate.ts";

export interface Judgement {
	result: Structured | Unstructured;
	/** Whether a corrected answer could pass: not if the schema itself is the problem. */
	canRepair: boolean;
}

const PREVIEW_CHARACTERS = 200;
const RAW_CHARACTERS = 500;
const MAX_ERRORS = 10;
const ERROR_CHARACTERS = 300;

/**
 * Checks the last JSON object of the text against the schema, which must come from `parseOutputSchema`. If no object
 * can match that, the `value` of the object is checked, and is the data. Never rejects, and never blocks this process,
 * whatever the schema.
 *
 * @example
 * ```ts
 * const { result } = await judgeAnswer('Done. {"files": 2}', { type: "object", required: ["files"] });
 * // { ok: true, data: { files: 2 }, preview: '{"files": 2}' }
 * ```
 */
export async function judgeAnswer(
	text: string,
	schema: OutputSpec["schema"],
	options: ValidateOptions = {},
): Promise<Judgement> {
	const place = isWrapped(schema) ? "/value" : "";
	const found = place === "" ? extractJson(text) : unwrapped(extractJson(text));
	if ("problem" in found) return { result: rejected(text, found.problem, []), canRepair: true };
	const { data, json } = found;
	const finding = await validate({ schema, json }, options);
	if ("problem" in finding) {
		const error = `The answer could not be checked against its schema: ${oneLine(finding.problem, ERROR_CHARACTERS)}.`;
		return { result: rejected(text, error, []), canRepair: false };
	}
	const errors = listed(finding.errors.map(({ path, message }) => ({ path: `${place}${path}`, message })));
	const [first, ...more] = errors;
	if (!first) return { result: { ok: true, data, preview: oneLine(json, PREVIEW_CHARACTERS) }, canRepair: false };
	const others = more.length > 0 ? ` (and ${more.length} more)` : "";
	const error = `The answer does not match its schema: ${errorText(first)}${others}.`;
	return { result: rejected(text, error, errors), canRepair: true };
}

function unwrapped(found: Extracted): { data: unknown; json: string } | { problem: string } {
	if ("problem" in found) return found;
	const { data } = found;
	if (!Object.hasOwn(data, "value") || Object.keys(data).length > 1)
		return { problem: 'The JSON object must have one property, "value", that holds the whole answer.' };
	return { data: data.value, json: JSON.stringify(data.value) };
}

/** Checks what a program printed: JSON of any type, and nothing else. `undefined`: it was too much to keep. */
export async function judgeJson(
	text: string | undefined,
	schema: OutputSpec["schema"] | undefined,
	options: ValidateOptions = {},
): Promise<Structured | Unstructured> {
	if (text === undefined) return rejected("", "It printed too much for a result.", []);
	let data: unknown;
	try {
		data = JSON.parse(text);
	} catch (error) {
		return rejected(text, `It did not print JSON: ${oneLine(messageOf(error), ERROR_CHARACTERS)}.`, []);
	}
	const json = text.trim();
	const finding = schema ? await validate({ schema, json }, options) : { errors: [] };
	if ("problem" in finding)
		return rejected(text, `What it printed could not be checked: ${oneLine(finding.problem, ERROR_CHARACTERS)}.`, []);
	const errors = listed(finding.errors);
	if (errors[0]) return rejected(text, `What it printed does not match its schema: ${errorText(errors[0])}.`, errors);
	return { ok: true, data, preview: oneLine(json, PREVIEW_CHARACTERS) };
}

/** For people and models. */
export function errorText({ path, message }: ValidationError): string {
	return `${path === "" ? "it" : path} ${message}`;
}

function rejected(text: string, error: string, validationErrors: ValidationError[]): Unstructured {
	return { ok: false, error, validationErrors, rawPreview: oneLine(text, RAW_CHARACTERS) };
}

/** The validator may repeat itself, and it repeats names that the model wrote. */
function listed(errors: readonly ValidationError[]): ValidationError[] {
	const unique = new Map<string, ValidationError>();
	for (const { path, message } of errors) {
		const error = { path: oneLine(path, ERROR_CHARACTERS), message: oneLine(message, ERROR_CHARACTERS) };
		unique.set(`${error.path} ${error.message}`, error);
	}
	return [...unique.values()].slice(0, MAX_ERRORS);
}

function oneLine(text: string, most: number): string {
	return clip(sanitize(text.slice(0, most * 4)).trim(), most);
}
