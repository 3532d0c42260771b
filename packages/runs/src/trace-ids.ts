/** The ids of runs in distributed traces (W3C Trace Context). They follow from the runs' own ids, so all writers agree. */
import { createHash } from "node:crypto";

export interface TraceContext {
	traceId: string;
	/** The span that ours are below. */
	parentSpanId?: string;
}

const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/;

/** The trace that `traceparent` names; a trace for the session if that is absent or invalid. */
export function traceOf(sessionId: string | undefined, traceparent = ""): TraceContext {
	const [, traceId, parentSpanId] = TRACEPARENT.exec(traceparent) ?? [];
	if (traceId === undefined || parentSpanId === undefined)
		return { traceId: traceHash(`trace ${sessionId ?? ""}`, 32) };
	return { traceId, parentSpanId };
}

/** The span of a run. */
export function runSpanId(runId: string): string {
	return traceHash(`run ${runId}`, 16);
}

/** What a child process gets as `TRACEPARENT`: its own spans are below that of its run. */
export function traceparentOf(runId: string, { traceId }: TraceContext): string {
	return `00-${traceId}-${runSpanId(runId)}-01`;
}

/** To all readers ids are random digits; these repeat for the same text. */
export function traceHash(text: string, digits: 16 | 32): string {
	return createHash("sha256").update(text).digest("hex").slice(0, digits);
}
