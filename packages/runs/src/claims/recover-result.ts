/** Reconstructs the result of a run whose process is gone, from its log. */
import { join } from "node:path";
import type { RunIdentity, RunSpec, Stop } from "@pi-subagents/core";
import { type Clock, systemClock } from "@pi-subagents/core";
import { readPlain } from "@pi-subagents/core/internal/files";
import { checkAnswer } from "@pi-subagents/core/internal/run";
import type { Outcome } from "@pi-subagents/progress";
import { RUN_FILES } from "../format/layout.ts";
import { isLifeCycleLine } from "../format/lines.ts";
import type { ResultFile } from "../format/result.ts";
import { readMeta } from "../read.ts";
import { RunTotals } from "../run-totals.ts";
import { linesIn } from "./read-run.ts";

/** Reading a longer log would delay the session that is being opened. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The run as it was when it stopped; undefined if its log has nothing of the child. An idle child had answered, so its run ended with that.
 * Broken lines are skipped.
 */
export async function readInterrupted(
	dir: string,
	identity: RunIdentity,
	stop: Stop,
	clock: Clock = systemClock,
): Promise<ResultFile | undefined> {
	const log = await readPlain(join(dir, RUN_FILES.events), MAX_BYTES);
	if (log === undefined) return undefined;
	const meta = await readMeta(dir);
	const spec = typeof meta === "string" ? undefined : meta.spec;
	const totals = new RunTotals();
	let lastAt = 0;
	for (const line of linesIn(log.toString("utf8"), spec)) {
		totals.add(line);
		if (!isLifeCycleLine(line)) lastAt = line.at;
	}
	if (lastAt === 0) return undefined;
	// If it is unknown whether the answer had to match a schema, it counts as unfinished.
	const outcome = spec ? await judgeUnobserved(totals, stop, spec, clock) : totals.stopped(stop);
	return totals.result(identity, outcome, lastAt);
}

/**
 * How a run ended whose process is gone, by its log, which the agent could write. An answer that had to be verified counts
 * as unfinished.
 */
export async function judgeUnobserved(
	totals: RunTotals,
	stop: Stop,
	spec: Pick<RunSpec, "runner" | "output" | "verify">,
	clock: Clock,
): Promise<Outcome> {
	const { checked } = await checkAnswer(totals.judge(stop), spec.output, clock);
	if (checked.status === "failed" && totals.error !== undefined)
		return { ...checked, claimedBy: spec.runner === "remote" ? "machine" : "file" };
	const { verify } = spec;
	if (checked.status !== "completed" || !verify) return checked;
	if ("skipped" in verify) return { ...checked, verification: { ok: false, problem: verify.skipped } };
	return totals.stopped(stop); // the agent could have written into the log that it was
}
