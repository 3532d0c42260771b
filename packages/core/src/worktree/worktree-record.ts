/**
 * The record of each agent's checkout: a file in the user's state, so that it is found after a crash, wherever the
 * checkout is, and nothing of ours is among the agent's files.
 */

import { realpath, rm } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import type { WorktreeReport } from "@pi-subagents/progress";
import { Type } from "typebox";
import { Check } from "typebox/value";
import { once } from "../base/values.ts";
import { createWhole, jsonText, replaceWhole } from "../files/create.ts";
import { readPlain } from "../files/plain-file.ts";
import { namesIn } from "../files/small-file.ts";
import { objectOf } from "../runs/format/kinds.ts";
import { worktreeReportSchema } from "../runs/format/result-schema.ts";
import { parseJson } from "../runs/read.ts";
import { identitySchema, type ProcessIdentity } from "../signals/identity.ts";
import { fileAbout, flagsFile, type Place, recordsOf } from "./checkout-state.ts";
import type { Allowed } from "./own-config.ts";
import { reportOfRecord } from "./report-check.ts";

export interface WorktreeRecord {
	format: 1;
	/** The name of the directory, of this file and, with a prefix, of the branch. */
	name: string;
	agentId: string;
	/** The agent's run that uses it, or used it last. */
	run: number;
	/** For people: preset, description, and the start of the task. */
	type: string;
	description: string;
	task: string;
	/** The checkout it was made from. */
	main: string;
	commonDir: string;
	/** The git directory of this checkout. Absent until it was created. */
	gitDir?: string;
	/** The root of the checkout. */
	root: string;
	/** The directory of this record, if the checkout is elsewhere. */
	records?: string;
	/** Where the agent starts: the same directory as the one it was launched in. */
	cwd: string;
	branch: string;
	/** The commit the agent started from. */
	base: string;
	/** The base holds uncommitted work: it is not part of the user's history. */
	isSnapshot: boolean;
	/** The launching session is in another repository, so commands must name this one. */
	isElsewhere: boolean;
	createdAt: number;
	/** The process that launched the agent. */
	owner: ProcessIdentity;
	/** The directory of the run's files, if the run may outlive that process. */
	runDir?: string;
	/** Which of the repository's own settings git may use here. Absent: none. */
	allows?: Allowed;
	/** It is being made ready: its agent has not started, and what is in it is not the agent's work. */
	isPreparing?: true;
	/** Notes about this checkout for the agent and its readers. */
	notes: string[];
	/** Why it could not be closed: the changes are only in its directory. */
	failure?: string;
	/** Its final report. Absent while in use, and if it could not be closed. */
	report?: WorktreeReport;
}

const text = Type.String({ maxLength: 10_000 });

const recordSchema = once(() =>
	objectOf<WorktreeRecord>()({
		format: Type.Literal(1),
		name: Type.String({ pattern: "^[\\w-]{1,100}$" }),
		agentId: text,
		run: Type.Integer({ minimum: 1 }),
		type: text,
		description: text,
		task: text,
		main: text,
		commonDir: text,
		gitDir: Type.Optional(text),
		root: text,
		records: Type.Optional(text),
		cwd: text,
		// Passed to git as an argument, and deleted by name.
		branch: Type.String({ pattern: "^(?:pi-subagents[/-]|pi/)[\\w-]{1,100}$" }),
		base: Type.String({ pattern: "^[0-9a-f]{40,64}$" }),
		isSnapshot: Type.Boolean(),
		isElsewhere: Type.Boolean(),
		createdAt: Type.Number({ minimum: 0 }),
		owner: Type.Object(identitySchema()),
		runDir: Type.Optional(text),
		allows: Type.Optional(Type.Union([Type.Literal("*"), Type.Array(Type.String({ pattern: "^[0-9a-f]{64}$" }))])),
		isPreparing: Type.Optional(Type.Literal(true)),
		notes: Type.Array(text),
		failure: Type.Optional(text),
		report: Type.Optional(worktreeReportSchema()),
	}),
);

/** Larger than any real file. */
const MAX_BYTES = 256 * 1024;

/** The record of the checkout with this root; undefined if there is none or it is broken. */
export async function readWorktreeRecord(place: Place): Promise<WorktreeRecord | undefined> {
	const record = await readNamed(recordsOf(place), basename(place.root));
	return record?.root === place.root ? record : undefined;
}

async function readNamed(dir: string, name: string): Promise<WorktreeRecord | undefined> {
	const bytes = await readPlain(join(dir, `${name}.json`), MAX_BYTES);
	const value = bytes && parseJson(bytes.toString("utf8"));
	if (!Check(recordSchema(), value)) return undefined;
	const paths = [value.main, value.commonDir, value.cwd, ...(value.gitDir === undefined ? [] : [value.gitDir])];
	if (fileOf(value) !== join(dir, `${name}.json`) || !paths.every(isAbsolute)) return undefined;
	return value.report ? { ...value, report: reportOfRecord(value, value.report) } : value;
}

/** All records in the directory, oldest first. Unreadable ones are left out. */
export async function readWorktreeRecords(dir: string): Promise<WorktreeRecord[]> {
	const names = (await namesIn(dir)).filter((name) => name.endsWith(".json"));
	if (names.length === 0) return [];
	const realDir = await realpath(dir); // as in the records
	const records = await Promise.all(
		names.map((name) => readNamed(realDir, name.slice(0, -".json".length)).catch(() => undefined)),
	);
	return records.flatMap((record) => record ?? []).sort((a, b) => a.createdAt - b.createdAt);
}

/** Returns whether the name was free. */
export async function claimWorktree(record: WorktreeRecord): Promise<boolean> {
	return createWhole(fileOf(record), jsonText(record));
}

export async function writeWorktreeRecord(record: WorktreeRecord): Promise<void> {
	await replaceWhole(fileOf(record), jsonText(record));
}

export async function deleteWorktreeRecord(record: WorktreeRecord): Promise<void> {
	await rm(flagsFile(record), { force: true });
	await rm(fileOf(record), { force: true });
}

function fileOf(place: Place): string {
	return fileAbout(place, ".json");
}
