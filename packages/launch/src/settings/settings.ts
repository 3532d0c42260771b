/**
 * From the texts of settings files to settings. Pure and total. A bad value of a setting that limits nothing falls back
 * alone; a file or a limit that is not understood is a refusal: no agent may be launched until it is fixed. Each problem
 * says which file, line and key, what was there and what was expected.
 */

import { nearest } from "@pi-subagents/core";
import { clip, isObject, messageOf } from "@pi-subagents/core/internal/base";
import { sanitize } from "@pi-subagents/progress";
import { Check } from "typebox/value";
import { type ForeignNote, ownName, translate } from "./foreign.ts";
import { joinLayers } from "./joined.ts";
import { type JsonPlaces, placesIn } from "./json-places.ts";
import type { Settings } from "./schema.ts";
import { expected, isAllLimiting, isGroup, isLimiting, nameOf, partOf, type Shape, settingsShape } from "./shape.ts";

export type { Settings } from "./schema.ts";

/** What of a file goes by another name, and where that file is. */
export interface FileNote extends ForeignNote {
	path: string;
}

export type SettingsFile = FilePlace & FileContent;

/** What a file holds, or why that is unknown. */
export type FileContent = { text: string } | { fault: string };

interface FilePlace {
	path: string;
	/** The key that is ours, in a file that is not. */
	under?: string | undefined;
	/** It is a project's: it may not say what only the user decides, and widens none of the user's limits. */
	isProjects?: boolean | undefined;
	/** What it said when it was last understood. Its limits stay until it is understood again. */
	before?: LayerValues | undefined;
}

/** What one file sets, checked. */
export type LayerValues = Readonly<Record<string, unknown>>;

/** What one file says about presets, and where. */
export interface OverrideLayer {
	path: string;
	isProjects: boolean;
	/** By the preset's name, as written. */
	entries: Readonly<Record<string, unknown>>;
	/** The line of an entry, or of one of its fields. */
	lineOf(name: string, field?: string): number | undefined;
}

/** A problem for which no agent may be launched. */
export interface Refusal {
	/** The file. */
	path: string;
	/** The whole line, as it is among the problems. */
	text: string;
}

