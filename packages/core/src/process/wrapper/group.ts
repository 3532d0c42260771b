/** Ends processes together: a group with its leader gone or not, and commands that left their group and lost their pi. */
import { readdir, readFile } from "node:fs/promises";
import { RUN_DIR_VARIABLE } from "../child/tunnel.ts";
import { codeOf } from "../code-of.ts";

/** Whether any process of the group is left. */
export function isGroupAlive(leader: number): boolean {
	try {
		process.kill(target(leader), 0);
		return true;
	} catch (error) {
		return codeOf(error) === "EPERM";
	}
}

/** A group that is gone needs no signal. */
export function signalGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): void {
	try {
		process.kill(target(leader), signal);
	} catch (error) {
		if (codeOf(error) !== "ESRCH" && codeOf(error) !== "EPERM") throw error;
	}
}

/**
 * pi runs each command of its bash tool in a group of its own, and ends it when it ends itself. When pi had no time for
 * that, they are found by the run's directory in their environment; where the system does not show it, they stay. Only
 * leaders of groups: what a command left in the background on purpose has lost its leader.
 */
export async function endStrays(runDir: string): Promise<void> {
	for (const { pid, group } of await processesOf(runDir)) if (group === pid) signalGroup(pid, "SIGKILL");
}

/**
 * Kills what is left of a pi's group, also when pi itself is gone. That the group is still this pi's and not one that
 * got its number later is seen by the run's directory, as above. Whether there was anything left.
 */
export async function killGroupOf(runDir: string, leader: number): Promise<boolean> {
	const isLeft = (await processesOf(runDir)).some(({ group }) => group === leader);
	if (isLeft) signalGroup(leader, "SIGKILL");
	return isLeft;
}

interface Marked {
	pid: number;
	group: number;
}

/** All that a run's pi started and that has not ended. */
async function processesOf(runDir: string): Promise<Marked[]> {
	if (process.platform !== "linux") return [];
	const mark = Buffer.from(`${RUN_DIR_VARIABLE}=${runDir}\0`);
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	return (await Promise.all(pids.map((pid) => look(pid, mark)))).flat();
}

async function look(pid: string, mark: Buffer): Promise<Marked[]> {
	try {
		if (!(await readFile(`/proc/${pid}/environ`)).includes(mark)) return [];
		const stat = await readFile(`/proc/${pid}/stat`, "utf8");
		// After the name, which may hold anything: state, parent, group.
		const [, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return [{ pid: Number(pid), group: Number(group) }];
	} catch (error) {
		if (codeOf(error) !== undefined) return []; // it has just ended, or is somebody else's
		throw error;
	}
}

/** Windows has no groups. */
function target(leader: number): number {
	return process.platform === "win32" ? leader : -leader;
}
