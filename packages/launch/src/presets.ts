/** The presets of a directory, read at every call, with the problems to report to the user. */
import { AgentError, nearest } from "@pi-subagents/core";
import { defined, quoted, visibleName } from "@pi-subagents/core/internal/base";
import type {
	Catalogue,
	JoinedOverride,
	Preset,
	PresetFields,
	Presets as PresetList,
	Problem,
	Source,
} from "@pi-subagents/presets";
import { sanitize } from "@pi-subagents/progress";
import { coalesce } from "./coalesce.ts";
import { loadPresets } from "./presets.lazy.ts";
import type { RegisteredPresets } from "./runtime-presets.ts";
import type { Config } from "./settings/config.ts";
import { heldBy, ownLimits, ownPlace } from "./settings/own-limits.ts";

export interface Presets {
	/** Those that can be started, by name. */
	list(cwd: string, config: Config): Promise<readonly Preset[]>;
	/** Throws an error that names the known ones. `fallback` counts instead of the setting. */
	find(name: string, cwd: string, config: Config, fallback?: string | false): Promise<FoundPreset>;
	presetReport(cwd: string, config: Config): Promise<PresetReport>;
	/** The user wrote this file just now, so that it replaces another preset is no news. */
	acknowledge(path: string): void;
}

/** Every preset, those that are switched off included, and every file that could not be used as it stands. */
export interface PresetReport extends PresetList {
	config: Config;
	/** Another extension registered its presets as the only ones, so that files are not used. */
	isExclusive?: boolean;
	/** What the settings say about a preset. */
	overrideOf(preset: Preset): PresetOverride;
	/** Whether a preset goes by that name, in any of its spellings. */
	knows(name: string): boolean;
}

/** What the settings files together say about a preset. */
export interface PresetOverride {
	fields: PresetFields;
	/** What could not be used, with its file and line. */
	faults: readonly string[];
	/** One of these may be meant as a restriction: the preset must not run without it. */
	isRefused: boolean;
	/** What of the project's settings does not count, because the user's allow less. */
	notes: readonly string[];
}

interface FoundPreset {
	preset: Preset;
	/** What the settings say about it. */
	override: PresetFields;
	/** Says that it is not the one that was asked for. */
	note?: string;
}

export interface PresetsOptions {
	agentDir: string;
	/** `package.json` files of installed packages that may ship presets. */
	manifests: (cwd: string) => readonly string[];
	/** The presets that other extensions registered. */
	registered: () => RegisteredPresets;
	/** Tells the user once. */
	warn: (notice: string) => void;
}

/** More in an error would bury the message. */
const MAX_NAMES = 30;
const MAX_UNREAD = 3;
const MAX_MATCHES = 8;

export function createPresets({ agentDir, manifests, registered, warn }: PresetsOptions): Presets {
	/** Settings that have not changed are the same object. */
	let catalogues = new WeakMap<Config, Pick<Catalogue, "read">>();
	let known: { list: PresetList; config: Config; notices: readonly string[] } | undefined;
	const acknowledged = new Set<string>();
	let version = 0;
	const read = async (cwd: string, config: Config): Promise<PresetList> => {
		const library = await loadPresets();
		const runtime = registered();
		if (runtime.version !== version) catalogues = new WeakMap();
		version = runtime.version;
		const create = () => {
			const catalogue = library.createCatalogue({
				cwd,
				agentDir,
				sources: sourcesFor(library, config, manifests(cwd), runtime),
			});
			return { read: coalesce(() => catalogue.read()) };
		};
		const catalogue = catalogues.get(config) ?? create();
		catalogues.set(config, catalogue);
		const list = await catalogue.read();
		if (known?.list !== list || known.config !== config)
			known = { list, config, notices: noticesFor(list, config, acknowledged) };
		for (const notice of known.notices) warn(notice);
		return list;
	};
	const exclusiveNote = () =>
		registered().isExclusive
			? " Preset files are not used: another extension registered its presets as the only ones."
			: "";
	return {
		acknowledge(path) {
			acknowledged.add(path);
			known = undefined;
		},
		async list(cwd, config) {
			const library = await loadPresets();
			const { presets } = await read(cwd, config);
			return presets.filter((preset) => overrideOf(preset, config, library).fields.enabled ?? preset.enabled);
		},
		async find(name, cwd, config, fallback = config.settings.fallbackSubagent) {
			const library = await loadPresets();
			const list = await read(cwd, config);
			const named = library.findPreset(list.presets, name);
			const preset = named ?? standIn(name, fallback, list, library);
			if (!preset) throw new AgentError("unknown_preset", unknownPreset(name, list, library) + exclusiveNote());
			const { fields, faults, isRefused, notes } = overrideOf(preset, config, library);
			if (isRefused)
				throw new AgentError(
					"disabled_preset",
					`The settings of preset "${preset.name}" are broken: ${faults.join("; ")}.`,
				);
			for (const notice of [...faults, ...notes]) warn(notice);
			if (named) return { preset, override: fields };
			const note = `There is no preset ${quoted(name)}: "${preset.name}" is used instead (fallbackSubagent).`;
			return { preset, override: fields, note };
		},
		async presetReport(cwd, config) {
			const library = await loadPresets();
			const list = await read(cwd, config);
			return {
				...list,
				config,
				isExclusive: registered().isExclusive,
				overrideOf: (preset) => overrideOf(preset, config, library),
				knows: (name) => library.findPreset(list.presets, name) !== undefined,
			};
		},
	};
}

