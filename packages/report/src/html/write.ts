/** Writes reports and traces to files that only the user can read. */

import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { replaceWhole } from "@pi-subagents/core/internal/files";
import { checkArguments } from "@pi-subagents/progress";
import type { Report } from "../model/types.ts";
import { chromeTrace } from "../trace/chrome.ts";
import { type OtlpOptions, otlpTraces } from "../trace/otlp.ts";
import { htmlReport } from "./html.ts";

/**
 * Replaces an existing file, at once: no reader sees half of it. Returns the absolute path.
 *
 * @example
 * ```ts
 * console.log(await writeHtmlReport(report, "report.html"));
 * ```
 */
export async function writeHtmlReport(report: Report, path: string): Promise<string> {
	checkArguments({ path: [path, "string"] });
	return writeWhole(path, await htmlReport(report));
}

export type TraceFormat = "chrome" | "otlp";

/**
 * The same with a trace: `chrome` for Perfetto, speedscope and chrome://tracing, `otlp` for OpenTelemetry.
 *
 * @example
 * ```ts
 * await writeTrace(report, "trace.json", { format: "chrome" });
 * ```
 */
export async function writeTrace(
	report: Report,
	path: string,
	{ format, ...options }: OtlpOptions & { format: TraceFormat },
): Promise<string> {
	const trace = format === "chrome" ? chromeTrace(report, options) : otlpTraces(report, options);
	return writeWhole(path, JSON.stringify(trace));
}

async function writeWhole(path: string, text: string): Promise<string> {
	const target = resolve(path);
	await mkdir(dirname(target), { recursive: true, mode: 0o700 });
	await replaceWhole(target, text, { isDurable: false });
	return target;
}
