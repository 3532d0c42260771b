/** Reads the settings files that count for a directory. Small files, read at each launch, so that edits are live. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readSettings, type Settings, type SettingsFile } from "./settings.ts";

/** The user's answer to "do you trust this project?", as far as it is stored. */
export type StoredTrust = "yes" | "no" | "unasked";

export interface Config {
	settings: Settings;
	trust: StoredTrust;
	problems: readonly string[];
}

const FILE = "subagents.json";
const MOST_BYTES = 256 * 1024;

/** The project's own file counts only where the user has said yes: it decides what runs. */
export async function readConfig(options: { agentDir: string; cwd: string; trust: StoredTrust }): Promise<Config> {
	const { agentDir, cwd, trust } = options;
	const paths = [join(agentDir, FILE), ...(trust === "yes" ? [join(cwd, ".pi", FILE)] : [])];
	const problems: string[] = [];
	const files: SettingsFile[] = [];
	for (const path of paths) {
		try {
			const text = await readFile(path, "utf8");
			if (text.length > MOST_BYTES) problems.push(`${path}: larger than ${MOST_BYTES / 1024} KB; ignored`);
			else files.push({ path, text });
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ENOENT") problems.push(`${path}: ${(error as Error).message}`);
		}
	}
	const read = readSettings(files);
	return { settings: read.settings, trust, problems: [...problems, ...read.problems] };
}
