/**
 * Formats durations, tokens, counts and money for people.
 * The same in every locale, like the lines around them. Invalid numbers are formatted as zero.
 */

/**
 * A duration: `0.3s`, `4.8s`, `31s`, `1m 12s`, `3m`, `1h 5m`, `2d 3h`.
 *
 * @example
 * ```ts
 * formatDuration(72_000); // "1m 12s"
 * ```
 */
export function formatDuration(ms: number): string {
	const duration = positive(ms);
	if (duration === Number.POSITIVE_INFINITY) return "∞";
	// Each unit is rounded before it is compared, so that 59.96 s becomes a minute and never `60s`.
	const tenths = Math.round(duration / 100);
	if (tenths < 600) return `${tenths / 10}s`;
	const seconds = Math.round(duration / 1_000);
	if (seconds < 3_600) return pair(seconds, 60, "m", "s");
	const minutes = Math.round(duration / 60_000);
	if (minutes < 1_440) return pair(minutes, 60, "h", "m");
	return pair(Math.round(duration / 3_600_000), 24, "d", "h");
}

/**
 * A number of tokens: `999`, `1k`, `22.8k`, `1.2M`, `3.4B`.
 *
 * @example
 * ```ts
 * formatTokens(22_812); // "22.8k"
 * ```
 */
export function formatTokens(tokens: number): string {
	const count = positive(tokens);
	if (count === Number.POSITIVE_INFINITY) return "∞";
	if (Math.round(count) < 1_000) return `${Math.round(count)}`;
	if (count < 999_950) return `${oneDecimal(count / 1e3)}k`;
	if (count < 999_950_000) return `${oneDecimal(count / 1e6)}M`;
	return `${grouped(oneDecimal(count / 1e9))}B`;
}

/** A number of things: `1 tool`, `4 tools`, `12,345 tools`. The plural is the singular with an s unless given. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
	const whole = Math.floor(positive(count));
	return `${whole === Number.POSITIVE_INFINITY ? "∞" : grouped(whole)} ${whole === 1 ? singular : plural}`;
}

/** US dollars: `$0.012` below one dollar, `$1.24` above, `<$0.001` for very small amounts. */
export function formatCost(dollars: number): string {
	const cost = positive(dollars);
	if (cost === Number.POSITIVE_INFINITY) return "$∞";
	if (cost > 0 && cost < 0.0005) return "<$0.001";
	if (cost >= 0.9995) return `$${grouped(cost.toFixed(2))}`;
	// Omits a third decimal of zero: $0.50, not $0.500.
	return `$${cost.toFixed(3).replace(/0$/, "")}`;
}

/** Checked at run time, because numbers come from providers and files. */
function positive(value: unknown): number {
	return typeof value === "number" && value > 0 ? value : 0;
}

function pair(count: number, perUnit: number, unit: string, rest: string): string {
	const remainder = count % perUnit;
	return `${Math.floor(count / perUnit)}${unit}${remainder ? ` ${remainder}${rest}` : ""}`;
}

function oneDecimal(value: number): number {
	return Math.round(value * 10) / 10;
}

function grouped(value: number | string): string {
	const [whole = "", decimals] = String(value).split(".");
	const groups = /^\d{4,}$/.test(whole) ? whole.replace(/\B(?=(?:\d{3})+$)/g, ",") : whole;
	return decimals === undefined ? groups : `${groups}.${decimals}`;
}