export interface ReadSettings {
	settings: Settings;
	/** What of it the user's own files set. */
	users: LayerValues;
	/** What is wrong, one line each. */
	problems: string[];
	/** Those of them for which no agent may be launched. */
	refusals: Refusal[];
	notes: FileNote[];
	/** The weakest first, the user's before the project's. */
	overrides: OverrideLayer[];
	/** What each file says, by its path, if it was understood. */
	understood: ReadonlyMap<string, LayerValues>;
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

/** Later files win, key by key; but a project's only narrow what the user's own say. */
export function readSettings(files: readonly SettingsFile[]): ReadSettings {
	const layers = files.map(readFile);
	const ofProject = layers.filter(({ file }) => file.isProjects);
	const all = (some: readonly Layer[]) =>
		some.reduce<unknown>((weaker, { values }) => merge(settingsShape, weaker, values), {});
	const users = all(layers.filter(({ file }) => !file.isProjects)) as LayerValues;
	const joined = joinLayers(settingsShape, users, all(ofProject));
	const said = merge(settingsShape, users, joined.values);
	const held = joined.held.map(({ at, counts }) => {
		const layer = ofProject.findLast(({ values }) => valueAt(values, at) !== undefined);
		const asked = `${shown(at)} is ${quote(valueAt(layer?.values, at))}`;
		return `${layer ? placed(layer, at) : ""}: ${asked}, but your own settings allow less: ${quote(counts)} counts`;
	});
	return {
		settings: freeze(merge(settingsShape, defaultsOf(settingsShape), said)) as Settings,
		users,
		problems: [...layers.flatMap(({ problems }) => problems), ...held],
		refusals: layers.flatMap(({ refusals }) => refusals),
		notes: layers.flatMap(({ notes }) => notes),
		overrides: layers.flatMap(overridesIn),
		understood: new Map(
			layers.flatMap(({ file, values, refusals }) => (refusals.length === 0 ? [[file.path, values]] : [])),
		),
	};
}

interface Layer {
	file: FilePlace;
	values: LayerValues;
	places: JsonPlaces;
	problems: string[];
	refusals: Refusal[];
	notes: FileNote[];
}

/** One thing that is wrong with a file. */
interface Fault {
	at?: readonly string[];
	text: string;
	/** No agent may be launched with it. */
	refuses: boolean;
}

function readFile(file: SettingsFile): Layer {
	if ("fault" in file) return layerOf(file, NOWHERE, {}, [{ text: file.fault, refuses: true }]);
	const { path, text, under, isProjects = false } = file;
	const places = placesIn(text);
	const whole = parseObject(text);
	if (typeof whole === "string") {
		// pi's own file may hold nothing of ours.
		const refuses = under === undefined || text.includes(under) || text.includes("\\u");
		return layerOf(file, places, {}, [{ text: whole, refuses }]);
	}
	if (under !== undefined && !Object.hasOwn(whole, under)) return layerOf(file, places, {}, []);
	const isShared = under !== undefined;
	const at = isShared ? [under] : [];
	const found = isShared ? whole[under] : whole;
	const {
		content: ours,
		notes,
		faults,
	} = isObject(found) ? translate(found) : { content: found, notes: [], faults: [] };
	// A project's file says nothing about what only the user decides, right or wrong.
	const barred = isProjects && isObject(ours) ? Object.keys(ours).filter(isUsersOnly) : [];
	const { values, complaints } = usable(isObject(ours) ? without(barred, ours) : ours, at);
	const problems: Fault[] = [
		...barred.map((key) => ({
			at: [...at, key],
			text: `${shown([...at, key])} counts only in your own settings; ignored`,
			refuses: false,
		})),
		...faults.map((fault) => {
			const own = [...at, fault.key];
			const value = isObject(found) ? found[fault.key] : undefined;
			const refuses = "expected" in fault && isLimiting(partOf(settingsShape, ownName(fault.key)) ?? {});
			const verdict =
				"why" in fault
					? `which has no effect here: ${fault.why}`
					: `expected ${fault.expected}${refuses ? "" : "; ignored"}`;
			return { at: own, text: `${shown(own)} is ${quote(value)}, ${verdict}`, refuses };
		}),
		...repeatedLimits(places, at).filter(({ at: where }) => !barred.includes(where?.[at.length] ?? "")),
		...complaints
			.filter(({ isUnknown, hint }) => !(isShared && isUnknown && hint === undefined)) // others may keep theirs there
			.map(({ at: where, text, hint, isLimit, isUnknown }) => {
				// In pi's own file an unknown key may be another extension's.
				const refuses = isLimit && !(isShared && isUnknown);
				const end = hint === undefined ? (refuses ? "" : "; ignored") : `; ${hint}`;
				return { at: where, text: `${text}${end}`, refuses };
			}),
	];
	return layerOf(
		file,
		places,
		values,
		problems,
		notes.map((note) => ({ ...note, path })),
	);
}

function without(keys: readonly string[], values: Record<string, unknown>): Record<string, unknown> {
	return Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)));
}

const NOWHERE: JsonPlaces = { lineOf: () => undefined, repeated: [] };

function layerOf(
	file: FilePlace,
	places: JsonPlaces,
	values: LayerValues,
	faults: readonly Fault[],
	notes: FileNote[] = [],
): Layer {
	const layer: Layer = { file, values, places, problems: [], refusals: [], notes };
	const lineOf = ({ at }: Fault) => placed(layer, at);
	const said = (some: readonly Fault[]) => some.map((fault) => `${lineOf(fault)}: ${fault.text}`);
	const { refusing = [], others = [] } = Object.groupBy(faults, ({ refuses }) => (refuses ? "refusing" : "others"));
	layer.refusals = capped(said(refusing), file).map((text) => ({ path: file.path, text }));
	layer.problems = capped(said([...refusing, ...others]), file);
	// What it limited before, it limits until it is understood again.
	if (refusing.length > 0 && file.before)
		layer.values = merge(settingsShape, limitsIn(settingsShape, file.before), values) as LayerValues;
	return layer;
}

