/**
 * What is written down of each checkout that an agent has for itself: a file beside its directory, so that it is found
 * again after a crash, and that nothing of ours lies among the agent's own files.
 */
import { readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { WorktreeReport } from "@pi-subagents/progress";
import { type TProperties, type TSchema, Type } from "typebox";
import { Check } from "typebox/value";
import { once } from "../once.ts";
import { codeOf } from "../process/code-of.ts";
import { createWhole, jsonText, UNFINISHED } from "../process/create.ts";
import type { ProcessIdentity } from "../process/layout.ts";
import { readPlain } from "../process/plain-file.ts";
import { parseJson } from "../process/read.ts";
import { identity, worktreeReportSchema } from "../process/schema.ts";
import { flagsFile } from "./flags.ts";

export interface Place {
	format: 1;
	/** Names the directory, the file beside it and, with a prefix, the branch. */
	name: string;
	agentId: string;
	/** The agent's run that works in it, or did last. */
	run: number;
	/** Whose it is, in words: preset, a few words, and the beginning of the task. */
	type: string;
	description: string;
	task: string;
	/** The checkout that it was made from. */
	main: string;
	commonDir: string;
	/** The repository's own directory of this checkout. Absent until it has been made. */
	gitDir?: string;
	/** The top of the checkout. */
	root: string;
	/** Where the agent begins: the same directory within it as the one it was launched in. */
	cwd: string;
	branch: string;
	/** The commit that the agent began with. */
	base: string;
	/** That commit holds what nobody had committed: it is no part of the user's own history. */
	isSnapshot: boolean;
	/** The session that launched it is not in this repository, so a command needs to be told where it is. */
	isElsewhere: boolean;
	createdAt: number;
	/** The process that launched the agent. */
	owner: ProcessIdentity;
	/** The directory of the run's files, for a run that may outlive that process. */
	runDir?: string;
	/** What the agent, and whoever reads of it, should know about this checkout. */
	notes: string[];
	/** Why it could not be closed: what the agent changed is in its directory only. */
	failure?: string;
	/** What became of it. Absent as long as it is in use, and where it could not be closed. */
	report?: WorktreeReport;
}

const text = Type.String({ maxLength: 10_000 });

/** Fails to compile when a field has no schema. */
function objectOf<Shape>() {
	return <const Fields extends TProperties & Record<keyof Shape, TSchema>>(fields: Fields) => Type.Object(fields);
}

const placeSchema = once(() =>
	objectOf<Place>()({
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
		cwd: text,
		// It is given to git as an argument, and deleted by name.
		branch: Type.String({ pattern: "^pi-subagents[/-][\\w-]{1,100}$" }),
		base: Type.String({ pattern: "^[0-9a-f]{40,64}$" }),
		isSnapshot: Type.Boolean(),
		isElsewhere: Type.Boolean(),
		createdAt: Type.Number({ minimum: 0 }),
		owner: Type.Object(identity()),
		runDir: Type.Optional(text),
		notes: Type.Array(text),
		failure: Type.Optional(text),
		report: Type.Optional(worktreeReportSchema()),
	}),
);

/** More than any real one holds. */
const MOST_BYTES = 256 * 1024;

/** The checkout whose top this is; undefined if nothing, or nothing whole, is written of it. */
export async function readPlace(root: string): Promise<Place | undefined> {
	const bytes = await readPlain(fileOf(root), MOST_BYTES);
	const value = bytes && parseJson(bytes.toString("utf8"));
	if (!Check(placeSchema(), value)) return undefined;
	const paths = [value.main, value.commonDir, value.cwd, ...(value.gitDir === undefined ? [] : [value.gitDir])];
	return value.root === root && paths.every(isAbsolute) ? value : undefined;
}

/** All that are written down in the directory, oldest first. Those that cannot be read are left out. */
export async function readPlaces(dir: string): Promise<Place[]> {
	const names = (await namesIn(dir)).filter((name) => name.endsWith(".json"));
	if (names.length === 0) return [];
	const realDir = await realpath(dir); // as it was when they were written
	const places = await Promise.all(
		names.map((name) => readPlace(join(realDir, name.slice(0, -".json".length))).catch(() => undefined)),
	);
	return places.flatMap((place) => place ?? []).sort((a, b) => a.createdAt - b.createdAt);
}

/** Whether the name was still free. */
export async function claimPlace(place: Place): Promise<boolean> {
	return createWhole(fileOf(place.root), jsonText(place));
}

export async function writePlace(place: Place): Promise<void> {
	const file = fileOf(place.root);
	const unfinished = `${file}.${process.pid}-${crypto.randomUUID()}${UNFINISHED}`;
	try {
		await writeFile(unfinished, jsonText(place), { flag: "wx", mode: 0o600, flush: true });
		await rename(unfinished, file);
	} finally {
		await rm(unfinished, { force: true });
	}
}

export async function forgetPlace({ root }: Pick<Place, "root">): Promise<void> {
	await rm(flagsFile(root), { force: true });
	await rm(fileOf(root), { force: true });
}

function fileOf(root: string): string {
	return `${root}.json`;
}

async function namesIn(dir: string): Promise<string[]> {
	try {
		return await readdir(dir);
	} catch (error) {
		if (codeOf(error) === "ENOENT") return [];
		throw error;
	}
}
