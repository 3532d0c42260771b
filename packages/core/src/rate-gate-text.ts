/**
 * Finds out how long a provider wants to be left alone, from its headers or from the text of its error.
 * Lenient about form and strict about sense: what states no time gives none. `RateGate.pause` caps what is absurd.
 */

/** Header names in any case; of several values the first counts. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How long to wait by the value of a `Retry-After` header: seconds, or a date. */
export function retryAfterMs(value: string | number | null | undefined, now: number): number | undefined {
	const text = String(value ?? "").trim();
	if (/^\d{1,12}(\.\d{1,12})?$/.test(text)) return Number(text) * 1_000;
	if (text.length > 64 || !DATE.test(text)) return undefined; // `Date.parse` would find a date in almost anything
	const date = Date.parse(text);
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The same from all headers of a response: `retry-after-ms` is the more exact one where both are sent. */
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

/** Whether the text says that requests come too fast. An exhausted account is not that: waiting does not help it. */
export function isRateLimit(errorText: string): boolean {
	const text = errorText.slice(0, LONGEST_TEXT);
	if (/insufficient_quota|out of budget|available balance/i.test(text)) return false;
	return /\b429\b|rate.?limit|too many requests|resource.?exhausted|retry delay|throttl/i.test(text);
}

/** How long to wait by the text of an error; undefined when it is about something else or states no time. */
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
 * A cue, and what follows as long as it looks like "20", "20s", "1m30.5s", "2 minutes" or "1 hour 5 minutes".
 * "Requested" alone is no cue: "Used 29000, Requested 2000" counts tokens.
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
