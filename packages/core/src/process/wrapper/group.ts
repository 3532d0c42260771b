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
	if (process.platform !== "linux") return;
	const mark = Buffer.from(`${RUN_DIR_VARIABLE}=${runDir}\0`);
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	await Promise.all(pids.map(async (pid) => (await isStray(pid, mark)) && signalGroup(Number(pid), "SIGKILL")));
}

async function isStray(pid: string, mark: Buffer): Promise<boolean> {
	try {
		if (!(await readFile(`/proc/${pid}/environ`)).includes(mark)) return false;
		const stat = await readFile(`/proc/${pid}/stat`, "utf8");
		// After the name, which may hold anything: state, parent, group.
		const [, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return group === pid;
	} catch (error) {
		if (codeOf(error) !== undefined) return false; // it has just ended, or is somebody else's
		throw error;
	}
}

/** Windows has no groups. */
function target(leader: number): number {
	return process.platform === "win32" ? leader : -leader;
}
