/** Tells one process from another that got its number later, also after this one and the machine were started again. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { codeOf } from "./code-of.ts";
import type { ProcessIdentity } from "./layout.ts";

/** Of a process that runs now. */
export async function identityOf(pid: number): Promise<ProcessIdentity> {
	const [found, boot] = await Promise.all([look(pid), bootId()]);
	return { pid, born: typeof found === "object" ? found.born : null, host: hostname(), boot };
}

/** Of this process. It stays the same, and some systems can only be asked by starting another process. */
export function ownIdentity(): Promise<ProcessIdentity> {
	own ??= identityOf(process.pid);
	return own;
}

let own: Promise<ProcessIdentity> | undefined;

/** Whether it still runs. One on another machine cannot be judged from here, so it counts as alive. */
export async function isAlive({ pid, born, host, boot }: ProcessIdentity): Promise<boolean> {
	if (host !== hostname()) return true;
	const here = await bootId();
	if (boot !== null && here !== null && boot !== here) return false;
	if (!answers(pid)) return false;
	const found = await look(pid);
	if (found === "gone") return false;
	return found === "unknown" || born === null || found.born === born;
}

export function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
	return a.pid === b.pid && a.born === b.born && a.host === b.host && a.boot === b.boot;
}

/** A process of somebody else's refuses our signal, and lives. */
function answers(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return codeOf(error) === "EPERM";
	}
}

/** One that has ended and was not waited for yet still has its number, but is gone. */
type Found = { born: string } | "gone" | "unknown";

async function look(pid: number): Promise<Found> {
	if (process.platform === "win32") return "unknown";
	return process.platform === "linux" ? lookInProc(pid) : askPs(pid);
}

async function lookInProc(pid: number): Promise<Found> {
	try {
		const stat = await readFile(`/proc/${pid}/stat`, "utf8");
		// The name before the last parenthesis may hold anything, spaces and parentheses included.
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
		// It ends with 1 when there is no such process; anything else says nothing about it.
		return error instanceof Error && "code" in error && error.code === 1 ? "gone" : "unknown";
	}
}

/** Asked once: this process ends before the machine starts again. */
async function bootId(): Promise<string | null> {
	if (process.platform !== "linux") return null;
	boot ??= readBootId();
	return boot;
}

let boot: Promise<string | null> | undefined;

async function readBootId(): Promise<string | null> {
	try {
		return (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
	} catch {
		return null; // not every sandbox shows it; then a number and a time of birth must do
	}
}
