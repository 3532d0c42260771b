/**
 * The record of each agent's checkout: a file in the user's state, so that it is found after a crash, wherever the
 * checkout is, and nothing of ours is among the agent's files.
 */

import { realpath, rm } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import { parseJson } from "@pi-subagents/core/internal/base";
import { createWhole, jsonText, namesIn, readPlain, replaceWhole } from "@pi-subagents/core/internal/files";
import { identitySchema } from "@pi-subagents/core/internal/signals";
import { maybeTrue, type Of, schema, worktreeReportSchema } from "@pi-subagents/progress/schema";
import { reportOfRecord } from "@pi-subagents/runs/internal";
import { Type } from "typebox";
import { Check } from "typebox/value";
import { fileAbout, flagsFile, type Place, recordsOf } from "./checkout-state.ts";
import type { Allowed } from "./own-config.ts";

export interface WorktreeRecord extends Of<typeof recordSchema> {}

const recordSchema = schema(() => {
	const text = Type.String({ maxLength: 10_000 });
	const maybeText = Type.Optional(text);
	return Type.Object({
		format: Type.Literal(1),
		/** The name of the directory, of this file and, with a prefix, of the branch. */
		name: Type.String({ pattern: "^[\\w-]{1,100}$" }),
		agentId: text,
		/** The agent's run that uses it, or used it last. */
		run: Type.Integer({ minimum: 1 }),
		/** For people: preset, description, and the start of the task. */
		type: text,
		description: text,
		task: text,
		/** The checkout it was made from. */
		main: text,
		commonDir: text,
		/** The git directory of this checkout. Absent until it was created. */
		gitDir: maybeText,
		/** The root of the checkout. */
		root: text,
		/** The directory of this record, if the checkout is elsewhere. */
		records: maybeText,
		/** Where the agent starts: the same directory as the one it was launched in. */
		cwd: text,
		/** Passed to git as an argument, and deleted by name. */
		branch: Type.String({ pattern: "^(?:pi-subagents[/-]|pi/)[\\w-]{1,100}$" }),
		/** The commit the agent started from. */
		base: Type.String({ pattern: "^[0-9a-f]{40,64}$" }),
		/** The base holds uncommitted work: it is not part of the user's history. */
		isSnapshot: Type.Boolean(),
		/** The launching session is in another repository, so commands must name this one. */
		isElsewhere: Type.Boolean(),
		createdAt: Type.Number({ minimum: 0 }),
		/** The process that launched the agent. */
		owner: Type.Object(identitySchema()),
		/** The directory of the run's files, if the run may outlive that process. */
		runDir: maybeText,
		/** Which of the repository's own settings git may use here. Absent: none. */
		allows: Type.Optional(
			Type.Unsafe<Allowed>(Type.Union([Type.Literal("*"), Type.Array(Type.String({ pattern: "^[0-9a-f]{64}$" }))])),
		),
		/** It is being made ready: its agent has not started, and what is in it is not the agent's work. */
		isPreparing: maybeTrue,
		/** Notes about this checkout for the agent and its readers. */
		notes: Type.Array(text),
		/** Why it could not be closed: the changes are only in its directory. */
		failure: maybeText,
		/** Its final report. Absent while in use, and if it could not be closed. */
		report: Type.Optional(worktreeReportSchema()),
	});
});

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