type Library = Awaited<ReturnType<typeof loadPresets>>;

function sourcesFor(
	library: Library,
	{ settings, trust }: Config,
	manifests: readonly string[],
	runtime: RegisteredPresets,
): Source[] {
	const { builtins, claudeImport, opencodeImport, packagePresets, agentsDirs, subagentsDirs } = library;
	const known = [...(settings.builtins ? builtins() : []), ...library.registered(runtime.results)];
	if (runtime.isExclusive) return known;
	const all = [
		...known,
		...(settings.packageAgents === false
			? []
			: packagePresets(manifests, settings.packageAgents === true ? {} : { only: settings.packageAgents })),
		...(settings.imports.includes("claude") ? claudeImport() : []),
		...(settings.imports.includes("opencode") ? opencodeImport() : []),
		...agentsDirs(),
		...subagentsDirs(),
	];
	return projectCounts({ settings, trust }) ? all : all.filter(({ source }) => !source.inProject);
}

/** A project that the user declined contributes nothing, whatever the settings say. */
export function projectCounts({ settings, trust }: Pick<Config, "settings" | "trust">): boolean {
	if (trust === "no" || settings.projectPresets === "off") return false;
	return settings.projectPresets === "allow" || trust === "yes";
}

function noticesFor({ presets, problems }: PresetList, config: Config, acknowledged: ReadonlySet<string>): string[] {
	const replacing = presets.filter(
		({ source, replaces, path }) =>
			source.inProject && !acknowledged.has(path) && replaces?.some((other) => !other.source.inProject),
	);
	const usable = usablePaths(presets);
	const isUsable = ({ path }: Problem) => usable.has(path); // then only a field of it was wrong
	return [
		...replacing.map(({ name, path }) => `This project's preset "${name}" replaces the one you had: ${sanitize(path)}`),
		...problems
			.filter(({ severity }) => severity === "error")
			.map((problem) => `${isUsable(problem) ? "Preset" : "Preset not used"}: ${placed(problem)}`),
		...(config.trust === "no" ? ["Presets of this project are not used: you declined to trust it."] : []),
		...config.problems.map((problem) =>
			config.refusals.some(({ text }) => text === problem)
				? `No agent is launched until this is fixed: ${sanitize(problem)}`
				: `Settings: ${sanitize(problem)}`,
		),
	];
}

/** The files without a mistake that keeps them from being used, also those that another preset of the name replaces. */
export function usablePaths(presets: PresetList["presets"]): ReadonlySet<string> {
	return new Set(presets.flatMap(({ path, replaces = [] }) => [path, ...replaces.map((other) => other.path)]));
}

/** Not for a name with a broken file: that file may exist to remove tools. */
function standIn(name: string, fallback: string | false, list: PresetList, library: Library): Preset | undefined {
	if (fallback === false || name.trim() === "" || brokenFiles(name, list, library).length > 0) return undefined;
	const preset = library.findPreset(list.presets, fallback);
	if (preset) return preset;
	const why = `${unknownPreset(name, list, library)} The preset to use instead (fallbackSubagent), ${quoted(fallback)}, does not exist either.`;
	throw new AgentError("unknown_preset", why);
}

function brokenFiles(name: string, { problems }: PresetList, { findPreset }: Library): Problem[] {
	return problems.filter(
		({ severity, preset }) => severity === "error" && preset !== undefined && findPreset([{ name: preset }], name),
	);
}

function unknownPreset(name: string, list: PresetList, library: Library): string {
	visibleName(name, "preset", "unknown_preset");
	const { presets, problems } = list;
	const broken = brokenFiles(name, list, library);
	if (broken.length > 0) return `Preset ${quoted(name)} cannot be used: ${broken.map(placed).join("; ")}.`;
	// One of these may be it: a directory that cannot be read, or a file that does not say what it is called.
	const unread = problems.filter(({ severity, preset }) => severity === "error" && preset === undefined);
	const usable = presets.filter(({ enabled }) => enabled);
	const names = usable.map((preset) => preset.name);
	const hint = nearest(name, names);
	const more = names.length - MAX_NAMES;
	const matching = matches(name, usable);
	return [
		`There is no preset ${quoted(name)}.`,
		...(hint ? [`Did you mean "${hint}"?`] : []),
		...(matching.length > 0 ? [`It is mentioned by: ${matching.join("; ")}.`] : []),
		names.length > 0
			? `Known: ${names.slice(0, MAX_NAMES).join(", ")}${more > 0 ? `, and ${more} more` : ""}.`
			: "No presets exist yet: put markdown files into .pi/subagents/.",
		...(unread.length > 0 ? [`Not all could be read: ${unread.slice(0, MAX_UNREAD).map(placed).join("; ")}.`] : []),
	].join(" ");
}

