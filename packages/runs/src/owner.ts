/**
 * Which process watches a run, or uses a directory of ours: one at a time. Each owner is a file with the next number,
 * so taking over from a dead one means creating a file, which only one of several can do.
 *
 * The owners of a run are noted in pi's own directory: in the run's, an agent in a sandbox could name any living
 * process, and its run would be left to that for ever.
 */
import { readdirSync } from "node:fs";
import { mkdir, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, defined, isMissing } from "@pi-subagents/core/internal/base";
import { createFileSync, createWhole, readPlain, readPlainSync } from "@pi-subagents/core/internal/files";
import {
	identityIn,
	isAlive,
	isSame,
	ownIdentity,
	type ProcessIdentity,
	processesDir,
	type RunPlace,
} from "@pi-subagents/core/internal/signals";
import type { OwnerFile } from "./format/owner.ts";
import { parseOwner } from "./read.ts";

const OWNER = /^owner-([1-9]\d{0,8})\.json$/;
const MAX_OWNER_BYTES = 64 * 1024;
/** Each attempt lost to another process; this many mean a different problem. */
const MAX_ATTEMPTS = 50;

export type Claim = { isOurs: true } | { isOurs: false; owner: ProcessIdentity };

/** The session, since one process may have several. */
interface Claimant {
	sessionId?: string | undefined;
}

interface ClaimOptions extends Claimant {
	/** Takes the run from a living owner too: the caller knows that it watches no longer. */
	takesOver?: boolean;
}

/**
 * Makes this process, and its session if given, the owner of a run, unless a living owner exists.
 *
 * @example
 * ```ts
 * const claim = await claimRun({ agentDir, runDir }, { sessionId });
 * if (!claim.isOurs) console.log(`Watched by process ${claim.owner.pid}.`);
 * ```
 */
export async function claimRun(place: RunPlace, options: ClaimOptions = {}): Promise<Claim> {
	const dir = processesDir(place);
	await mkdir(dir, { recursive: true, mode: 0o700 });
	return claimDir(dir, options);
}

/** Releases a run that this process owns. Synchronous: the process may be about to end. */
export function releaseRun(place: RunPlace, claimant: Claimant = {}): void {
	try {
		releaseDir(processesDir(place), claimant);
	} catch (error) {
		if (!isMissing(error)) throw error; // the run has settled, or was never claimed
	}
}

/** Whether a living process watches the run. False if that cannot be read. */
export function isWatched(place: RunPlace): Promise<boolean> {
	return isOwned(processesDir(place));
}

/** Makes this process the owner of a directory that exists and that only programs of ours can reach. */
export async function claimDir(dir: string, { sessionId, takesOver = false }: ClaimOptions = {}): Promise<Claim> {
	const us = await ownIdentity();
	for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		const { last, owner } = await newestOwner(dir);
		if (owner?.type === "owned") {
			if (isSame(owner, us) && isSameSession(owner, sessionId)) return { isOurs: true };
			if (!takesOver && (await isAlive(owner))) return { isOurs: false, owner: identityIn(owner) };
		}
		const next: OwnerFile = { type: "owned", at: Date.now(), ...defined({ sessionId }), ...us };
		const isDurable = false; // no owner survives a machine crash
		if (await createWhole(ownerPath(dir, last + 1), JSON.stringify(next), { isDurable })) return { isOurs: true };
		// Another process was first: check again.
	}
	throw new Error(`${dir} cannot be claimed: the numbers of its owner files are too high. Delete those files.`);
}

/** Releases a directory that this process owns. Synchronous, too. */
export function releaseDir(dir: string, { sessionId }: Claimant = {}): void {
	const last = newest(readdirSync(dir));
	const owner =
		last === 0 ? undefined : parseOwner(readPlainSync(ownerPath(dir, last), MAX_OWNER_BYTES).toString("utf8"));
	if (owner?.type !== "owned" || owner.pid !== process.pid || !isSameSession(owner, sessionId)) return;
	const released: OwnerFile = { type: "released", at: Date.now() };
	try {
		createFileSync(ownerPath(dir, last + 1), JSON.stringify(released));
	} catch (error) {
		if (codeOf(error) !== "EEXIST") throw error; // a new owner exists already
	}
}

/**
 * Deletes what a dead owner left in a directory, and the directory if that was all. An owner that comes meanwhile has a
 * higher number, or makes the directory again.
 */
export async function removeDeadOwners(dir: string): Promise<void> {
	const { last, owner } = await newestOwner(dir);
	if (owner?.type === "owned" && (await isAlive(owner))) return;
	const left = (await readdir(dir)).filter((name) => OWNER.test(name) && newest([name]) <= last);
	for (const name of left) await rm(join(dir, name), { force: true });
	try {
		await rmdir(dir);
	} catch (error) {
		if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(codeOf(error) ?? "")) throw error;
	}
}

async function isOwned(dir: string): Promise<boolean> {
	try {
		const { owner } = await newestOwner(dir);
		return owner?.type === "owned" && (await isAlive(owner));
	} catch (error) {
		if (codeOf(error) !== undefined) return false;
		throw error;
	}
}

/** No session means any. */
function isSameSession(owner: Claimant, sessionId: string | undefined): boolean {
	return owner.sessionId === undefined || sessionId === undefined || owner.sessionId === sessionId;
}

async function newestOwner(dir: string): Promise<{ last: number; owner: OwnerFile | undefined }> {
	const last = newest(await readdir(dir));
	const text = last === 0 ? undefined : await readPlain(ownerPath(dir, last), MAX_OWNER_BYTES);
	return { last, owner: text && parseOwner(text.toString("utf8")) };
}

/** The highest number; 0 if there was never an owner. */
function newest(names: readonly string[]): number {
	return Math.max(0, ...names.map((name) => Number(OWNER.exec(name)?.[1] ?? 0)));
}

function ownerPath(dir: string, number: number): string {
	return join(dir, `owner-${number}.json`);
}
