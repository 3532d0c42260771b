/**
 * What the system itself says about processes. No file of a run and no machine is asked: whoever may be signalled is
 * decided from this alone.
 */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { codeOf } from "../base/error-code.ts";
import { isShortage } from "../base/spawn-error.ts";
import { RUN_MARK } from "./mark.ts";

export interface ProcessFacts {
	pid: number;
	parent: number;
	/** The pid of its group's leader. */
	group: number;
	uid: number;
	/** When it was started, in the system's own format. */
	born: string;
}

/** A zombie still has its pid, but is gone. */
export type Found = ProcessFacts | "gone" | "unknown";

/** Synchronous, for a signal that follows at once: between the look and the signal the pid cannot be given away. */
export function lookNow(pid: number): Found {
	if (!isPid(pid)) return "gone";
	if (process.platform === "win32") return "unknown";
	if (process.platform === "linux") return lookInProc(pid);
	try {
		return inPs(pid, execFileSync("ps", psArguments(pid), { ...plainly(), stdio: ["ignore", "pipe", "ignore"] }));
	} catch (error) {
		return whyNoPs(error);
	}
}

/** The same, without blocking where another program must be asked. */
export async function look(pid: number): Promise<Found> {
	if (process.platform === "linux" || process.platform === "win32" || !isPid(pid)) return lookNow(pid);
	try {
		const { stdout } = await promisify(execFile)("ps", psArguments(pid), plainly());
		return inPs(pid, stdout);
	} catch (error) {
		return whyNoPs(error);
	}
}

/** Anything may have been in a file. */
export function isPid(pid: number): boolean {
	return Number.isInteger(pid) && pid >= 1 && pid < 2 ** 31;
}

function lookInProc(pid: number): Found {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
		// The name before the last parenthesis may contain anything, including spaces and parentheses.
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		const [state = "", parent, group] = fields;
		if (/^[ZX]/.test(state)) return "gone";
		const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
		return facts(pid, [parent, group, uid], fields[19] ?? "");
	} catch (error) {
		const isGone = ["ENOENT", "ESRCH"].includes(codeOf(error) ?? "");
		return isGone && existsSync("/proc/self/stat") ? "gone" : "unknown";
	}
}

function psArguments(pid: number): string[] {
	return ["-o", "state=", "-o", "ppid=", "-o", "pgid=", "-o", "uid=", "-o", "lstart=", "-p", String(pid)];
}

/** In one language and one time zone, so that a time is always written in the same way. */
function plainly() {
	return { env: { ...process.env, LC_ALL: "C", TZ: "UTC" }, encoding: "utf8" } as const;
}

function inPs(pid: number, output: string): Found {
	const [state = "", parent, group, uid, ...born] = output.trim().split(/\s+/);
	if (state.startsWith("Z")) return "gone";
	return facts(pid, [parent, group, uid], born.join(" "));
}

/** `ps` exits with 1 if there is no such process; other errors say nothing about it. */
function whyNoPs(error: unknown): "gone" | "unknown" {
	const { code, status }: { code?: unknown; status?: unknown } = Object(error);
	return code === 1 || status === 1 ? "gone" : "unknown";
}

function facts(pid: number, numbers: readonly (string | undefined)[], born: string): ProcessFacts | "unknown" {
	const [parent = Number.NaN, group = Number.NaN, uid = Number.NaN] = numbers.map((text = "") =>
		/^\d+$/.test(text) ? Number(text) : Number.NaN,
	);
	const isWhole = [parent, group, uid].every(Number.isInteger) && born !== "";
	return isWhole ? { pid, parent, group, uid, born } : "unknown";
}

/** This process and all above it. Undefined if the system does not show them. */
export function ownLine(): ReadonlySet<number> | undefined {
	const line = new Set<number>();
	for (let pid = process.pid; pid > 0 && !line.has(pid); ) {
		line.add(pid);
		const found = lookNow(pid);
		if (found === "unknown" && pid !== 1) return undefined;
		pid = typeof found === "object" ? found.parent : 0;
	}
	return line;
}

/** Whether the system shows the environment of processes. */
export function showsEnvironments(): boolean {
	return process.platform === "linux" && existsSync("/proc/self/environ");
}

/**
 * Whether the process was started with the mark of the run. No one else can give it one: an environment is fixed when a
 * program starts. What an agent puts into its own processes makes it lose only these.
 */
export function carriesMark(pid: number, runDir: string): boolean {
	if (!showsEnvironments() || !isPid(pid)) return false;
	try {
		return hasMark(readFileSync(`/proc/${pid}/environ`), runDir);
	} catch (error) {
		if (codeOf(error) !== undefined) return false; // it has ended, or is hidden from us
		throw error;
	}
}

/** All processes that carry the mark of the run now. */
export async function markedProcesses(runDir: string): Promise<number[]> {
	if (!showsEnvironments()) return [];
	const pids = processNames().filter((name) => /^\d+$/.test(name));
	const found: number[] = [];
	// A few at a time: there may be more processes than free handles.
	for (let at = 0; at < pids.length; at += AT_ONCE) {
		const each = pids.slice(at, at + AT_ONCE).map(async (pid) => {
			const environment = await readFile(`/proc/${pid}/environ`).catch(unlessBroken);
			return environment && hasMark(environment, runDir) ? [Number(pid)] : [];
		});
		found.push(...(await Promise.all(each)).flat());
	}
	return found;
}

const AT_ONCE = 16;

function hasMark(environment: Buffer, runDir: string): boolean {
	const mark = Buffer.from(`${RUN_MARK}=${runDir}\0`);
	return environment.subarray(0, mark.length).equals(mark) || environment.includes(Buffer.concat([NUL, mark]));
}

const NUL = Buffer.from([0]);

function processNames(): string[] {
	try {
		return readdirSync("/proc");
	} catch (error) {
		if (codeOf(error) !== undefined) return []; // not available, or no free handle
		throw error;
	}
}

/** It has ended, or belongs to another user. */
function unlessBroken(error: unknown): undefined {
	if (codeOf(error) === undefined) throw error;
}

export interface Machine {
	/** Changes with every boot; null if unknown. */
	boot: string | null;
	/** The pid namespace: containers have their own. Null if unknown. */
	space: string | null;
}

/** Read once: this process neither survives a reboot nor leaves its container. Not every sandbox shows both. */
export function thisMachine(): Machine {
	if (process.platform !== "linux") return { boot: null, space: null };
	if (known) return known;
	let isShort = false;
	const unlessHidden = (read: () => string) => {
		try {
			return read().trim();
		} catch (error) {
			isShort ||= isShortage(error); // that passes; what is hidden stays hidden
			return null;
		}
	};
	const machine = {
		boot: unlessHidden(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
		space: unlessHidden(() => readlinkSync("/proc/self/ns/pid")),
	};
	if (!isShort) known = machine;
	return machine;
}

let known: Machine | undefined;
