/**
 * Proves that a process of ours wrote a run's `result.json` as it is. The agent can write into the directory of its run;
 * the digest of the file is kept in pi's own directory, which a sandbox hides from it. If the file could not be written,
 * because the project's disk is full, the whole result is kept there instead.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, realpath, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf, ifMissing } from "@pi-subagents/core/internal/base";
import { namesIn, readPlain, replaceWhole } from "@pi-subagents/core/internal/files";
import type { RunPlace } from "@pi-subagents/core/internal/signals";

/** Which directory of runs the proofs beside it belong to. Run ids never begin with a dot. */
const PLACE = ".place";
const MAX_BYTES = 8 * 1024;
const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** Holds a directory for each directory of runs. */
function proofsDir(agentDir: string): string {
	return join(agentDir, "state", "subagents", "results");
}

/**
 * Written before the result, so that a crash in between leaves no result without it. Of several processes that end the
 * same run, the last one counts, for both files.
 */
export function proveResult(place: RunPlace, text: string): Promise<void> {
	return note(place, digestOf(text));
}

/** Keeps the result itself: its file could not be written. */
export function keepResult(place: RunPlace, text: string): Promise<void> {
	return note(place, text);
}

/** The result that has no file, as a process of ours kept it. Undefined if there is none, or it cannot be read. */
export async function keptResult(place: RunPlace): Promise<string | undefined> {
	try {
		const { path } = await proofOf(place);
		const text = (await readPlain(path, MAX_RESULT_BYTES))?.toString("utf8");
		return text?.startsWith("{") ? text : undefined;
	} catch (error) {
		if (codeOf(error) !== undefined) return undefined;
		throw error;
	}
}

async function note(place: RunPlace, text: string): Promise<void> {
	const { dir, runsDir, path } = await proofOf(place);
	await mkdir(dir, { recursive: true, mode: 0o700 });
	if ((await readPlain(join(dir, PLACE), MAX_BYTES)) === undefined) await replaceWhole(join(dir, PLACE), runsDir);
	await replaceWhole(path, text);
}

/** Whether a process of ours wrote this text as the result of the run. False if that cannot be read. */
export async function isProven(place: RunPlace, text: string): Promise<boolean> {
	try {
		const { path } = await proofOf(place);
		const proof = await readPlain(path, MAX_BYTES);
		return proof !== undefined && proof.toString("utf8") === digestOf(text);
	} catch (error) {
		if (codeOf(error) !== undefined) return false;
		throw error;
	}
}

/** The run leaves no files. */
export async function forgetProof(place: RunPlace): Promise<void> {
	await rm((await proofOf(place)).path, { force: true });
}

/** Deletes the proofs of runs that are gone. */
export async function pruneProofs(agentDir: string): Promise<void> {
	const root = proofsDir(agentDir);
	for (const name of (await namesIn(root)).filter((each) => /^[0-9a-f]{32}$/.test(each))) {
		const dir = join(root, name);
		const runsDir = (await readPlain(join(dir, PLACE), MAX_BYTES).catch(() => undefined))?.toString("utf8");
		const runs = new Set(runsDir === undefined ? [] : await readdir(runsDir).catch(ifMissing([])));
		const proofs = (await namesIn(dir)).filter((each) => each !== PLACE);
		const old = proofs.filter((each) => !runs.has(each));
		for (const each of old) await rm(join(dir, each), { force: true });
		if (old.length === proofs.length) await rm(dir, { recursive: true, force: true });
	}
}

/** The same for every spelling of the run's directory. */
async function proofOf({ agentDir, runDir }: RunPlace): Promise<{ dir: string; runsDir: string; path: string }> {
	const runsDir = await realpath(dirname(runDir));
	const dir = join(proofsDir(agentDir), digestOf(runsDir).slice(0, 32));
	return { runsDir, dir, path: join(dir, basename(runDir)) };
}

function digestOf(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}
