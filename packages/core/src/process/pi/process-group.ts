/** Ends what a pi left behind: its group, and commands that left the group and lost their pi. */
import { readdir, readFile } from "node:fs/promises";
import { codeOf } from "../../base/error-code.ts";
import { signalGroup } from "../../base/process-group.ts";
import { RUN_DIR_VARIABLE } from "./tunnel.ts";

/**
 * pi runs each bash command in its own group and ends them when it ends. If it could not, they are found by the run's
 * directory in their environment, where the system shows that. Only group leaders: what a command left in the
 * background on purpose has lost its leader.
 */
export async function endStrays(runDir: string): Promise<void> {
	for (const { pid, group } of await processesOf(runDir)) if (group === pid) signalGroup(pid, "SIGKILL");
}

/**
 * Kills what is left of a pi's group, even if pi itself is gone. The run's directory in the environment proves that
 * the pid was not reused. Returns whether anything was left.
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

/** All running processes that a run's pi started. */
async function processesOf(runDir: string): Promise<Marked[]> {
	if (process.platform !== "linux") return [];
	const mark = Buffer.from(`${RUN_DIR_VARIABLE}=${runDir}\0`);
	const pids = (await processNames("/proc")).filter((name) => /^\d+$/.test(name));
	const found: Marked[] = [];
	// A few at a time: there may be more processes than free handles.
	for (let at = 0; at < pids.length; at += AT_ONCE) {
		found.push(...(await Promise.all(pids.slice(at, at + AT_ONCE).map((pid) => look(pid, mark)))).flat());
	}
	return found;
}

const AT_ONCE = 16;

async function processNames(dir: string): Promise<string[]> {
	try {
		return await readdir(dir);
	} catch (error) {
		if (codeOf(error) !== undefined) return []; // not available, or no free handle
		throw error;
	}
}

async function look(pid: string, mark: Buffer): Promise<Marked[]> {
	try {
		if (!(await readFile(`/proc/${pid}/environ`)).includes(mark)) return [];
		const stat = await readFile(`/proc/${pid}/stat`, "utf8");
		// After the name, which may contain anything: state, parent, group.
		const [, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return [{ pid: Number(pid), group: Number(group) }];
	} catch (error) {
		if (codeOf(error) !== undefined) return []; // it has ended, or belongs to another user
		throw error;
	}
}
