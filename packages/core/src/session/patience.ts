/** Waiting for what may never come: work that ignores a stop, hooks of other people's code. */
import type { Clock } from "../clock.ts";

/** What the work resolves with, or undefined as soon as the signal fires. The work itself goes on unobserved. */
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

/** Whether the work was over within so long. */
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

/** Nobody waits for it any more, so its failure is nobody's; unobserved it would end pi. */
function ignoreLate(work: unknown): void {
	if (work instanceof Promise) work.catch(() => undefined);
}
