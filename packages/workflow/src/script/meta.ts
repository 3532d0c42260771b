/** What a workflow says about itself, checked field by field. Pure. */
import { isObject } from "@pi-subagents/core/internal/base";
import { ScriptError } from "./literal.ts";

/** What happens when an agent fails: its call gives `null`, or throws. */
export type OnError = "null" | "throw";

export interface Phase {
	title: string;
	detail?: string;
}

export interface Meta {
	name: string;
	description: string;
	/** In the order in which they are shown. */
	phases: readonly Phase[];
	/** When a model should choose it. */
	whenToUse?: string;
	/** `null` when absent. */
	onError: OnError;
}

const FIELDS = ["name", "description", "phases", "whenToUse", "onError"];
/** Others that scripts for other programs have; they change nothing here. */
const IGNORED = ["model", "title", "version"];
const LONGEST = { name: 80, description: 1_000, whenToUse: 1_000, title: 200 };
const MAX_PHASES = 50;

/** Throws a `ScriptError` that names the field. */
export function checkMeta(value: unknown): Meta {
	if (!isObject(value)) throw new ScriptError("`meta` must be an object: { name, description }");
	for (const key of Object.keys(value)) {
		if (FIELDS.includes(key) || IGNORED.includes(key)) continue;
		throw new ScriptError(`\`meta.${key}\` is not known. Known: ${FIELDS.join(", ")}.`);
	}
	const { onError = "null", phases = [], whenToUse } = value;
	if (onError !== "null" && onError !== "throw" && onError !== null)
		throw new ScriptError('`meta.onError` must be "null" or "throw".');
	if (!Array.isArray(phases) || phases.length > MAX_PHASES)
		throw new ScriptError(`\`meta.phases\` must be a list of at most ${MAX_PHASES} phases.`);
	return {
		name: textOf(value.name, "name"),
		description: textOf(value.description, "description"),
		phases: phases.map(phaseOf),
		...(whenToUse === undefined ? {} : { whenToUse: textOf(whenToUse, "whenToUse") }),
		onError: onError ?? "null",
	};
}

function phaseOf(value: unknown): Phase {
	if (typeof value === "string") return { title: textOf(value, "title") };
	if (!isObject(value)) throw new ScriptError("Each of `meta.phases` must be a title, or { title, detail }.");
	const { detail } = value;
	return { title: textOf(value.title, "title"), ...(typeof detail === "string" ? { detail } : {}) };
}

function textOf(value: unknown, field: keyof typeof LONGEST): string {
	const where = field === "title" ? "The title of a phase" : `\`meta.${field}\``;
	if (typeof value !== "string" || value.trim() === "") throw new ScriptError(`${where} must be a text.`);
	if (value.length > LONGEST[field])
		throw new ScriptError(`${where} is too long: at most ${LONGEST[field]} characters.`);
	return value.trim();
}
