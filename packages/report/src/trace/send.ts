/** Sends traces to an OpenTelemetry collector over HTTP, as the variables of its SDKs say. */
import type { OtlpTraces } from "./otlp.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** A collector on the same machine or network answers sooner. */
const TIMEOUT_MS = 10_000;

export interface OtlpTarget {
	url: string;
	headers: Record<string, string>;
}

/** From `OTEL_EXPORTER_OTLP_ENDPOINT` and `OTEL_EXPORTER_OTLP_HEADERS`, or those for traces; undefined if not set. */
export function otlpTarget(env: Variables): OtlpTarget | undefined {
	const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: exact, OTEL_EXPORTER_OTLP_ENDPOINT: base } = env;
	const url = exact || (base && `${base.replace(/\/+$/, "")}/v1/traces`);
	if (!url) return undefined;
	if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
		throw new Error(
			`${quoted(url)} is no address for traces: give an http or https URL in OTEL_EXPORTER_OTLP_ENDPOINT.`,
		);
	return { url, headers: headersIn(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? env.OTEL_EXPORTER_OTLP_HEADERS ?? "") };
}

/**
 * Throws with what the collector said if it refuses.
 *
 * @example
 * ```ts
 * const target = otlpTarget(process.env);
 * if (target) await sendTraces(otlpTraces(report), target);
 * ```
 */
export async function sendTraces(traces: OtlpTraces, { url, headers }: OtlpTarget): Promise<void> {
	const response = await fetch(url, {
		method: "POST",
		headers: { ...headers, "content-type": "application/json" },
		body: JSON.stringify(traces),
		redirect: "error", // the headers may hold a key
		signal: AbortSignal.timeout(TIMEOUT_MS),
	});
	const text = await response.text();
	if (!response.ok) throw new Error(`${quoted(url)} refused the traces: ${response.status} ${text.slice(0, 200)}`);
}

/** `name=value` pairs, separated by commas; values are URL-encoded. */
function headersIn(text: string): Record<string, string> {
	const pairs = text.split(",").flatMap((pair) => {
		const at = pair.indexOf("=");
		return at > 0 ? [[pair.slice(0, at).trim().toLowerCase(), decodeURIComponent(pair.slice(at + 1).trim())]] : [];
	});
	return Object.fromEntries(pairs);
}

/** Without what may be a password in it. */
function quoted(url: string): string {
	return `"${url.replace(/\/\/[^/@]*@/, "//").split("?", 1)[0]}"`;
}
