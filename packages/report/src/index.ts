/** The runs of agents as a report: a pure model over their files, and writers for it. */

export { htmlReport, htmlWith, type Page } from "./html/html.ts";
export { type TraceFormat, writeHtmlReport, writeTrace } from "./html/write.ts";
export { buildReport, type ReportOptions, type RunInput } from "./model/build.ts";
export type {
	AgentStatus,
	PathStep,
	Report,
	ReportAgent,
	Span,
	SpanKind,
	StructuredAnswer,
	TranscriptEntry,
} from "./model/types.ts";
export {
	type FoundRuns,
	type ReadOptions,
	type RunCache,
	readRunDirs,
	readSessionRuns,
	withDescendants,
	worktreeDiffs,
} from "./read/read-runs.ts";
export { knownSecrets, type SecretSources } from "./read/secrets.ts";
export { type ChromeEvent, type ChromeOptions, type ChromeTrace, chromeTrace } from "./trace/chrome.ts";
export {
	type OtlpAttribute,
	type OtlpOptions,
	type OtlpScope,
	type OtlpSpan,
	type OtlpTraces,
	otlpTraces,
} from "./trace/otlp.ts";
export { type OtlpTarget, otlpTarget, sendTraces } from "./trace/send.ts";
