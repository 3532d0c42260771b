/** Makes every text of a report safe to show, and masks secrets. Pure. */
import { sanitizeBlock } from "@pi-subagents/progress";
import type { RunInput } from "./build.ts";
import { maskOf } from "./mask.ts";
import type { Report } from "./types.ts";

/** Nested deeper, data from a model is not shown. */
const MAX_DEPTH = 100;

/** A copy of the report without control characters and without the secrets, wherever they occur. */
export function cleanReport(report: Report, secrets: readonly string[]): Report {
	const hide = maskOf(secrets);
	return cleaned(report, (text) => hide(sanitizeBlock(text)), 0) as Report;
}

/**
 * The runs with their texts masked, before a report shortens them: a secret that is cut in two is not recognized. Again
 * masked in the report, since control characters may have hidden one here.
 */
export function maskedRuns(runs: readonly RunInput[], secrets: readonly string[]): RunInput[] {
	const hide = maskOf(secrets);
	if (secrets.length === 0) return [...runs];
	const known = masked.get(hide) ?? new WeakMap<RunInput, RunInput>();
	masked.set(hide, known);
	return runs.map((run) => {
		const before = known.get(run);
		if (before) return before;
		const after = maskedRun(run, (value) => cleaned(value, hide, 0));
		known.set(run, after);
		return after;
	});
}

/** A dashboard builds a report of the same runs again and again. */
const masked = new WeakMap<(text: string) => string, WeakMap<RunInput, RunInput>>();

/** The fields with texts. The others are ids and words that we compare. */
const TEXTS: ReadonlySet<string> = new Set(["args", "text", "question", "message", "error", "command", "verification"]);

function maskedRun(run: RunInput, mask: (value: unknown) => unknown): RunInput {
	const hide = <Value>(value: Value) => mask(value) as Value; // its shape stays
	const { agent, lines, outputs, diff } = run;
	return {
		...run,
		agent: { ...agent, task: hide(agent.task), description: hide(agent.description) },
		lines: lines.map((line) => ({
			...line,
			...Object.fromEntries(
				Object.entries(line).flatMap(([key, value]) => (TEXTS.has(key) ? [[key, hide(value)]] : [])),
			),
		})),
		...(outputs && { outputs: new Map([...outputs].map(([call, output]) => [call, hide(output)])) }),
		...(diff !== undefined && { diff: hide(diff) }),
	};
}

function cleaned(value: unknown, clean: (text: string) => string, depth: number): unknown {
	if (typeof value === "string") return clean(value);
	if (typeof value !== "object" || value === null) return value;
	if (depth > MAX_DEPTH) return "…";
	if (Array.isArray(value)) return value.map((each) => cleaned(each, clean, depth + 1));
	return Object.fromEntries(Object.entries(value).map(([key, each]) => [clean(key), cleaned(each, clean, depth + 1)]));
}
