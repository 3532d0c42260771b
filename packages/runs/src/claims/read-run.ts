/**
 * The one reader of a run's directory. Files that the agent could have written are taken for what they are: of its log
 * only what its spec asked for counts, and of its result what no process of ours wrote is marked as a claim. What
 * launches, limits or resumes a run comes from `meta.json`, which a sandboxed agent cannot write.
 */
import { basename, join } from "node:path";
import type { RunSpec } from "@pi-subagents/core";
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import { readPlain } from "@pi-subagents/core/internal/files";
import { checkArguments } from "@pi-subagents/progress";
import { RUN_FILES } from "../format/layout.ts";
import type { EventLine } from "../format/lines.ts";
import type { Meta } from "../format/meta.ts";
import type { ResultFile } from "../format/result.ts";
import { readLineRange } from "../peek-file.ts";
import { parseEvent, readMeta } from "../read.ts";
import { checkedLine } from "./checked-line.ts";
import { type CheckOptions, readClaim } from "./checked-result.ts";

/** A run as its files tell it. */
export interface ReadRun {
	meta: Meta;
	/** Its log, in order. */
	lines: EventLine[];
	/** How it ended. Absent while it runs, and if that cannot be read. */
	result?: ResultFile;
	/** Whether a process of ours wrote the result. Otherwise the agent could have. */
	isProven: boolean;
	/** Why its log or its result cannot be read. */
	problem?: string;
}

export interface ReadRunOptions extends CheckOptions {
	/** How much of the log: all of it, nothing, or the last bytes if there is no result. Default: all. */
	log?: "all" | "none" | { lastBytes: number };
}

/** Larger than any real log. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;

/**
 * Reads a run, or says in words why these are not the files of one.
 *
 * @example
 * ```ts
 * const run = await readRun(dir, { agentDir });
 * if (typeof run !== "string") console.log(eventsOfRun(knownRun(run.meta, run.lines, run.result)));
 * ```
 */
export async function readRun(dir: string, options: ReadRunOptions = {}): Promise<ReadRun | string> {
	checkArguments({ dir: [dir, "string"], options: [options, "object"] });
	const meta = await readMeta(dir);
	if (typeof meta === "string") return meta;
	if (meta.runId !== basename(dir)) return `${dir} holds the files of another run, ${meta.runId}`;
	try {
		const claim = await readClaim(dir, meta.spec, options);
		const result = claim?.result.runId === meta.runId ? claim.result : undefined;
		const lines = await readLog(dir, meta.spec, options.log ?? "all", result !== undefined);
		return { meta, lines, isProven: result !== undefined && claim?.isProven === true, ...defined({ result }) };
	} catch (error) {
		return { meta, lines: [], isProven: false, problem: `${dir} cannot be read: ${messageOf(error)}` };
	}
}

async function readLog(
	dir: string,
	spec: RunSpec,
	wanted: NonNullable<ReadRunOptions["log"]>,
	isOver: boolean,
): Promise<EventLine[]> {
	const path = join(dir, RUN_FILES.events);
	if (wanted === "all") return linesIn((await readPlain(path, MAX_LOG_BYTES))?.toString("utf8") ?? "", spec);
	if (wanted === "none" || isOver) return [];
	const { texts } = await readLineRange(path, { after: undefined, bytes: wanted.lastBytes });
	return linesIn(texts.join("\n"), spec);
}

/** The lines of a log that count. Broken ones, and those of a newer version, are skipped. */
export function linesIn(log: string, spec: RunSpec | undefined): EventLine[] {
	return log.split("\n").flatMap((text) => {
		const said = text === "" ? undefined : parseEvent(text);
		return (said && spec ? checkedLine(said, spec) : said) ?? [];
	});
}
