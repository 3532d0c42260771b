/**
 * Reads the entries of one file with the field table, and collects the preset and its problems.
 * Knows no particular field except name, description and locked.
 */

import { type Field, fields } from "../fields/fields.ts";
import { limitFault } from "../fields/limits.ts";
import { bareUnitMs, findField, foreignFields, squash } from "../fields/spelling.ts";
import { expected, readValue } from "../fields/values.ts";
import type { Fault } from "../frontmatter/frontmatter.ts";
import type { Entry } from "../frontmatter/simple-frontmatter.ts";
import { isImported, translate } from "../imports/imports.ts";
import { splitItems } from "../model/items.ts";
import { nameFault, normalName, usableName } from "../model/names.ts";
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
} from "../model/preset.ts";
import { didYouMean, didYouMeanInline } from "../model/suggest.ts";
import { cut, oneLine, plainText, promptText, quote } from "../model/text.ts";
import { validNames } from "./guess-names.ts";

/** Where a text comes from. */
export interface ParseContext {
	readonly path: string;
	readonly source: PresetSource;
	/** True for a symbolic link. Frontmatter is required then, so that a link to an arbitrary file does not become a prompt. */
	readonly linked?: boolean;
	/** True for a file in a sub-folder. These contain notes as well, so a file without frontmatter is not a preset. */
	readonly nested?: boolean;
}

const maxDescription = 1000;
const maxProblems = 20;
const spellings = fields.flatMap((field) => [field.name, ...field.aliases]);

/** Collects the values and problems of one file. */
export class Reader {
	readonly #context: ParseContext;
	readonly #stem: string;
	readonly #problems: Problem[] = [];
	/** Those that cost the field, if the file is used at all. */
	readonly #dropped = new Set<Problem>();
	readonly #notes: ImportNote[] = [];
	readonly #values = new Map<FieldKey, unknown>();
	readonly #origins: { [Key in FieldKey]?: Origin } = {};
	#refused = false;

	constructor(context: ParseContext, stem: string) {
		this.#context = context;
		this.#stem = stem;
	}

