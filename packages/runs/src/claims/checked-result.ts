/**
 * A run's `result.json` as far as it can be believed. The one place where a result that another process wrote becomes a
 * value that may be told and shown.
 */
import { join } from "node:path";
import { type Clock, systemClock } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { readPlain } from "@pi-subagents/core/internal/files";
import type { Usage } from "@pi-subagents/progress";
import { RUN_FILES } from "../format/layout.ts";
import type { ResultFile } from "../format/result.ts";
import { isProven, keptResult } from "../proof.ts";
import { parseResult } from "../read.ts";
import { type AskedFor, type ClaimSource, checkedOutcome } from "./checked-outcome.ts";
import { modelName } from "./names.ts";

export interface CheckOptions {
	/** pi's own directory, which holds the proofs. Without it, nothing that a file says is proven. */
	agentDir?: string | undefined;
	/** Default: the system clock. */
	clock?: Clock;
}

/** Larger than any real file. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The result in a run's directory, with only what its spec asked for; undefined until there is one. What the agent could
 * have written itself is marked as a claim.
 *
 * @example
 * ```ts
 * const meta = await readMeta(dir);
 * if (typeof meta !== "string") console.log((await readCheckedResult(dir, meta.spec, { agentDir }))?.outcome);
 * ```
 */
export async function readCheckedResult(
	dir: string,
	spec: AskedFor,
	options: CheckOptions = {},
): Promise<ResultFile | undefined> {
	return (await readClaim(dir, spec, options))?.result;
}

/** A result, and whether a process of ours wrote it. Otherwise the agent could have. */
export interface ResultClaim {
	result: ResultFile;
	isProven: boolean;
	/** False: there was no room for `result.json`, and pi's own directory holds it. */
	isFiled: boolean;
}

export async function readClaim(
	dir: string,
	spec: AskedFor,
	{ agentDir, clock = systemClock }: CheckOptions = {},
): Promise<ResultClaim | undefined> {
	const kept = agentDir === undefined ? undefined : await keptResult({ agentDir, runDir: dir });
	const text = kept ?? (await readPlain(join(dir, RUN_FILES.result), MAX_BYTES))?.toString("utf8");
	const found = text === undefined ? undefined : parseResult(text);
	if (text === undefined || !found) return undefined;
	const isFiled = kept === undefined;
	const isOurs = !isFiled || (agentDir !== undefined && (await isProven({ agentDir, runDir: dir }, text)));
	return { result: await checkedResult(found, spec, isOurs ? "ours" : "file", clock), isProven: isOurs, isFiled };
}

/** Figures beyond any run become none. */
export async function checkedResult(
	result: ResultFile,
	spec: AskedFor,
	source: ClaimSource,
	clock: Clock = systemClock,
): Promise<ResultFile> {
	const { runId, agentId, run, exitCode, exitSignal } = result;
	const outcome = await checkedOutcome(result.outcome, spec, source, clock);
	const finalText = outcome.status === "completed" ? outcome.text : outcome.partialText;
	return {
		format: 1,
		runId,
		agentId,
		run,
		// Only a process of ours can have been another one than the wrapper.
		writtenBy: source === "ours" ? result.writtenBy : "wrapper",
		outcome,
		...timesIn(result, clock.now()),
		turns: bounded(result.turns, MAX_COUNT),
		toolUses: bounded(result.toolUses, MAX_COUNT),
		usage: checkedUsage(result.usage) ?? NO_USAGE,
		...defined({
			finalText,
			stopReason: word(result.stopReason),
			resolvedModel: modelName(result.resolvedModel),
			exitCode,
			exitSignal: word(exitSignal),
			lost: source === "ours" ? result.lost : undefined,
		}),
	};
}

const MAX_COUNT = 1_000_000;
const MAX_TOKENS = 1e12;
const MAX_COST = 1e7;
const DAY_MS = 24 * 60 * 60 * 1_000;
const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

/** Undefined if a figure is more than any run uses. */
export function checkedUsage({
	input,
	output,
	cacheRead,
	cacheWrite,
	cost,
	costFromProvider,
}: Usage): Usage | undefined {
	const isSane = [input, output, cacheRead, cacheWrite].every((tokens) => isWithin(tokens, MAX_TOKENS));
	if (!isSane || !isWithin(cost, MAX_COST)) return undefined;
	return { input, output, cacheRead, cacheWrite, cost, ...(costFromProvider ? { costFromProvider } : {}) };
}

/** Clocks may differ, but nothing ends tomorrow. */
function timesIn(
	{ startedAt, completedAt, durationMs }: ResultFile,
	now: number,
): Pick<ResultFile, "startedAt" | "completedAt" | "durationMs"> {
	const end = Math.min(completedAt, now + DAY_MS);
	const isSane = durationMs !== undefined && isWithin(durationMs, 366 * DAY_MS);
	return { startedAt: Math.min(startedAt, end), completedAt: end, ...(isSane ? { durationMs } : {}) };
}

function bounded(count: number, most: number): number {
	return isWithin(count, most) ? count : 0;
}

function isWithin(value: number, most: number): boolean {
	return Number.isFinite(value) && value >= 0 && value <= most;
}

/** Of a closed list that a newer version may have extended. */
function word(value: string | undefined): string | undefined {
	return value !== undefined && /^\w{1,40}$/.test(value) ? value : undefined;
}
