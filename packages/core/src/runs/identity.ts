/** Identifies processes across pid reuse, restarts of this process and of the machine. */
import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { codeOf } from "../base/error-code.ts";
import { isShortage } from "../base/spawn-error.ts";
import { defined } from "../base/values.ts";
import type { ProcessIdentity } from "./format/layout.ts";

/** Of a running process. */
export async function identityOf(pid: number): Promise<ProcessIdentity> {
	const [found, { boot, space }] = await Promise.all([look(pid), machine()]);
	return { pid, born: typeof found === "object" ? found.born : null, host: hostname(), boot, space };
}

/** Of this process; cached, since some systems must start another process to find out. */
export async function ownIdentity(): Promise<ProcessIdentity> {
	own ??= identityOf(process.pid);
	const found = await own;
	if (found.born === null && process.platform !== "win32") own = undefined; // it could not be read this time
	return found;
}

let own: Promise<ProcessIdentity> | undefined;

/** Just the identity fields. */
export function identityIn({ pid, born, host, boot, space }: ProcessIdentity): ProcessIdentity {
	return { pid, born, host, boot, ...defined({ space }) };
}

/** Whether it still runs. On another machine or in another container that is unknown, so it counts as alive. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
	const { pid, born } = identity;
	const location = await locationOf(identity);
	if (location !== "here") return location === "elsewhere";
	if (!answers(pid)) return false;
	const found = await look(pid);
	if (found === "gone") return false;
	return found === "unknown" || born === null || found.born === born;
}

/** Whether its pid is valid here, so that it can be checked and signalled. */
export async function isHere(identity: ProcessIdentity): Promise<boolean> {
	return (await locationOf(identity)) === "here";
}

export function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
	const isSameSpace = a.space === undefined || b.space === undefined || a.space === b.space;
	return a.pid === b.pid && a.born === b.born && a.host === b.host && a.boot === b.boot && isSameSpace;
}

/** `past`: this machine, before it was restarted. */
async function locationOf({ host, boot, space }: ProcessIdentity): Promise<"here" | "past" | "elsewhere"> {
	const here = await machine();
	// Host names can change at run time, and two machines can share one.
	const isSameStart = boot === null || here.boot === null ? undefined : boot === here.boot;
	if (isSameStart === false) return host === hostname() ? "past" : "elsewhere";
	if (isSameStart === undefined && host !== hostname()) return "elsewhere";
	const isSameSpace = space === undefined || space === null || here.space === null || space === here.space;
	return isSameSpace ? "here" : "elsewhere";
}

/** Another user's process refuses the signal, but lives. */
function answers(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return codeOf(error) === "EPERM";
	}
}

/** A zombie still has its pid, but is gone. */
type Found = { born: string } | "gone" | "unknown";

async function look(pid: number): Promise<Found> {
	if (process.platform === "win32") return "unknown";
	return process.platform === "linux" ? lookInProc(pid) : askPs(pid);
}

async function lookInProc(pid: number): Promise<Found> {
	try {
		const stat = await readFile(`/proc/${pid}/stat`, "utf8");
		// The name before the last parenthesis may contain anything, including spaces and parentheses.
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		const [state, born] = [fields[0] ?? "", fields[19]];
		if (/^[ZX]/.test(state)) return "gone";
		return born === undefined ? "unknown" : { born };
	} catch (error) {
		return ["ENOENT", "ESRCH"].includes(codeOf(error) ?? "") ? "gone" : "unknown";
	}
}

async function askPs(pid: number): Promise<Found> {
	try {
		const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
		const args = ["-o", "state=", "-o", "lstart=", "-p", String(pid)];
		const { stdout } = await promisify(execFile)("ps", args, { env });
		const [state = "", ...born] = stdout.trim().split(/\s+/);
		if (state.startsWith("Z")) return "gone";
		return born.length === 0 ? "unknown" : { born: born.join(" ") };
	} catch (error) {
		// `ps` exits with 1 if there is no such process; other errors say nothing about it.
		return error instanceof Error && "code" in error && error.code === 1 ? "gone" : "unknown";
	}
}

interface Machine {
	boot: string | null;
	space: string | null;
}

/** Read once: this process neither survives a reboot nor leaves its container. */
async function machine(): Promise<Machine> {
	if (process.platform !== "linux") return { boot: null, space: null };
	thisMachine ??= readMachine();
	return thisMachine;
}

let thisMachine: Promise<Machine> | undefined;

async function readMachine(): Promise<Machine> {
	const unlessHidden = async (text: Promise<string>) => {
		try {
			return (await text).trim();
		} catch (error) {
			if (isShortage(error)) thisMachine = undefined; // a shortage passes; hidden values stay hidden
			return null;
		}
	};
	const [boot, space] = await Promise.all([
		unlessHidden(readFile("/proc/sys/kernel/random/boot_id", "utf8")),
		unlessHidden(readlink("/proc/self/ns/pid")),
	]);
	return { boot, space }; // not every sandbox shows them; then pid and start time must do
}
