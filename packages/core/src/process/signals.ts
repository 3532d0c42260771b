/** Ends processes that lead a group, with all that belongs to it, and never one that only got the number later. */
import { type Clock, steadyClock } from "../clock.ts";
import { codeOf } from "./code-of.ts";
import { isAlive, isHere } from "./identity.ts";
import type { ProcessIdentity } from "./layout.ts";
import { killGroupOf } from "./wrapper/group.ts";

/** How long a process may take to clean up behind itself: pi ends its tools, which lead groups of their own. */
const GRACE_MS = 3_000;
const LOOK_MS = 50;

/** Asks it to end, and kills it if it does not. Resolves when it is gone. */
export async function endGroup(leader: ProcessIdentity, clock: Clock): Promise<void> {
	await signalGroup(leader, "SIGTERM");
	if (await isGoneWithin(GRACE_MS, leader, clock)) return;
	await signalGroup(leader, "SIGKILL");
	await isGoneWithin(GRACE_MS, leader, clock);
}

/** What the leader of a group, gone by now, left in it. */
export async function endLeftovers(runDir: string, leader: ProcessIdentity, given: Clock): Promise<void> {
	if (!(await isHere(leader))) return;
	const clock = steadyClock(given);
	for (const deadline = clock.now() + GRACE_MS; await killGroupOf(runDir, leader.pid); ) {
		if (clock.now() >= deadline) return;
		await later(clock);
	}
}

/** Does nothing if it is gone, cannot be reached from here, or not known well enough to be told from a stranger. */
export async function signalGroup(leader: ProcessIdentity, signal: NodeJS.Signals): Promise<void> {
	const isKnown = leader.born !== null || process.platform === "win32";
	if (!isKnown || !(await isHere(leader)) || !(await isAlive(leader))) return;
	try {
		process.kill(process.platform === "win32" ? leader.pid : -leader.pid, signal);
	} catch (error) {
		if (codeOf(error) !== "ESRCH") throw error; // it went in the meantime
	}
}

async function isGoneWithin(ms: number, process: ProcessIdentity, given: Clock): Promise<boolean> {
	if (!(await isHere(process))) return true;
	const clock = steadyClock(given);
	for (const deadline = clock.now() + ms; await isAlive(process); ) {
		if (clock.now() >= deadline) return false;
		await later(clock);
	}
	return true;
}

function later(clock: Clock): Promise<void> {
	return new Promise((resolve) => void clock.after(LOOK_MS, resolve));
}
