/** An extension beside ours that sees what is left of us when a session has been shut down, over all reloads of a pi. */

/** What `/report` says. */
export interface Watched {
	reloads: number;
	/** How many timers of ours it has seen. */
	timers: number;
	/** Where those were made that were still alive after a shutdown. */
	left: string[];
	/** Exceptions that nobody caught, and rejections that nobody handled. */
	errors: string[];
	/** How many listen to each event of the process. */
	listeners: Record<string, number>;
	heapMegabytes: number;
}

/** Looks when the next session begins: the order of handlers within one is pi's. `/again` reloads, which rpc mode has no command for. */
export const watcher = `
import { createHook } from "node:async_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");
const watched = (globalThis.watched ??= watch()); // this module is read anew with each reload

function watch() {
	const seen = { reloads: 0, timers: 0, left: [], errors: [], alive: new Map() };
	process.on("uncaughtExceptionMonitor", (error, origin) => seen.errors.push(origin + ": " + error.stack));
	createHook({
		init(_id, type, _trigger, resource) {
			if (type !== "Timeout" && type !== "Immediate") return;
			const { stack = "" } = new Error();
			if (stack.includes("impl.cjs")) seen.alive.set(resource, { stack, session: seen.reloads });
		},
	}).enable();
	return seen;
}

export default (pi) => {
	pi.on("session_shutdown", () => void watched.reloads++);
	pi.on("session_start", () => {
		for (const [timer, { stack, session }] of watched.alive) {
			if (session === watched.reloads) continue;
			watched.alive.delete(timer);
			watched.timers++;
			if (!timer._destroyed) watched.left.push(stack);
		}
	});
	pi.registerCommand("again", { handler: (_args, ctx) => ctx.reload() });
	pi.registerCommand("report", {
		async handler(_args, ctx) {
			collectGarbage();
			const { alive, ...report } = watched;
			const listeners = Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));
			const heapMegabytes = process.memoryUsage().heapUsed / 2 ** 20;
			ctx.ui.notify(JSON.stringify({ ...report, listeners, heapMegabytes }));
		},
	});
};
`;
