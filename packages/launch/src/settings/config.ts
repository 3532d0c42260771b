/** The settings that count for a directory, read again for each launch, so that edits take effect at once. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@pi-subagents/core";
import { readSmallFileSync } from "@pi-subagents/core/files";
import { type FileNote, readSettings, type Settings, type SettingsFile } from "./settings.ts";

/** The user's answer to "do you trust this project?", as far as it is stored. */
export type StoredTrust = "yes" | "no" | "unasked";

export interface Config {
	settings: Settings;
	trust: StoredTrust;
	problems: readonly string[];
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
	return ({ cwd, trust }) => {
		const key = JSON.stringify([cwd, trust]);
		const sources = sourcesFor(agentDir, cwd, trust);
		const stamps = sources.map(stampOf);
		const stamp = stamps.join("\n");
		const known = remembered.get(key);
		if (known?.stamp === stamp) return known.config;
		const present = sources.filter((_, index) => stamps[index] !== undefined);
		const config = { ...read(present), trust };
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
		const file = statSync(path, { throwIfNoEntry: false });
		if (!file) return undefined;
		const { mtimeMs, ctimeMs, size, ino } = file;
		return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
	} catch (error) {
		return messageOf(error);
	}
}

function read(sources: readonly Source[]): Omit<Config, "trust"> {
	const files: SettingsFile[] = [];
	const problems: string[] = [];
	for (const { path, under, barred, isProjects } of sources) {
		if (barred !== undefined) {
			problems.push(`${path}: ${barred}`);
			continue;
		}
		try {
			const text = readSmallFileSync(path);
			if (text !== undefined) files.push({ path, text, under, isProjects });
		} catch (error) {
			problems.push(`${path}: ${messageOf(error)}; ignored`);
		}
	}
	const { settings, problems: more, notes } = readSettings(files);
	return { settings, problems: [...problems, ...more], notes };
}
