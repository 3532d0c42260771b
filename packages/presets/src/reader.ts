/**
 * Reads the entries of one file by the table of fields, and collects the preset and its problems.
 * Knows no particular field beyond name, description and locked.
 */
import { usable } from "./claims.ts";
import type { Field } from "./field.ts";
import { fields } from "./fields.ts";
import type { Fault } from "./frontmatter.ts";
import { translate } from "./imports.ts";
import { splitItems } from "./items.ts";
import { nameFault } from "./names.ts";
import type { Entry } from "./plain.ts";
import type {
	Draft,
	FieldKey,
	ImportNote,
	Origin,
	ParseResult,
	Preset,
	PresetFields,
	PresetSource,
	Problem,
} from "./preset.ts";
import { findField, foreignFields, squash } from "./spelling.ts";
import { didYouMean, perhaps } from "./suggest.ts";
import { cut, oneLine, promptText, quote } from "./text.ts";
import { expected, readValue } from "./values.ts";

/** Where the text came from. */
export interface ParseContext {
	readonly path: string;
	readonly source: PresetSource;
	/** True for a symbolic link: then frontmatter is required, so that a link to any file does not become a prompt. */
	readonly linked?: boolean;
}

const maxDescription = 1000;
const maxProblems = 20;
const spellings = fields.flatMap((field) => [field.name, ...field.aliases]);

/** Collects the values and problems of one file. */
export class Reader {
	readonly #context: ParseContext;
	readonly #stem: string;
	readonly #problems: Problem[] = [];
	readonly #values = new Map<FieldKey, unknown>();
	readonly #origins: { [Key in FieldKey]?: Origin } = {};
	#refused = false;

	constructor(context: ParseContext, stem: string) {
		this.#context = context;
		this.#stem = stem;
	}