/** Not all presets are listed to the model; a word is the way to the others. */
function matches(word: string, presets: readonly Preset[]): string[] {
	const key = word.trim().toLowerCase();
	if (key === "") return [];
	const found = presets.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(key));
	return found.slice(0, MAX_MATCHES).map(({ name, description }) => `${name} (${sanitize(description).slice(0, 100)})`);
}

/**
 * What counts instead of a preset's own fields: what the settings say about it, and the user's limits where a project
 * asks for more.
 */
function overrideOf(preset: Preset, config: Config, library: Library): PresetOverride {
	const limits = ownLimits(config.users);
	const said = overrideIn(preset, config, limits, library);
	if (!preset.source.inProject) return said;
	const held = withoutThose(heldBy(limits, preset), said.fields);
	if (Object.keys(held).length === 0) return said;
	return { ...said, fields: { ...held, ...said.fields }, notes: [...said.notes, heldPreset(preset, held, library)] };
}

/** A field that the settings give it was joined with the user's already. */
function withoutThose(held: PresetFields, said: PresetFields): PresetFields {
	return Object.fromEntries(Object.entries(held).filter(([key]) => !Object.hasOwn(said, key)));
}

/**
 * Names in settings are as careless about case as those in calls; a plain lookup would also find `constructor`. Most
 * presets have no entry, and then what reads one need not be loaded.
 */
function overrideIn(
	preset: Preset,
	{ overrides, users }: Config,
	{ worktree, ...limits }: PresetFields,
	library: Library,
): PresetOverride {
	const { name } = preset;
	const found = overrides.flatMap(({ entries, ...layer }) =>
		Object.entries(entries)
			.filter(([key]) => library.findPreset([{ name }], key))
			.map(([key, entry]) => ({ ...layer, key, ...library.parseOverride(entry ?? {}) })),
	);
	if (found.length === 0) return NO_OVERRIDE;
	const isUsers = preset.source.kind === "global";
	const own: PresetFields = { ...limits, ...ownPlace(users), ...(isUsers ? limitsOf(preset) : {}) };
	const { fields, held } = library.joinOverrides(found, own);
	// Not joined part by part: the whole of it is the user's or the project's.
	const isUsersOwn = own.worktree ?? found.some((layer) => !layer.isProjects && layer.fields.worktree);
	const setup = isUsersOwn ? {} : heldBy(defined({ worktree }), defined({ worktree: fields.worktree }));
	return {
		fields: { ...fields, ...setup },
		faults: found.flatMap(({ faults, key, path, lineOf }) =>
			faults.map((fault) => {
				const line = lineOf(key, fault.key);
				const message = `agentOverrides.${key}: ${fault.message}`;
				return placed({ path, message, ...(line === undefined ? {} : { line }) });
			}),
		),
		isRefused: found.some(({ isRefused }) => isRefused),
		notes: notesOn(preset, setup.worktree ? [...held, "worktree"] : held),
	};
}

const NO_OVERRIDE: PresetOverride = { fields: {}, faults: [], isRefused: false, notes: [] };

/** What the user's own file sets itself: a default is not the user's limit. */
function limitsOf(preset: Preset): PresetFields {
	const { origins } = preset;
	const written = Object.entries(preset).filter(([key]) => typeof origins[key as keyof typeof origins] === "object");
	return Object.fromEntries(written);
}

function notesOn({ name }: Preset, held: JoinedOverride["held"]): string[] {
	if (held.length === 0) return [];
	const fields = held.map((field) => `\`${field}\``).join(", ");
	return [
		`agentOverrides.${sanitize(name)} of this project asks for more than your own settings or preset allow: ${fields}. Yours count.`,
	];
}

function heldPreset({ name }: Preset, held: PresetFields, library: Library): string {
	const fields = library.fields.filter(({ key }) => Object.hasOwn(held, key)).map((field) => `\`${field.name}\``);
	return `This project's preset "${sanitize(name)}" asks for more than your own settings allow: ${fields.join(", ")}. Yours count.`;
}

function placed({ path, line, message }: Pick<Problem, "path" | "line" | "message">): string {
	return `${sanitize(path)}${line === undefined ? "" : `:${line}`}: ${sanitize(message)}`;
}
