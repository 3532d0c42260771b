/** The settings that count for a directory, read again for each launch, so that edits take effect at once. */
import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@pi-subagents/core/internal/base";
import { readSmallFileSync } from "@pi-subagents/core/internal/files";
import {
	type FileContent,
	type FileNote,
	type LayerValues,
	limitsIn,
	type OverrideLayer,
	type ReadSettings,
	type Refusal,
	readSettings,
	type Settings,
	type SettingsFile,
} from "./settings.ts";
import { settingsShape } from "./shape.ts";

/** The user's answer to "do you trust this project?", as far as it is stored. */
export type StoredTrust = "yes" | "no" | "unasked";

export interface Config {
	settings: Settings;
	/** What of it the user's own files set: a project's presets do not ask for more. */
	users: LayerValues;
	trust: StoredTrust;
	problems: readonly string[];
	/** Those of them for which no agent may be launched: what the user wanted to limit is unknown. */
	refusals: readonly Refusal[];
	/** What the files say about presets, the weakest first. */
	overrides: readonly OverrideLayer[];
	/** What of the files goes by the names of other extensions. */
	notes: readonly FileNote[];
}

/** Where the settings of the user, or of a project, are kept. */
export type SettingsPlace = { agentDir: string } | { project: string };

interface Source {
	path: string;
	under?: string;
	/** Why it does not count. */
	barred?: string;
	isProjects?: boolean;
}

/** Agents may work in many directories; those beyond this are forgotten. */
const MAX_REMEMBERED = 50;

const CONFIG_DIR = ".pi";

/** Settings and problems stay the same objects while no file has changed. */
export function createConfigReader(agentDir: string): (session: { cwd: string; trust: StoredTrust }) => Config {
	const remembered = new Map<string, { stamp: string; config: Config }>();
	/** What each file said when it was last understood. */
	const understood = new Map<string, LayerValues>();
	return ({ cwd, trust }) => {
		const key = JSON.stringify([cwd, trust]);
		const sources = sourcesFor(agentDir, cwd, trust);
		const stamps = sources.map(stampOf);
		const stamp = stamps.join("\n");
		const known = remembered.get(key);
		if (known?.stamp === stamp) return known.config;
		const found = sources.map((source, index) => ({ ...source, isThere: stamps[index] !== undefined }));
		const { understood: said, ...rest } = read(found, understood);
		const config = { ...rest, trust };
		for (const [path, values] of said) understood.set(path, values);
		if (remembered.size >= MAX_REMEMBERED) remembered.clear();
		remembered.set(key, { stamp, config });
		return config;
	};
}

/** The settings file that is only ours; pi has its own beside it. */
export function settingsPath(place: SettingsPlace): string {
	return join("agentDir" in place ? place.agentDir : join(place.project, CONFIG_DIR), "subagents.json");
}

/** Weakest first. Files of a project count only where the user has said yes: they decide what runs. */
function sourcesFor(agentDir: string, cwd: string, trust: StoredTrust): Source[] {
	const own = settingsPath({ project: cwd });
	return [
		{ path: join(agentDir, "settings.json"), under: "subagents" },
		{ path: settingsPath({ agentDir }) },
		...(trust === "yes"
			? [
					{ path: join(cwd, CONFIG_DIR, "settings.json"), under: "subagents", isProjects: true },
					{ path: own, isProjects: true },
				]
			: [{ path: own, barred: barredText(trust) }]),
	];
}

/** Why a file of a project does not count. */
export function barredText(trust: Exclude<StoredTrust, "yes">): string {
	return BARRED[trust];
}

const BARRED = {
	no: "not used, because you declined to trust this project (/trust changes that)",
	unasked: "not used, because you have not trusted this project (/trust does that)",
};

/** Another one when the file has changed; none when there is no file. */
function stampOf({ path }: Source): string | undefined {
	try {
		const file = statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false });
		if (!file) return undefined;
		const { mtimeMs, ctimeMs, size, ino } = file;
		return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
	} catch (error) {
		return messageOf(error);
	}
}

function read(
	sources: readonly (Source & { isThere: boolean })[],
	understood: ReadonlyMap<string, LayerValues>,
): ReadSettings {
	const barred = sources.flatMap(({ path, barred, isThere }) =>
		barred !== undefined && isThere ? [`${path}: ${barred}`] : [],
	);
	const files = sources.flatMap(({ path, under, barred, isProjects, isThere }): SettingsFile[] => {
		if (barred !== undefined) return [];
		const before = understood.get(path);
		const content = isThere ? contentOf(path) : goneContent(before);
		return content ? [{ path, ...content, under, isProjects, before }] : [];
	});
	const settings = readSettings(files);
	return { ...settings, problems: [...barred, ...settings.problems] };
}

/** What a file holds, or why that is unknown. */
function contentOf(path: string): FileContent {
	try {
		const text = readSmallFileSync(path);
		return text === undefined ? { fault: "a link to a file that does not exist" } : { text };
	} catch (error) {
		return { fault: messageOf(error) };
	}
}

/** A file that limited agents and is gone: someone may be about to write it again. Without limits it is not missed. */
function goneContent(before: LayerValues | undefined): FileContent | undefined {
	const limits = before ? Object.keys(limitsIn(settingsShape, before)) : [];
	return limits.length === 0 ? undefined : { fault: goneText(limits) };
}

function goneText(limits: readonly string[]): string {
	return `the file is gone, and it limited agents (${limits.join(", ")}). Put it back, or use /reload if you removed it`;
}
