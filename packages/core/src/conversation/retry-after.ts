/**
 * Carries a provider's requested pause from its response to the events that report the failure. pi's own events have
 * only the error text, which rarely says it.
 */
import type { ChildEvent } from "@pi-subagents/progress";
import { type ResponseHeaders, retryAfterOf } from "../queue/retry-hint.ts";

export interface ProviderResponse {
	status: number;
	headers: ResponseHeaders;
}

/** One day: more means a wrong clock. `RateGate` waits for less. */
const LONGEST_MS = 86_400_000;

export class RetryAfter {
	#ms: number | undefined;

	/** A new request: what was said about the previous one no longer counts. */
	forget(): void {
		this.#ms = undefined;
	}

	/** Milliseconds from another process. Other values are ignored. */
	note(ms: unknown): void {
		if (typeof ms === "number" && ms >= 0) this.#ms = Math.min(Math.ceil(ms), LONGEST_MS);
	}

	/**
	 * A response arrived. A successful one asks for nothing. `now` is the time of day, since some responses state a
	 * date.
	 */
	hear({ status, headers }: ProviderResponse, now: number): void {
		if (status < 400) this.forget();
		else this.note(retryAfterOf(headers, now));
	}

	get ms(): number | undefined {
		return this.#ms;
	}

	/** The event, with the pause added if it reports a failure. */
	addTo(event: ChildEvent): ChildEvent {
		const isFailure = event.type === "retrying" || (event.type === "assistant_text" && event.error !== undefined);
		return isFailure && this.#ms !== undefined ? { ...event, retryAfterMs: this.#ms } : event;
	}
}
