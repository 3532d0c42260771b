/** Identifies processes across pid reuse, restarts of this process and of the machine. */
import { hostname } from "node:os";
import { type TSchema, Type } from "typebox";
import { defined, once } from "../base/values.ts";
import { isPid, look, thisMachine } from "./process-facts.ts";
import { answers } from "./signals.ts";

/** Identifies a process beyond its pid, which may be reused. */
export interface ProcessIdentity {
	pid: number;
	/** When it was started, in the machine's own format; null if unknown. */
	born: string | null;
	host: string;
	/** Changes with every boot; null if unknown. */
	boot: string | null;
	/** The pid namespace: containers have their own. Null if unknown. */
	space?: string | null;
	/** Whose it is. Absent where there are no such numbers, and in earlier versions. */
	uid?: number;
}

/** Its fields in a file that anyone may have written. */
export const identitySchema = once(
	() =>
		({
			pid: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
			born: Type.Union([Type.String(), Type.Null()]),
			host: Type.String(),
			boot: Type.Union([Type.String(), Type.Null()]),
			space: Type.Optional(Type.Union([Type.String(), Type.Null()])),
			uid: Type.Optional(Type.Integer({ minimum: 0 })),
		}) satisfies Record<keyof ProcessIdentity, TSchema>,
);

/** Of a running process. */
export async function identityOf(pid: number): Promise<ProcessIdentity> {
	const found = await look(pid);
	const { boot, space } = thisMachine();
	const own = typeof found === "object" ? { born: found.born, uid: found.uid } : { born: null };
	return { pid, host: hostname(), boot, space, ...own };
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
export function identityIn({ pid, born, host, boot, space, uid }: ProcessIdentity): ProcessIdentity {
	return { pid, born, host, boot, ...defined({ space, uid }) };
}

/** Whether it still runs. On another machine or in another container that is unknown, so it counts as alive. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
	const { pid, born, uid } = identity;
	const location = locationOf(identity);
	if (location !== "here") return location === "elsewhere";
	if (!isPid(pid) || !answers(pid)) return false;
	const found = await look(pid);
	if (typeof found === "string") return found === "unknown";
	return (born === null || found.born === born) && (uid === undefined || found.uid === uid);
}

export function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
	const isSameSpace = a.space === undefined || b.space === undefined || a.space === b.space;
	return a.pid === b.pid && a.born === b.born && a.host === b.host && a.boot === b.boot && isSameSpace;
}

/** `past`: this machine, before it was restarted. */
export function locationOf({ host, boot, space }: ProcessIdentity): "here" | "past" | "elsewhere" {
	const here = thisMachine();
	// Host names can change at run time, and two machines can share one.
	const isSameStart = boot === null || here.boot === null ? undefined : boot === here.boot;
	if (isSameStart === false) return host === hostname() ? "past" : "elsewhere";
	if (isSameStart === undefined && host !== hostname()) return "elsewhere";
	const isSameSpace = space === undefined || space === null || here.space === null || space === here.space;
	return isSameSpace ? "here" : "elsewhere";
}
