/**
 * Who watches a run: one process at a time. Each owner is a file with the next number, so taking over from one that is
 * gone is creating a file, which only one of several can do.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "./code-of.ts";
import { createWhole } from "./create.ts";
import { identityIn, isAlive, isSame, ownIdentity } from "./identity.ts";
import type { OwnerFile, ProcessIdentity } from "./layout.ts";
import { readPlain, readPlainSync } from "./plain-file.ts";
import { parseOwner } from "./read.ts";

const MAX_OWNER_BYTES = 64 * 1024;
/** Each time somebody else was first. More often than that it is not others who keep us from it. */
const MAX_ATTEMPTS = 50;

export type Claim = { isOurs: true } | { isOurs: false; owner: ProcessIdentity };

/** Which session of a process it is: one process may have several. */
interface Claimant {
	sessionId?: string | undefined;
}

/**
 * Makes this process, and its session if one is named, the owner of a run, unless a living one is.
 *
 * @example
 * ```ts
 * const claim = await claimRun(dir, { sessionId });
 * if (!claim.isOurs) console.log(`Watched by process ${claim.owner.pid}.`);
 * ```
 */
export async function claimRun(dir: string, { sessionId }: Claimant = {}): Promise<Claim> {
	const us = await ownIdentity();
	for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		const { last, owner } = await newestOwner(dir);
		if (owner?.type === "owned") {
			if (isSame(owner, us) && isSameSession(owner, sessionId)) return { isOurs: true };
			if (await isAlive(owner)) return { isOurs: false, owner: identityIn(owner) };
		}
		const next: OwnerFile = {
			type: "owned",
			at: Date.now(),
			...(sessionId === undefined ? {} : { sessionId }),
			...us,
		};
		const isDurable = false; // no owner outlives the machine's crash
		if (await createWhole(ownerPath(dir, last + 1), JSON.stringify(next), { isDurable })) return { isOurs: true };
		// Somebody else was first: look again who that is.
	}
	throw new Error(`${dir} cannot be claimed: the numbers of its owner files are too high. Delete those files.`);
}

/** Lets go of a run that this process owns. Synchronous: the process may be about to end. */
export function releaseRun(dir: string, { sessionId }: Claimant = {}): void {
	const last = newest(readdirSync(dir));
	const owner =
		last === 0 ? undefined : parseOwner(readPlainSync(ownerPath(dir, last), MAX_OWNER_BYTES).toString("utf8"));
	if (owner?.type !== "owned" || owner.pid !== process.pid || !isSameSession(owner, sessionId)) return;
	const released: OwnerFile = { type: "released", at: Date.now() };
	try {
		writeFileSync(ownerPath(dir, last + 1), JSON.stringify(released), { flag: "wx", mode: 0o600 });
	} catch (error) {
		if (codeOf(error) !== "EEXIST") throw error; // there is a new owner already
	}
}

/** Whether a living process watches the run. What cannot be read says no. */
export async function isWatched(dir: string): Promise<boolean> {
	try {
		const { owner } = await newestOwner(dir);
		return owner?.type === "owned" && (await isAlive(owner));
	} catch (error) {
		if (codeOf(error) !== undefined) return false;
		throw error;
	}
}

/** Who names no session means any. */
function isSameSession(owner: Claimant, sessionId: string | undefined): boolean {
	return owner.sessionId === undefined || sessionId === undefined || owner.sessionId === sessionId;
}

async function newestOwner(dir: string): Promise<{ last: number; owner: OwnerFile | undefined }> {
	const last = newest(await readdir(dir));
	const text = last === 0 ? undefined : await readPlain(ownerPath(dir, last), MAX_OWNER_BYTES);
	return { last, owner: text && parseOwner(text.toString("utf8")) };
}

/** The highest number there is; 0 if there was never an owner. */
function newest(names: readonly string[]): number {
	return Math.max(0, ...names.map((name) => Number(/^owner-([1-9]\d{0,8})\.json$/.exec(name)?.[1] ?? 0)));
}

function ownerPath(dir: string, number: number): string {
	return join(dir, `owner-${number}.json`);
}
