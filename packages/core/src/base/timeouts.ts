/** Waiting for work that may never finish: it may ignore a stop, or run other people's code. */
import type { Clock } from "./clock.ts";

/** The result of the work, or undefined as soon as the signal fires. The work itself continues unobserved. */
export async function untilStopped<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T | undefined> {
	if (signal.aborted) {
		ignoreLate(work);
		return undefined;
	}
	const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
	const onStop = () => resolve(undefined);
	signal.addEventListener("abort", onStop, { once: true });
	try {
		return await Promise.race([work, stopped]);
	} finally {
		signal.removeEventListener("abort", onStop);
		if (signal.aborted) ignoreLate(work);
	}
}

/** Whether the work finished in time. */
export async function within(ms: number, work: Promise<unknown>, clock: Pick<Clock, "after">): Promise<boolean> {
	const { promise: late, resolve } = Promise.withResolvers<false>();
	const cancel = clock.after(ms, () => resolve(false));
	try {
		return await Promise.race([work.then(() => true), late]);
	} finally {
		cancel();
		ignoreLate(work);
	}
}

/** Its failure no longer matters, and an unhandled rejection would end pi. */
function ignoreLate(work: unknown): void {
	if (work instanceof Promise) work.catch(() => undefined);
}
