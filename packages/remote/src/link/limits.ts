/** What both kinds of links need to stop reading: because it is too much, or because no one wants it any more. */
import { Refused } from "./link.ts";

export function tooLarge(maxBytes: number): Refused {
	return new Refused(`more than ${Math.round(maxBytes / 1024 / 1024)} MB would have to be copied, which is the limit`);
}

/** Rejects with the signal's reason as soon as it fires, whatever becomes of the work. */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
	return new Promise((resolve, reject) => {
		const stop = () => reject(signal.reason);
		if (signal.aborted) stop();
		signal.addEventListener("abort", stop, { once: true });
		work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
	});
}
