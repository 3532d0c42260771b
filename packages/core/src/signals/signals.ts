/**
 * The only place that signals processes; lint fails on any other. No function here takes a pid from its caller: a file
 * of a run, a session entry or a machine may name any process of the user. What may be signalled:
 *
 * 1. a process that this one started and has not seen the end of;
 * 2. one that a record in pi's own directory names, if pid, start, boot and user match. An agent in a sandbox cannot
 *    write there;
 * 3. one of this user that was started with the mark of the run in its environment.
 *
 * Never the first process, this one, or one above it. Where the system cannot tell, nothing is signalled.
 */
import type { ChildProcess } from "node:child_process";
import { codeOf } from "../base/error-code.ts";
import type { ProcessIdentity } from "./identity.ts";
import {
	carriesMark,
	isPid,
	lookNow,
	markedProcesses,
	ownLine,
	type ProcessFacts,
	showsEnvironments,
	thisMachine,
} from "./process-facts.ts";

export type EndSignal = "SIGTERM" | "SIGKILL";

/** `unsure`: there may be a process, but not certainly the one that is meant. It was not signalled. */
export type Signalled = "signalled" | "gone" | "unsure";

/** Signals a child of this process, alone. Does nothing if it has ended. */
export function signalChild(child: ChildProcess, signal: EndSignal = "SIGTERM"): void {
	if (isHeld(child)) child.kill(signal);
}

/** Signals a child that leads its own group (`detached`), and its group; also what the group has left when it has ended. */
export function signalChildGroup(child: ChildProcess, signal: EndSignal): void {
	if (child.pid === undefined || !isPid(child.pid)) return;
	if (process.platform === "win32")
		signalChild(child, signal); // there are no groups
	else if (isHeld(child) || hasLeft(child.pid)) send(-child.pid, signal);
}

/** Whether any process of its group is left. */
export function isGroupLeft(child: ChildProcess): boolean {
	if (child.pid === undefined || !isPid(child.pid)) return false;
	if (isHeld(child)) return true;
	return process.platform !== "win32" && hasLeft(child.pid) && canSignal(-child.pid);
}

/**
 * For a shell that leads its own group: it becomes the command that it is given, after leaving a process in its group
 * that kills the group when our end of pipe 3 is closed: that also happens when this process is killed. The command must
 * not see the pipe, or it could keep it open.
 */
export const GROUP_GUARD =
	"( ( trap '' TERM HUP INT; read -r _ <&3; kill -KILL 0 ) >/dev/null 2>&1 & ); exec 3<&-; exec \"$@\"";

/** Signals a recorded process, and its group if it leads one. */
export function signalRecorded(record: ProcessIdentity, signal: EndSignal): Signalled {
	const found = findRecorded(record);
	if (typeof found === "string") return found;
	return send(found.group === found.pid ? -found.pid : found.pid, signal);
}

/** What the kernel says about a recorded process. `unsure`: it may be another one, or must never be signalled. */
function findRecorded({ pid, born, boot, uid }: ProcessIdentity): ProcessFacts | "gone" | "unsure" {
	const here = thisMachine();
	// Elsewhere a start is a time of day, which no restart repeats.
	const isThisBoot = process.platform !== "linux" || (boot !== null && boot === here.boot);
	if (!isPid(pid)) return "gone";
	const found = lookNow(pid);
	if (found === "gone") return "gone";
	if (found === "unknown") return answers(pid) ? "unsure" : "gone";
	if (born === null || uid === undefined || !isThisBoot) return "unsure";
	if (found.born !== born || found.uid !== uid) return "gone"; // the pid was given to another process
	return maySignal(found) ? found : "unsure";
}

/**
 * Kills everything that was started with the mark of the run and leads a group: its wrapper, its pi and commands that
 * left their group and lost their pi. What a command left in the background on purpose has lost its leader. `unsure`:
 * the system does not show such marks.
 */
export async function killMarked(runDir: string): Promise<Signalled> {
	if (!showsEnvironments()) return "unsure";
	let done: Signalled = "gone";
	for (const pid of await markedProcesses(runDir)) {
		const found = lookNow(pid);
		const isLeader = typeof found === "object" && found.group === pid;
		if (!isLeader || !maySignal(found) || !carriesMark(pid, runDir)) continue;
		if (send(-pid, "SIGKILL") === "signalled") done = "signalled";
	}
	return done;
}

/**
 * Kills what is left of the group of a recorded process that is gone. A group keeps its number as long as it has
 * members, and all of them descend from its leader; the mark of one of them proves that it is still the same group.
 * Returns whether anything was left.
 */
export async function killGroupLeftBy({ pid: leader, boot }: ProcessIdentity, runDir: string): Promise<boolean> {
	if (!isPid(leader) || boot === null || boot !== thisMachine().boot) return false;
	for (const pid of await markedProcesses(runDir)) {
		const found = lookNow(pid);
		if (typeof found !== "object" || found.group !== leader || !maySignal(found)) continue;
		const isLeaderless = lookNow(leader) === "gone" && !isOwnGroup(leader);
		if (isLeaderless && carriesMark(pid, runDir)) return send(-leader, "SIGKILL") === "signalled";
	}
	return false;
}

/** Whether a process has this pid. Another user's refuses the signal, but lives. */
export function answers(pid: number): boolean {
	return isPid(pid) && canSignal(pid);
}

/** Node reaps a child when it sees its end; until then no other process gets its pid. */
function isHeld({ pid, exitCode, signalCode }: ChildProcess): boolean {
	return pid !== undefined && exitCode === null && signalCode === null;
}

/**
 * Whether a child that has ended and was reaped may have left a group: no process gets the number of a group that still
 * has members, so if one has it, the group was another's.
 */
function hasLeft(leader: number): boolean {
	return !answers(leader);
}

/** Of this user, and neither this process nor one that it depends on. */
function maySignal({ pid, group, uid }: ProcessFacts): boolean {
	if (pid <= 1 || uid !== process.getuid?.()) return false;
	const line = ownLine();
	return line !== undefined && !line.has(pid) && (group !== pid || !isOwnGroup(group));
}

function isOwnGroup(group: number): boolean {
	const self = lookNow(process.pid);
	return typeof self !== "object" || self.group === group;
}

/** A negative target is a group. */
function send(target: number, signal: EndSignal): Signalled {
	if (Math.abs(target) <= 1) return "unsure"; // -1 would be every process of the user
	try {
		process.kill(target, signal);
		return "signalled";
	} catch (error) {
		if (codeOf(error) === "ESRCH") return "gone";
		if (codeOf(error) === "EPERM") return "unsure";
		throw error;
	}
}

function canSignal(target: number): boolean {
	try {
		process.kill(target, 0);
		return true;
	} catch (error) {
		return codeOf(error) === "EPERM";
	}
}
