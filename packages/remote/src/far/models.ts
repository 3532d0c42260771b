/** Whether this machine can use a model: credentials never travel, so it must have its own. */
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { RunSpec } from "@pi-subagents/core";
import { editSmallFile, readPlain } from "@pi-subagents/core/internal/files";
import { sanitize } from "@pi-subagents/progress";
import { Refused } from "../link/link.ts";

interface PiHost {
	/** Keeps the list that pi gave last. */
	home: string;
	agentDir: string;
	pi: { command: string; args: readonly string[] };
	env?: Readonly<Record<string, string | undefined>>;
}

const ANSWER_MS = 30_000;
/** Enough to see what is there. */
const MAX_NAMED = 12;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Starting pi to ask takes as long as starting an agent, so a model that it once had is not asked for again: if it is
 * gone, the run itself finds out. Throws if neither the model nor one of its fallbacks can be used here.
 */
export async function requireModel(host: PiHost, { model, fallbackModels = [] }: RunSpec): Promise<void> {
	const wanted = [model, ...fallbackModels];
	const isUsable = (models: ReadonlySet<string>) => models.size === 0 || wanted.some((each) => models.has(each));
	const path = join(host.home, "models.txt");
	const before = parseModels((await readPlain(path, MAX_BYTES))?.toString("utf8") ?? "");
	if (before.size > 0 && isUsable(before)) return;
	const table = await listModels(host);
	const current = parseModels(table);
	if (current.size > 0) await editSmallFile(path, () => table);
	if (isUsable(current)) return;
	const some = [...current].slice(0, MAX_NAMED).join(", ");
	const more = current.size > MAX_NAMED ? ` and ${current.size - MAX_NAMED} more` : "";
	throw new Refused(
		`Model ${sanitize(model)} is not available there: pi does not know it, or has no credentials for its provider. Credentials do not travel; log in on that machine (\`pi\`, then /login), or choose one that it has: ${some}${more}.`,
	);
}

/**
 * The models that pi can use here, for those who want to know before they send an order. Pi is asked again when its own
 * files have changed, for example by a login. Empty if it cannot tell.
 */
export function createModelList(host: PiHost): () => Promise<readonly string[]> {
	let known: { state: string; models: Promise<readonly string[]> } | undefined;
	return async () => {
		const files = ["auth.json", "models.json"].map((name) => stat(join(host.agentDir, name)).catch(() => undefined));
		const state = (await Promise.all(files)).map((found) => found?.mtimeMs).join();
		if (known?.state !== state)
			known = { state, models: listModels(host).then((table) => [...parseModels(table)].sort()) };
		return known.models;
	};
}

/** pi's table; empty if it cannot tell. */
function listModels({ pi, agentDir, env = process.env }: PiHost): Promise<string> {
	const options = { env: { ...env, PI_CODING_AGENT_DIR: agentDir }, timeout: ANSWER_MS, maxBuffer: MAX_BYTES };
	return new Promise((resolve) => {
		const args = [...pi.args, "--list-models", "--no-extensions"];
		execFile(pi.command, args, options, (error, stdout) => resolve(error ? "" : stdout));
	});
}

/** pi prints a table: provider, model, and more columns. */
function parseModels(table: string): ReadonlySet<string> {
	const [header = "", ...rows] = table.split("\n");
	if (!/^provider\s+model\b/.test(header)) return new Set();
	return new Set(
		rows.flatMap((row) => {
			const [provider, model] = row.trim().split(/\s+/);
			return provider && model ? [`${provider}/${model}`] : [];
		}),
	);
}