/** Without the first refusal no one would know why nothing is launched. */
function capped(problems: string[], { path }: FilePlace): string[] {
	const more = problems.length - MAX_PROBLEMS;
	return more > 0
		? [...problems.slice(0, MAX_PROBLEMS), `${sanitize(path)}: and ${more} more problems`]
		: [...problems];
}

/** The file, and the line if it is known. */
function placed({ file, places }: Pick<Layer, "file" | "places">, at: readonly string[] | undefined): string {
	const line = at === undefined ? places.fault?.line : places.lineOf(at);
	return `${sanitize(file.path)}${line === undefined ? "" : `:${line}`}`;
}

/** Settings that count only in the user's own files: which programs are started, what guards agents, what they may cost. */
function isUsersOnly(key: string): boolean {
	const part = partOf(settingsShape, key);
	const leaves = (shape: Shape): readonly Shape[] =>
		shape.limit === undefined ? Object.values(shape.properties ?? {}).flatMap(leaves) : [shape];
	return part !== undefined && leaves(part).some(({ limit }) => limit === "users");
}

/** JSON keeps the last of two equal keys, and with it perhaps the wrong limit. */
function repeatedLimits({ repeated }: JsonPlaces, under: readonly string[]): Fault[] {
	return repeated.flatMap((at): Fault[] => {
		const isOurs = under.every((key, index) => at[index] === key);
		const own = at.slice(under.length);
		const limits = own.length === 0 ? isOurs : isOurs && isLimitAt(own);
		return limits ? [{ at, text: `${shown(at)} is there more than once; keep one of them`, refuses: true }] : [];
	});
}

/** Whether a key, at any depth, is that of a limit. */
export function isLimitAt([first = "", ...rest]: readonly string[]): boolean {
	let shape: Shape | undefined = partOf(settingsShape, ownName(first));
	for (const key of rest) {
		if (!shape || shape.limit !== undefined) break;
		shape = partOf(shape, key);
	}
	return shape !== undefined && isLimiting(shape);
}

/** What of a file's values limits agents. */
export function limitsIn(shape: Shape, values: LayerValues): LayerValues {
	const entries = Object.entries(values).flatMap(([key, value]): [string, unknown][] => {
		const part = partOf(shape, key);
		if (!part || !isLimiting(part)) return [];
		return [[key, part.limit === undefined && isObject(value) ? limitsIn(part, value) : value]];
	});
	return Object.fromEntries(entries);
}

function overridesIn({ file, values, places }: Layer): OverrideLayer[] {
	const entries = valueAt(values, ["agentOverrides"]);
	if (!isObject(entries)) return [];
	const at = file.under === undefined ? ["agentOverrides"] : [file.under, "agentOverrides"];
	return [
		{
			path: file.path,
			isProjects: file.isProjects ?? false,
			entries,
			lineOf: (name, field) =>
				(field === undefined ? undefined : places.lineOf([...at, name, field])) ?? places.lineOf([...at, name]),
		},
	];
}

/** An object, or what is wrong with the text. */
export function parseObject(text: string): Record<string, unknown> | string {
	if (text.trim() === "") return "empty; write {}, or remove the file";
	try {
		const value: unknown = JSON.parse(text);
		if (!isObject(value)) return "not a JSON object";
		return isWithin(MAX_LEVELS, value) ? value : "nested too deeply";
	} catch (error) {
		return `not valid JSON (${placesIn(text).fault?.why ?? sanitize(messageOf(error))})`;
	}
}

