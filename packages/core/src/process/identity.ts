/** Tells one process from another that got its number later, also after this one and the machine were started again. */
import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { codeOf } from "./code-of.ts";
import type { ProcessIdentity } from "./layout.ts";

/** Of a process that runs now. */
export async function identityOf(pid: number): Promise<ProcessIdentity> {
	const [found, { boot, space }] = await Promise.all([look(pid), surroundings()]);
	return { pid, born: typeof found === "object" ? found.born : null, host: hostname(), boot, space };
}

/** Of this process. It stays the same, and some systems can only be asked by starting another process. */
export function ownIdentity(): Promise<ProcessIdentity> {
	own ??= identityOf(process.pid);
	return own;
}

let own: Promise<ProcessIdentity> | undefined;

/** Only that of something that says more. */
export function identityIn({ pid, born, host, boot, space }: ProcessIdentity): ProcessIdentity {
	return { pid, born, host, boot, ...(space === undefined ? {} : { space }) };
}

/** Whether it still runs. One on another machine or in another container cannot be judged, so it counts as alive. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
	const { pid, born } = identity;
	const place = await placeOf(identity);
	if (place !== "here") return place === "elsewhere";
	if (!answers(pid)) return false;
	const found = await look(pid);
	if (found === "gone") return false;
	return found === "unknown" || born === null || found.born === born;
}

/** Whether its number is one that this process can ask after, and send signals to. */
export async function isHere(identity: ProcessIdentity): Promise<boolean> {
	return (await placeOf(identity)) === "here";
}

export function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
	const isSameSpace = a.space === undefined || b.space === undefined || a.space === b.space;
	return a.pid === b.pid && a.born === b.born && a.host === b.host && a.boot === b.boot && isSameSpace;
}

/** `past`: this machine, before it was started again. */
async function placeOf({ host, boot, space }: ProcessIdentity): Promise<"here" | "past" | "elsewhere"> {
	const here = await surroundings();
	// A name can change while the machine runs, and two machines can have the same.
	const isSameStart = boot === null || here.boot === null ? undefined : boot === here.boot;
	if (isSameStart === false) return host === hostname() ? "past" : "elsewhere";
	if (isSameStart === undefined && host !== hostname()) return "elsewhere";
	const isSameSpace = space === undefined || space === null || here.space === null || space === here.space;
	return isSameSpace ? "here" : "elsewhere";
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

interface Surroundings {
	boot: string | null;
	space: string | null;
}

/** Asked once: this process ends before the machine starts again, and does not leave its container. */
async function surroundings(): Promise<Surroundings> {
	if (process.platform !== "linux") return { boot: null, space: null };
	around ??= lookAround();
	return around;
}

let around: Promise<Surroundings> | undefined;

async function lookAround(): Promise<Surroundings> {
	const unlessHidden = (text: Promise<string>) => text.then((found) => found.trim()).catch(() => null);
	const [boot, space] = await Promise.all([
		unlessHidden(readFile("/proc/sys/kernel/random/boot_id", "utf8")),
		unlessHidden(readlink("/proc/self/ns/pid")),
	]);
	return { boot, space }; // not every sandbox shows them; then a number and a time of birth must do
}
