/**
 * Runs code of an extension so that nothing it throws ends pi. An extension may bear only one evaluation in a process:
 * the second one finds its port taken, say, and the error arrives later, in no promise that anyone holds. Such an error
 * is recognised by the asynchronous context that it was thrown in, or by the extension's files in its stack.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { pathToFileURL } from "node:url";

interface Containment {
	/** The directory of the extension. */
	root: string;
	fail: (error: unknown) => void;
}

const current = new AsyncLocalStorage<Containment>();
const active = new Set<Containment>();

/** Rejects with what the work throws, also if it does so in a timer, an event or a promise that it left alone. */
export async function contained<T>(root: string, work: () => T | Promise<T>): Promise<T> {
	const { promise: failed, reject: fail } = Promise.withResolvers<never>();
	failed.catch(() => undefined); // raced below; nothing else waits for it
	const containment: Containment = { root, fail };
	begin(containment);
	try {
		const done = current.run(containment, async () => work());
		const result = await Promise.race([done, failed]);
		await Promise.race([nextTurn(), failed]); // what it has just started fails in the next turn of the event loop
		return result;
	} finally {
		end(containment);
	}
}

function nextTurn(): Promise<void> {
	return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

/** For code that is run only once, so that it may cost something: what it postponed with `setTimeout(…, 0)` has run, too. */
export function afterTimers(): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, POSTPONED_MS));
}

const POSTPONED_MS = 2;

let captures = false;

/** Listeners could not keep pi's own, which ends pi, from being called. */
function begin(containment: Containment): void {
	active.add(containment);
	if (captures || process.hasUncaughtExceptionCaptureCallback()) return; // a program that embeds pi may have its own
	process.setUncaughtExceptionCaptureCallback(capture);
	captures = true;
}

function end(containment: Containment): void {
	active.delete(containment);
	if (active.size === 0) stopCapturing();
}

function stopCapturing(): void {
	if (captures) process.setUncaughtExceptionCaptureCallback(null);
	captures = false;
}

function capture(error: Error): void {
	const store = current.getStore();
	const whose = store && active.has(store) ? store : [...active].find(({ root }) => mentions(error, root));
	if (whose) {
		whose.fail(error);
		return;
	}
	// Someone else's: as if no one had captured it.
	if ((process as NodeJS.EventEmitter).emit("uncaughtException", error, "uncaughtException")) return;
	stopCapturing();
	process.nextTick(() => {
		throw error;
	});
}

function mentions(error: unknown, root: string): boolean {
	const stack = error instanceof Error ? (error.stack ?? "") : "";
	return stack.includes(root) || stack.includes(pathToFileURL(root).href);
}
