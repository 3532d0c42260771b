/**
 * The extensions that guard agents on this machine. A worker has no pi modules, so it asks pi, as it does for models:
 * the guards of this machine's user, by this user's own settings. An order says nothing about them.
 */
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { isObject, parseJson } from "@pi-subagents/core/internal/base";
import { namesIn, readSmallFile, requireOwnBuild } from "@pi-subagents/core/internal/files";
import { sanitize } from "@pi-subagents/progress";
import { type FoundGuard, parseScoutAnswer, scoutArguments, scoutVariables } from "@pi-subagents/runners/detached";
import { Refused } from "../link/link.ts";

export interface GuardHost {
	agentDir: string;
	pi: { command: string; args: readonly string[] };
	env?: Readonly<Record<string, string | undefined>>;
	/** The extension that asks. Absent: there are no guards. */
	scoutEntry?: string;
}

interface Place {
	/** Where the agent will work. */
	cwd: string;
	/** Whether extensions of the project there count. */
	isTrusted: boolean;
}

const ANSWER_MS = 60_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Asks again when pi's settings or extensions have changed. Rejects if it cannot be found out, or a guard does not load. */
export function createGuardList(host: GuardHost): (place: Place) => Promise<readonly FoundGuard[]> {
	let known: { state: string; guards: Promise<readonly FoundGuard[]> } | undefined;
	return async (place) => {
		const { scoutEntry } = host;
		const dirs = [host.agentDir, ...(place.isTrusted ? [join(place.cwd, ".pi")] : [])];
		if (scoutEntry === undefined || !(await someHaveExtensions(dirs))) return [];
		requireOwnBuild(scoutEntry, import.meta.url);
		if (place.isTrusted) return ask(host, scoutEntry, place); // another project each time
		const state = await stateOf(host.agentDir);
		if (known?.state !== state) known = { state, guards: ask(host, scoutEntry, place) };
		known.guards.catch(() => {
			known = undefined;
		});
		return known.guards;
	};
}

/** Starting pi takes as long as starting an agent, and most machines have no extensions. */
async function someHaveExtensions(dirs: readonly string[]): Promise<boolean> {
	for (const dir of dirs) {
		if ((await namesIn(join(dir, "extensions"))).length > 0) return true;
		const settings = parseJson((await readSmallFile(join(dir, "settings.json"))) ?? "");
		if (isObject(settings) && ["packages", "extensions"].some((key) => JSON.stringify(settings[key] ?? []) !== "[]"))
			return true;
	}
	return false;
}

/** Changes with the files that pi reads, and with the extensions in its directory. */
async function stateOf(agentDir: string): Promise<string> {
	const dir = join(agentDir, "extensions");
	const names = (await namesIn(dir)).sort();
	const paths = [
		...["settings.json", "subagents.json", "npm/package.json", "npm/node_modules", "git"].map((name) =>
			join(agentDir, name),
		),
		...names.flatMap((name) => [
			join(dir, name),
			join(dir, name, "package.json"),
			join(dir, name, "index.ts"),
			join(dir, name, "index.js"),
		]),
	];
	const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
	return JSON.stringify([names, found.map((file) => file && [file.mtimeMs, file.ctimeMs, file.size])]);
}

async function ask({ pi, agentDir, env = process.env }: GuardHost, entry: string, place: Place): Promise<FoundGuard[]> {
	const options = {
		cwd: place.cwd,
		env: { ...env, PI_CODING_AGENT_DIR: agentDir, ...scoutVariables({ agentDir, ...place }) },
		timeout: ANSWER_MS,
		maxBuffer: MAX_BYTES,
	};
	const said = await new Promise<string>((resolve) => {
		execFile(pi.command, [...pi.args, ...scoutArguments(entry)], options, (error, _stdout, stderr) =>
			resolve(stderr || String(error ?? "")),
		);
	});
	const answer = parseScoutAnswer(said);
	if (Array.isArray(answer)) return answer;
	throw new Refused(
		`It could not be found out which extensions guard agents on that machine, so none was launched there: ${sanitize(answer ?? said).slice(0, 2_000)}`,
	);
}
