/**
 * From the texts of settings files to settings. Pure and total: a bad value falls back alone, and its problem says which
 * file, which key, what was there and what was expected.
 */
import { clip, isObject, messageOf, nearest } from "@pi-subagents/core";
import { sanitize } from "@pi-subagents/progress";
import { Check } from "typebox/value";
import { type ForeignNote, translate } from "./foreign.ts";
import type { Settings } from "./schema.ts";
import { expected, isGroup, nameOf, partOf, type Shape, settingsShape } from "./shape.ts";

export type { Settings } from "./schema.ts";

/** What of a file goes by another name, and where that file is. */
export interface FileNote extends ForeignNote {
	path: string;
}

export interface SettingsFile {
	path: string;
	text: string;
	/** The key that is ours, in a file that is not. */
	under?: string | undefined;
	/** It is a project's, and may not say what only the user decides. */
	isProjects?: boolean | undefined;
}

/** More would bury the first. */
const MAX_PROBLEMS = 10;

/** No real settings nest so deep, and deeper ones could exhaust the stack. */
const MAX_LEVELS = 40;

const MAX_SHOWN = 80;

/** For editors, which look for it in the file itself. */
const SCHEMA_LINK = "$schema";

export function defaultSettings(): Settings {
	return readSettings([]).settings;
}

/** Later files win, key by key. */
export function readSettings(files: readonly SettingsFile[]): {
	settings: Settings;
	problems: string[];
	notes: FileNote[];
} {
	const layers = files.map(readFile);
	const values = layers.reduce((weaker, { values }) => merge(settingsShape, weaker, values), defaultsOf(settingsShape));
	return {
		settings: freeze(values) as Settings,
		problems: layers.flatMap(({ problems }) => problems),
		notes: layers.flatMap(({ notes }) => notes),
	};
}

interface Layer {
	values: unknown;
	problems: string[];
	notes: FileNote[];
}

/** Settings that count only in the user's own files: they say which programs are started, what guards agents, and what agents may cost. */
const USERS_ONLY = ["guards", "hooks", "machines", "launchers", "budget"];

function readFile({ path, text, under, isProjects = false }: SettingsFile): Layer {
	const file = parseObject(text);
	if (typeof file === "string") return { values: {}, problems: [`${sanitize(path)}: ${file}; ignored`], notes: [] };
	if (under !== undefined && !Object.hasOwn(file, under)) return { values: {}, problems: [], notes: [] };
	const isShared = under !== undefined;
	const at = isShared ? [under] : [];
	const found = isShared ? file[under] : file;
	const { content, notes, faults } = isObject(found) ? translate(found) : { content: found, notes: [], faults: [] };
	const { values: all, complaints } = usable(content, at);
	const barred = isProjects && isObject(all) ? USERS_ONLY.filter((key) => Object.hasOwn(all, key)) : [];
	const values = isObject(all) ? Object.fromEntries(Object.entries(all).filter(([key]) => !barred.includes(key))) : all;
	const problems = [
		...barred.map((key) => `${sanitize(path)}: ${shown([...at, key])} counts only in your own settings; ignored`),
		...faults.map((fault) => {
			const value = isObject(found) ? found[fault.key] : undefined;
			const verdict = "why" in fault ? `which has no effect here: ${fault.why}` : `expected ${fault.expected}; ignored`;
			return `${sanitize(path)}: ${shown([...at, fault.key])} is ${quote(value)}, ${verdict}`;
		}),
		...complaints
			.filter(({ isUnknown, hint }) => !(isShared && isUnknown && hint === undefined)) // others may keep theirs there
			.map(({ text, hint }) => `${sanitize(path)}: ${text}; ${hint === undefined ? "ignored" : hint}`),
	];
	const more = problems.length - MAX_PROBLEMS;
	if (more > 0) problems.splice(MAX_PROBLEMS, more, `${sanitize(path)}: and ${more} more problems`);
	return { values, problems, notes: notes.map((note) => ({ ...note, path })) };
}

/** An object, or what is wrong with the text. */
export function parseObject(text: string): Record<string, unknown> | string {
	try {
		const value: unknown = JSON.parse(text);
		if (!isObject(value)) return "not a JSON object";
		return isWithin(MAX_LEVELS, value) ? value : "nested too deeply";
	} catch (error) {
		return `not valid JSON (${sanitize(messageOf(error))})`;
	}
}

interface Complaint {
	text: string;
	isUnknown: boolean;
	/** What the unknown key was meant to be, perhaps. */
	hint?: string | undefined;
}

/** What of a value can be used as settings, and what is wrong with the rest. `at` is where in its file it stands. */
export function usable(value: unknown, at: readonly string[] = []): { values: unknown; complaints: Complaint[] } {
	const complaints: Complaint[] = [];
	return { values: pick(settingsShape, value, at, complaints) ?? {}, complaints };
}

/** `undefined` when nothing of it can be used. */
function pick(shape: Shape, value: unknown, at: readonly string[], complaints: Complaint[]): unknown {
	if (isGroup(shape) ? !isObject(value) : !Check(shape, value)) {
		complaints.push({ text: `${shown(at)} is ${quote(value)}, expected ${expected(shape)}`, isUnknown: false });
		return undefined;
	}
	if (!isGroup(shape)) return value;
	const entries = Object.entries(value as object).flatMap(([key, inner]): [string, unknown][] => {
		const part = partOf(shape, key);
		if (!part && key !== SCHEMA_LINK) complaints.push(unknownKey(key, at, shape));
		const good = part && pick(part, inner, [...at, key], complaints);
		return good === undefined ? [] : [[key, good]];
	});
	return Object.fromEntries(entries); // unlike an assignment, safe for a key like `__proto__`
}

function unknownKey(key: string, at: readonly string[], { properties = {} }: Shape): Complaint {
	const meant = nearest(key, Object.keys(properties));
	const hint = meant === undefined ? undefined : `did you mean ${shown([...at, meant])}?`;
	return { text: `${shown([...at, key])} is not a setting`, isUnknown: true, hint };
}

function merge(shape: Shape, weaker: unknown, stronger: unknown): unknown {
	if (!isGroup(shape) || !isObject(weaker) || !isObject(stronger)) return stronger;
	const names = new Set(Object.keys(stronger).map((key) => nameOf(shape, key)));
	const kept = Object.entries(weaker).filter(([key]) => !names.has(nameOf(shape, key)));
	const changed = Object.entries(stronger).map(([key, value]): [string, unknown] => {
		const part = partOf(shape, key);
		return [key, part && Object.hasOwn(weaker, key) ? merge(part, weaker[key], value) : value];
	});
	return Object.fromEntries([...kept, ...changed]);
}

function defaultsOf({ properties, default: value }: Shape): unknown {
	if (!properties) return structuredClone(value);
	return Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, defaultsOf(part)]));
}

function freeze(value: unknown): unknown {
	if (typeof value !== "object" || value === null) return value;
	for (const inner of Object.values(value)) freeze(inner);
	return Object.freeze(value);
}

function isWithin(levels: number, value: unknown): boolean {
	if (typeof value !== "object" || value === null) return true;
	return levels > 0 && Object.values(value).every((inner) => isWithin(levels - 1, inner));
}

function quote(value: unknown): string {
	return sanitize(clip(JSON.stringify(value), MAX_SHOWN));
}

function shown(at: readonly string[]): string {
	return `"${sanitize(clip(at.join("."), MAX_SHOWN))}"`;
}