	/** The problem, unless there are too many already. */
	report({ line, column, severity, message, field }: Fault): Problem | undefined {
		if (this.#isFull(severity)) return undefined;
		const { path } = this.#context;
		const problem: Problem = { path, line, column, severity, message, ...(field === undefined ? {} : { field }) };
		this.#problems.push(problem);
		return problem;
	}

	build(written: readonly Entry[], body: string): ParseResult {
		const { entries, faults, notes, isRefused, prompt = "" } = translate(this.#context.source.flavour, written);
		for (const fault of faults) this.report(fault);
		this.#notes.push(...notes);
		this.#refused = isRefused;
		const first = new Map<FieldKey, Entry>();
		for (const entry of entries) {
			const field = findField(entry.key);
			if (field === undefined) this.#reportUnknown(entry);
			else if (first.has(field.key)) this.#reportDuplicate(field, entry, first.get(field.key));
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
				.map(({ value }) => plainText(value ?? "").trim());
			const valid = validNames(names.map((each) => usableName(each) ?? each));
			const reservedNames = valid.length > 0 ? valid : validNames([this.#stem]);
			return { ...this.refuse(reservedNames), draft: this.#draft(reservedNames[0]) };
		}
		const text = body.trim() === "" ? prompt : body;
		const problems = this.#withPreset(name).map((problem, index) => {
			const isDropped = this.#dropped.has(this.#problems[index] as Problem);
			return isDropped ? { ...problem, message: `${problem.message}; the field is ignored` } : problem;
		});
		return { preset: this.#preset(name, description, text), problems };
	}

	/** The result without a preset: the problems and the names to reserve. */
	refuse(reservedNames: readonly string[]): ParseResult {
		const [name] = reservedNames;
		return name === undefined ? { problems: this.#problems } : { problems: this.#withPreset(name), reservedNames };
	}

	#withPreset(name: string): Problem[] {
		return this.#problems.map((problem) => ({ ...problem, preset: name }));
	}

	#read(field: Field, entry: Entry): void {
		const reading = readValue(field.kind, entry.value, bareUnitMs(entry.key));
		if (reading.ok) {
			if (reading.value === undefined) return;
			this.#values.set(field.key, reading.value);
			this.#origins[field.key] = { path: this.#context.path, line: entry.line };
			return;
		}
		if (field.key === "name" || field.key === "description") return; // reported once, in `#name` and `#description`
		const found = reading.fault === undefined ? quote(entry.value) : quote(reading.fault);
		const problem = `"${writtenKey(entry)}" must be ${expected(field.kind)}, but is ${found}${this.#hint(field, entry)}`;
		this.#fault(field, entry, problem);
	}

	#fault(field: Field, entry: Entry, problem: string): void {
		const { line, column } = entry;
		const isRefused = field.onError === "refuse";
		if (isRefused) this.#refused = true;
		// The user need not fix a file of another program as long as it works.
		const isMinor = field.onError === "warn" || (!isRefused && isImported(this.#context.source.flavour));
		const severity = isMinor ? "warning" : "error";
		const message = isRefused ? `${problem}; the preset is not used until this is fixed` : problem;
		const reported = this.report({ line, column, severity, field: writtenKey(entry), message });
		if (reported && !isRefused) this.#dropped.add(reported);
	}

	#hint(field: Field, entry: Entry): string {
		if (field.kind.type !== "choice" || typeof entry.value !== "string") return "";
		return didYouMeanInline(entry.value, field.kind.values);
	}

	/** Limits the list of problems. Errors have a higher limit, because they say why the file cannot be used. */
	#isFull(severity: Problem["severity"]): boolean {
		return this.#problems.length >= (severity === "warning" ? maxProblems : 5 * maxProblems);
	}

	#reportUnknown({ key, line, column }: Entry): void {
		const position = { line, column, field: cut(oneLine(key), 60) };
		const limit = limitFault(key, { isImported: isImported(this.#context.source.flavour) });
		if (limit !== undefined) {
			this.#refused = true;
			const message = `${limit}; the preset is not used until this is fixed`;
			this.report({ ...position, severity: "error", message });
			return;
		}
		if (this.#isFull("warning")) return;
		const message = foreignFields.has(squash(key))
			? `the field ${quote(key)} belongs to another tool and is ignored`
			: `unknown field ${quote(key)}${didYouMean(key, spellings) || ": it is ignored; remove it or see the list of fields"}`;
		this.report({ ...position, severity: "warning", message });
	}

	#reportDuplicate(field: Field, entry: Entry, first: Entry | undefined): void {
		const before = first === undefined ? "" : writtenKey(first);
		const other = before === "" || before === writtenKey(entry) ? "" : ` (as "${before}")`;
		this.#fault(field, entry, `"${writtenKey(entry)}" is already set in line ${first?.line ?? 1}${other}: remove one`);
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
				this.#fault(
					lockedField,
					entry,
					`"locked" names an unknown field ${quote(item)}${didYouMeanInline(item, spellings)}`,
				);
		}
		this.#values.set("locked", keys);
	}

	#name(entry: Entry | undefined): string | undefined {
		const written = this.#values.get("name");
		const position = { line: entry?.line ?? 1, column: entry?.column ?? 1, severity: "error", field: "name" } as const;
		if (entry === undefined && this.#context.source.flavour === "subagents") {
			this.report({ ...position, message: "the field `name` is missing: add one, such as `name: repo-scout`" });
			return undefined;
		}
		const name = entry === undefined ? this.#stem : typeof written === "string" ? normalName(written) : "";
		const fault = nameFault(name);
		if (entry === undefined) this.#origins.name = "default";
		if (fault === undefined) return name;
		// Names are strict only in our own directories; elsewhere people write "Code Reviewer".
		const adapted = this.#context.source.flavour === "subagents" ? undefined : usableName(name);
		if (adapted !== undefined) {
			this.#notes.push({ line: position.line, from: cut(oneLine(`name: ${name}`), 100), to: `name: ${adapted}` });
			return adapted;
		}
		this.report({ ...position, message: entry === undefined ? `${fault}, or rename the file` : fault });
		return undefined;
	}

	#description(entry: Entry | undefined, name: string | undefined): string | undefined {
		const written = this.#values.get("description");
		const raw = typeof written === "string" ? written : "";
		// Claude Code itself writes line breaks as `\\n`, without the quotes that YAML needs for this.
		const text = oneLine(isImported(this.#context.source.flavour) ? raw.replace(/(?:\\[rn])+/g, " ") : raw);
		const position = { line: entry?.line ?? 1, column: entry?.column ?? 1, field: "description" } as const;
		if (text === "") {
			this.#origins.description = "default";
			if (this.#context.source.flavour !== "subagents") {
				if (entry === undefined) return name;
				this.report({
					...position,
					severity: "warning",
					message: "the description is empty or not text: the name is used",
				});
				return name;
			}
			const message = "the field `description` is missing or empty: say in one line when to use this preset";
			this.report({ ...position, severity: "error", message });
			return undefined;
		}
		if (text.length <= maxDescription) return text;
		const message = `the description has ${text.length} characters and is cut to ${maxDescription}: put details into the body`;
		this.report({ ...position, severity: "warning", message });
		return cut(text, maxDescription);
	}

	#preset(name: string, description: string, body: string): Preset {
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
		return this.#notes.length === 0 ? preset : { ...preset, imported: this.#notes };
	}

	#draft(name: string | undefined): Draft {
		const { path, source } = this.#context;
		const draft: Draft = { ...this.#others<PresetFields>(), source, path, origins: this.#origins };
		return name === undefined ? draft : { ...draft, name };
	}

	/** All values except name and description. A test checks that each has the type that `PresetFields` declares. */
	#others<Fields extends PresetFields>(): Fields {
		const others: { [Key in FieldKey]?: unknown } = {};
		for (const [key, value] of this.#values) if (key !== "name" && key !== "description") others[key] = value;
		return others as unknown as Fields;
	}
}

/** The key as written in the file. */
function writtenKey({ key, written = key }: Entry): string {
	return cut(oneLine(written), 60);
}