interface Complaint {
	at: readonly string[];
	text: string;
	isUnknown: boolean;
	/** What the unknown key was meant to be, perhaps. */
	hint?: string | undefined;
	/** What is lost may have limited agents. */
	isLimit: boolean;
}

/** What of a value can be used as settings, and what is wrong with the rest. `at` is where in its file it stands. */
export function usable(value: unknown, at: readonly string[] = []): { values: LayerValues; complaints: Complaint[] } {
	const complaints: Complaint[] = [];
	const values = pick(settingsShape, value, at, complaints, false) ?? {};
	return { values: isObject(values) ? values : {}, complaints };
}

/** `undefined` when nothing of it can be used. `inherited`: it is part of something that limits agents as a whole. */
function pick(
	shape: Shape,
	value: unknown,
	at: readonly string[],
	complaints: Complaint[],
	inherited: boolean,
): unknown {
	const isLimit = inherited || isLimiting(shape);
	if (isGroup(shape) ? !isObject(value) : !Check(shape, value)) {
		const text = `${shown(at)} is ${quote(value)}, expected ${expected(shape)}`;
		complaints.push({ at, text, isUnknown: false, isLimit });
		return undefined;
	}
	if (!isGroup(shape)) return value;
	const isWhole = inherited || (shape.limit !== undefined && isLimit);
	const entries = Object.entries(value as object).flatMap(([key, inner]): [string, unknown][] => {
		const part = partOf(shape, key);
		if (!part && key !== SCHEMA_LINK) complaints.push(unknownKey(key, at, shape, isWhole));
		const good = part && pick(part, inner, [...at, key], complaints, isWhole);
		return good === undefined ? [] : [[key, good]];
	});
	return Object.fromEntries(entries); // unlike an assignment, safe for a key like `__proto__`
}

/** One that looks like a limit was probably meant to be it. */
function unknownKey(key: string, at: readonly string[], shape: Shape, inherited: boolean): Complaint {
	const { properties = {} } = shape;
	const meant = nearest(key, Object.keys(properties));
	const hint = meant === undefined ? undefined : `did you mean ${shown([...at, meant])}?`;
	const isLimit = inherited || isAllLimiting(shape) || (meant !== undefined && isLimiting(partOf(shape, meant) ?? {}));
	return { at: [...at, key], text: `${shown([...at, key])} is not a setting`, isUnknown: true, hint, isLimit };
}

function merge(shape: Shape, weaker: unknown, stronger: unknown): unknown {
	if (!isObject(weaker) || !isObject(stronger)) return stronger;
	if (!isGroup(shape)) return shape.limit === "fields" ? { ...weaker, ...stronger } : stronger;
	const names = new Set(Object.keys(stronger).map((key) => nameOf(shape, key)));
	const kept = Object.entries(weaker).filter(([key]) => !names.has(nameOf(shape, key)));
	const changed = Object.entries(stronger).map(([key, value]): [string, unknown] => {
		const part = partOf(shape, key);
		const [known] = Object.entries(weaker).filter(([other]) => nameOf(shape, other) === nameOf(shape, key));
		return [key, part && known ? merge(inherit(part, shape), known[1], value) : value];
	});
	return Object.fromEntries([...kept, ...changed]);
}

/** An entry of a record whose fields are joined one by one. */
function inherit(part: Shape, { limit }: Shape): Shape {
	return limit === "fields" ? { ...part, limit } : part;
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

function valueAt(values: unknown, at: readonly string[]): unknown {
	return at.reduce<unknown>(
		(value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
		values,
	);
}

function quote(value: unknown): string {
	return sanitize(clip(JSON.stringify(value) ?? "nothing", MAX_SHOWN));
}

function shown(at: readonly string[]): string {
	return `"${sanitize(clip(at.join("."), MAX_SHOWN))}"`;
}
