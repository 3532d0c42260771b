/** Ends process groups by their leader, and never a process that merely got the same pid later. */
import { type Clock, sleep, steadyClock } from "../../base/clock.ts";
import { codeOf } from "../../base/error-code.ts";
import type { ProcessIdentity } from "../../runs/format/layout.ts";
import { isAlive, isHere } from "../../runs/identity.ts";
import { readEvents, readWrapper } from "../../runs/read.ts";
import { endStrays, killGroupOf } from "../pi/process-group.ts";

/** How long a process may take to clean up: pi ends its tools, which lead their own groups. */
const GRACE_MS = 3_000;
const LOOK_MS = 50;

/** Ends a run at once, with everything it started: its wrapper, its pi, and commands that left their group. */
export async function endRun(runDir: string, clock: Clock): Promise<void> {
	const wrapper = await readWrapper(runDir).catch(() => undefined); // a broken file names no process
	if (wrapper?.type === "started") await signalGroup(wrapper, "SIGKILL");
	const child = (await readEvents(runDir)).findLast((line) => line.type === "child_started");
	await endChild(runDir, child, clock);
}

/** Ends what a run left behind whose wrapper is gone. */
export async function endChild(runDir: string, child: ProcessIdentity | undefined, clock: Clock): Promise<void> {
	if (child) await endGroup(child, clock);
	if (child) await endLeftovers(runDir, child, clock);
	await endStrays(runDir);
}

/** Asks it to end, then kills it. Resolves when it is gone. */
export async function endGroup(leader: ProcessIdentity, clock: Clock): Promise<void> {
	await signalGroup(leader, "SIGTERM");
	if (await isGoneWithin(GRACE_MS, leader, clock)) return;
	await signalGroup(leader, "SIGKILL");
	await isGoneWithin(GRACE_MS, leader, clock);
}

/** Ends what a group's leader, now gone, left in it. */
async function endLeftovers(runDir: string, leader: ProcessIdentity, given: Clock): Promise<void> {
	if (!(await isHere(leader))) return;
	const clock = steadyClock(given);
	for (const deadline = clock.now() + GRACE_MS; await killGroupOf(runDir, leader.pid); ) {
		if (clock.now() >= deadline) return;
		await sleep(LOOK_MS, clock);
	}
}

/** Does nothing if it is gone, out of reach, or cannot be identified with certainty. */
export async function signalGroup(leader: ProcessIdentity, signal: NodeJS.Signals): Promise<void> {
	const isKnown = leader.born !== null || process.platform === "win32";
	if (!isKnown || !(await isHere(leader)) || !(await isAlive(leader))) return;
	try {
		process.kill(process.platform === "win32" ? leader.pid : -leader.pid, signal);
	} catch (error) {
		if (codeOf(error) !== "ESRCH") throw error; // it ended meanwhile
	}
}

async function isGoneWithin(ms: number, process: ProcessIdentity, given: Clock): Promise<boolean> {
	if (!(await isHere(process))) return true;
	const clock = steadyClock(given);
	for (const deadline = clock.now() + ms; await isAlive(process); ) {
		if (clock.now() >= deadline) return false;
		await sleep(LOOK_MS, clock);
	}
	return true;
}