	report({ line, column, severity, message, field }: Fault): void {
		if (this.#isFull(severity)) return;
		const place = { path: this.#context.path, line, column, severity, message };
		this.#problems.push(field === undefined ? place : { ...place, field });
	}

	build(written: readonly Entry[], body: string): ParseResult {
		const { entries, faults, notes } = translate(this.#context.source.flavour, written);
		for (const fault of faults) this.report(fault);
		const first = new Map<FieldKey, Entry>();
		for (const entry of entries) {
			const field = findField(entry.key);
			if (field === undefined) this.#reportUnknown(entry);
			else if (first.has(field.key)) this.#reportTwice(field, entry, first.get(field.key));
			else {
				first.set(field.key, entry);
				this.#read(field, entry);
			}
		}
		this.#checkLocked(first.get("locked"));
		const name = this.#name(first.get("name"));
		const description = this.#description(first.get("description"), name);
		if (this.#refused || name === undefined || description === undefined) {
			const names = entries
				.filter(({ key }) => findField(key)?.key === "name")
				.map(({ value }) => String(value ?? "").trim());
			const written = usable(names);
			const claims = written.length > 0 ? written : usable([this.#stem]);
			return { ...this.refuse(claims), draft: this.#draft(claims[0]) };
		}
		return { preset: this.#preset(name, description, body, notes), problems: this.#named(name) };
	}

	/** No preset, but the names that it claims. */
	refuse(claims: readonly string[]): ParseResult {
		return claims[0] === undefined ? { problems: this.#problems } : { problems: this.#named(claims[0]), claims };
	}

	#named(name: string): Problem[] {
		return this.#problems.map((problem) => ({ ...problem, preset: name }));
	}

	#read(field: Field, entry: Entry): void {
		const bareUnitMs = squash(entry.key).endsWith("ms") ? 1 : 1000;
		const reading = readValue(field.kind, entry.value, bareUnitMs);
		if (reading.ok) {
			if (reading.value === undefined) return;
			this.#values.set(field.key, reading.value);
			this.#origins[field.key] = { path: this.#context.path, line: entry.line };
			return;
		}
		if (field.key === "name" || field.key === "description") return; // reported once, with the rules for both
		const found = reading.fault === undefined ? quote(entry.value) : quote(reading.fault);
		const problem = `"${entry.key}" must be ${expected(field.kind)}, but is ${found}${this.#hint(field, entry)}`;
		this.#fault(field, entry, problem);
	}

	#fault(field: Field, { line, column, key }: Entry, problem: string): void {
		const cost = field.onError === "refuse" ? "the preset is not used until this is corrected" : "the field is ignored";
		if (field.onError === "refuse") this.#refused = true;
		this.report({ line, column, severity: "error", field: key, message: `${problem}; ${cost}` });
	}

	#hint(field: Field, entry: Entry): string {
		if (field.kind.type !== "choice" || typeof entry.value !== "string") return "";
		return perhaps(entry.value, field.kind.values);
	}

	/** A file made of mistakes need not list them all; but why it is unusable must not get lost among warnings. */
	#isFull(severity: Problem["severity"]): boolean {
		return this.#problems.length >= (severity === "warning" ? maxProblems : 5 * maxProblems);
	}

	#reportUnknown({ key, line, column }: Entry): void {
		if (this.#isFull("warning")) return;
		const message = foreignFields.has(squash(key))
			? `the field ${quote(key)} belongs to another tool and is ignored`
			: `unknown field ${quote(key)}${didYouMean(key, spellings) || ": it is ignored; remove it or see the list of fields"}`;
		this.report({ line, column, severity: "warning", field: cut(oneLine(key), 60), message });
	}

	#reportTwice(field: Field, entry: Entry, first: Entry | undefined): void {
		const other = first === undefined || first.key === entry.key ? "" : ` (as "${first.key}")`;
		this.#fault(field, entry, `"${entry.key}" is already given in line ${first?.line ?? 1}${other}: remove one`);
	}

	#checkLocked(entry: Entry | undefined): void {
		const locked = this.#values.get("locked");
		const lockedField = findField("locked");
		if (entry === undefined || lockedField === undefined || !Array.isArray(locked)) return;
		const keys: FieldKey[] = [];
		for (const item of splitItems(locked) ?? []) {
			const field = findField(item);
			if (field !== undefined) keys.push(field.key);
			else if (!this.#isFull("error"))
				this.#fault(lockedField, entry, `"locked" names an unknown field ${quote(item)}${perhaps(item, spellings)}`);
		}
		this.#values.set("locked", keys);
	}

	#name(entry: Entry | undefined): string | undefined {
		const written = this.#values.get("name");
		const place = { line: entry?.line ?? 1, column: entry?.column ?? 1, severity: "error", field: "name" } as const;
		if (entry === undefined && this.#context.source.flavour === "subagents") {
			this.report({ ...place, message: "the field `name` is missing: add one, such as `name: repo-scout`" });
			return undefined;
		}
		const name = entry === undefined ? this.#stem : typeof written === "string" ? written : "";
		const fault = nameFault(name);
		if (entry === undefined) this.#origins.name = "default";
		if (fault === undefined) return name;
		this.report({ ...place, message: entry === undefined ? `${fault}, or rename the file` : fault });
		return undefined;
	}

	#description(entry: Entry | undefined, name: string | undefined): string | undefined {
		const written = this.#values.get("description");
		const text = typeof written === "string" ? oneLine(written) : "";
		const place = { line: entry?.line ?? 1, column: entry?.column ?? 1, field: "description" } as const;
		if (text === "") {
			this.#origins.description = "default";
			if (this.#context.source.flavour !== "subagents") {
				if (entry === undefined) return name;
				this.report({
					...place,
					severity: "warning",
					message: "the description is empty or no text: the name is used",
				});
				return name;
			}
			const message = "the field `description` is missing or empty: say in one line when to choose this preset";
			this.report({ ...place, severity: "error", message });
			return undefined;
		}
		if (text.length <= maxDescription) return text;
		const message = `the description has ${text.length} characters and is cut to ${maxDescription}: put details into the body`;
		this.report({ ...place, severity: "warning", message });
		return cut(text, maxDescription);
	}

	#preset(name: string, description: string, body: string, notes: readonly ImportNote[]): Preset {
		const { path, source } = this.#context;
		for (const { key, fallback } of fields) {
			if (fallback === undefined || this.#values.has(key)) continue;
			this.#values.set(key, fallback(source));
			this.#origins[key] = "default";
		}
		const preset: Preset = {
			name,
			description,
			prompt: promptText(body),
			...this.#others<Pick<Preset, "promptMode" | "enabled">>(),
			source,
			path,
			origins: this.#origins,
		};
		return notes.length === 0 ? preset : { ...preset, imported: notes };
	}

	#draft(name: string | undefined): Draft {
		const { path, source } = this.#context;
		const draft: Draft = { ...this.#others<PresetFields>(), source, path, origins: this.#origins };
		return name === undefined ? draft : { ...draft, name };
	}

	/** All values but name and description. That each key holds what `PresetFields` says is shown by a test. */
	#others<Fields extends PresetFields>(): Fields {
		const others: { [Key in FieldKey]?: unknown } = {};
		for (const [key, value] of this.#values) if (key !== "name" && key !== "description") others[key] = value;
		return others as unknown as Fields;
	}
}
