/**
 * Who watches a run: one process at a time. Each owner is a file with the next number, so taking over from one that is
 * gone is creating a file, which only one of several can do.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "./code-of.ts";
import { createWhole } from "./create.ts";
import { isAlive, isSame, ownIdentity } from "./identity.ts";
import type { OwnerFile, ProcessIdentity } from "./layout.ts";
import { parseOwner } from "./read.ts";

export type Claim = { isOurs: true } | { isOurs: false; owner: ProcessIdentity };

/**
 * Makes this process the owner of a run, unless a living one is.
 *
 * @example
 * ```ts
 * const claim = await claimRun(dir, { sessionId });
 * if (!claim.isOurs) console.log(`Watched by process ${claim.owner.pid}.`);
 * ```
 */
export async function claimRun(dir: string, { sessionId }: { sessionId?: string | undefined } = {}): Promise<Claim> {
	const us = await ownIdentity();
	for (;;) {
		const last = newest(await readdir(dir));
		const owner = last === 0 ? undefined : parseOwner(await readFile(ownerPath(dir, last), "utf8"));
		if (owner?.type === "owned") {
			if (isSame(owner, us)) return { isOurs: true };
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
}

/** Lets go of a run that this process owns. Synchronous: the process may be about to end. */
export function releaseRun(dir: string): void {
	const last = newest(readdirSync(dir));
	const owner = last === 0 ? undefined : parseOwner(readFileSync(ownerPath(dir, last), "utf8"));
	if (owner?.type !== "owned" || owner.pid !== process.pid) return;
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
		const last = newest(await readdir(dir));
		const owner = last === 0 ? undefined : parseOwner(await readFile(ownerPath(dir, last), "utf8"));
		return owner?.type === "owned" && (await isAlive(owner));
	} catch (error) {
		if (codeOf(error) !== undefined) return false;
		throw error;
	}
}

/** The highest number there is; 0 if there was never an owner. */
function newest(names: readonly string[]): number {
	return Math.max(0, ...names.map((name) => Number(/^owner-([1-9]\d{0,8})\.json$/.exec(name)?.[1] ?? 0)));
}

function ownerPath(dir: string, number: number): string {
	return join(dir, `owner-${number}.json`);
}

function identityIn({ pid, born, host, boot }: ProcessIdentity): ProcessIdentity {
	return { pid, born, host, boot };
}
