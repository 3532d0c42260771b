/**
 * Finds how long a provider wants a pause, from its headers or its error text. Lenient about form, strict about
 * meaning: without a stated time there is none. `RateGate.pause` caps absurd values.
 */

/** Header names in any case; the first of several values counts. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The wait that a `Retry-After` header states: seconds or a date. */
export function retryAfterMs(value: string | number | null | undefined, now: number): number | undefined {
	const text = String(value ?? "").trim();
	if (/^\d{1,12}(\.\d{1,12})?$/.test(text)) return Number(text) * 1_000;
	if (text.length > 64 || !DATE.test(text)) return undefined; // `Date.parse` would find a date in almost anything
	const date = Date.parse(text);
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The same for all headers of a response: `retry-after-ms` is more exact if both are sent. */
export function retryAfterOf(headers: ResponseHeaders, now: number): number | undefined {
	const valueNamed = (wanted: string) => {
		const name = Object.keys(headers).find((key) => key.toLowerCase() === wanted);
		const value = name === undefined ? undefined : headers[name];
		return typeof value === "object" ? value[0] : value;
	};
	const exact = valueNamed("retry-after-ms")?.trim() ?? "";
	if (/^\d{1,15}(\.\d{1,12})?$/.test(exact)) return Number(exact);
	return retryAfterMs(valueNamed("retry-after"), now);
}

/** A failed request, as events describe it. */
export interface Refusal {
	error?: string;
	/** What the headers of the response said. */
	retryAfterMs?: number;
}

/**
 * How long all users of the provider should wait: by its headers, else by its error text, else `otherwise`. Undefined
 * if waiting would not help.
 */
export function pauseAfter({ error, retryAfterMs }: Refusal, now: number, otherwise: number): number | undefined {
	if (error === undefined || isExhausted(error)) return undefined;
	if (retryAfterMs !== undefined) return retryAfterMs;
	return isRateLimit(error) ? (rateLimitOf(error, now) ?? otherwise) : undefined;
}

/** Waiting does not help an exhausted account. */
function isExhausted(errorText: string): boolean {
	return /insufficient_quota|out of budget|available balance/i.test(errorText.slice(0, LONGEST_TEXT));
}

/** Whether the text reports too many requests. An exhausted account does not count. */
export function isRateLimit(errorText: string): boolean {
	const text = errorText.slice(0, LONGEST_TEXT);
	if (isExhausted(text)) return false;
	return /\b429\b|rate.?limit|too many requests|resource.?exhausted|retry delay|throttl/i.test(text);
}

/** The wait that an error text states; undefined if it is about something else or states no time. */
export function rateLimitOf(errorText: string, now: number): number | undefined {
	if (!isRateLimit(errorText)) return undefined;
	const text = errorText.slice(0, LONGEST_TEXT);
	const stated = retryAfterMs(DATED.exec(text)?.[1], now);
	if (stated !== undefined) return stated;
	for (const [, millis, amount] of text.matchAll(STATED)) {
		const ms = durationMs(amount ?? "", millis === undefined ? "s" : "ms");
		if (ms !== undefined) return ms;
	}
	return undefined;
}

const LONGEST_TEXT = 4_000;

const DATE = /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? |\d{4}-\d\d-\d\dT)/i;

const DATED =
	/\bretry-after["']?\s{0,4}[:=]\s{0,4}["']?([a-z]{3,9},? [^"'\r\n]{10,40}?GMT|\d{4}-\d\d-\d\dT[\d:.+-]{4,24}Z?)/i;

/**
 * A cue, and what follows it if it looks like "20", "20s", "1m30.5s", "2 minutes" or "1 hour 5 minutes". "Requested"
 * alone is no cue: "Used 29000, Requested 2000" counts tokens.
 */
const STATED = new RegExp(
	[
		String.raw`(?:\b(?:try|retry)(?:ing)?(?: again)? (?:in|after)|\bretry[-_ ]?(?:after|delay)(?:[-_]?(ms|millis))?`,
		String.raw`|\bwait(?: for)?|\bserver requested)["']?\s{0,4}[:=]?\s{0,4}["']?(?:about |at least |another )?`,
		String.raw`((?:\d{1,12}(?:\.\d{1,12})?\s{0,2}(?:[a-z]{1,12}\b|[dhms](?=\d)|)\s{0,2}){1,4})`,
	].join(""),
	"gi",
);

function durationMs(text: string, unitless: "s" | "ms"): number | undefined {
	let sum: number | undefined;
	for (const [, amount, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]*)/gi)) {
		const factor = unit === "" && sum === undefined ? unitMs(unitless) : unitMs(unit.toLowerCase());
		if (factor === undefined) break; // "1 minute 429 errors": what was stated ends here
		sum = (sum ?? 0) + Number(amount) * factor;
		if (unit === "") break;
	}
	return sum;
}

function unitMs(unit: string): number | undefined {
	if (/^(?:ms|msecs?|millis|milliseconds?)$/.test(unit)) return 1;
	if (/^(?:s|secs?|seconds?)$/.test(unit)) return 1_000;
	if (/^(?:m|mins?|minutes?)$/.test(unit)) return 60_000;
	if (/^(?:h|hrs?|hours?)$/.test(unit)) return 3_600_000;
	if (/^(?:d|days?)$/.test(unit)) return 86_400_000;
	return undefined;
}
