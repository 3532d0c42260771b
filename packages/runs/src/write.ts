/** Writes `meta.json` before a run starts and `result.json` when it is over. */
import { join } from "node:path";
import { type RunIdentity, type RunSpec, runIdOf } from "@pi-subagents/core";
import { codeOf, defined } from "@pi-subagents/core/internal/base";
import {
	createFile,
	createWhole,
	IGNORE_ALL,
	jsonText,
	makeRoom,
	readPlain,
	replaceWhole,
} from "@pi-subagents/core/internal/files";
import type { RunPlace } from "@pi-subagents/core/internal/signals";
import { RUN_FILES } from "./format/layout.ts";
import type { Meta } from "./format/meta.ts";
import type { ResultFile } from "./format/result.ts";
import { isProven, keepResult, keptResult, proveResult } from "./proof.ts";

export function metaOf(
	{ agentId, run, artifacts, launchInfo, ...spec }: RunSpec & RunIdentity & { artifacts: string },
	about: Pick<Meta, "createdAt" | "parentSessionId" | "launch" | "holder">,
): Meta {
	const { type, task, cwd, tools, systemPrompt, presetSource, requestedModel, model, machine, launcher } = spec;
	return {
		format: 1,
		createdBy: "pi-subagents",
		runId: runIdOf({ agentId, run }),
		agentId,
		run,
		...about,
		createdAt: Math.floor(about.createdAt),
		...(launchInfo ? launchFields(launchInfo) : unrecordedLaunch(about.createdAt)),
		preset: type,
		task,
		cwd,
		tools,
		...(systemPrompt && {
			systemPrompt: systemPrompt.text,
			systemPromptPath: join(artifacts, RUN_FILES.systemPrompt),
		}),
		...defined({ presetSource, requestedModel }),
		resolvedModel: model,
		...defined({ machine, launcher }),
		spec,
	};
}

/** Whatever a launch says, with who asked for it in one field. */
function launchFields({ parentAgentId, launchedBy, callId, ...same }: Launch) {
	return { ...same, launchedBy: { who: launchedBy ?? "model", ...defined({ agentId: parentAgentId, callId }) } };
}

/** A runner was called without a manager. */
function unrecordedLaunch(createdAt: number) {
	return { queuedAt: Math.floor(createdAt), depth: 1, isBackground: false };
}

type Launch = NonNullable<RunIdentity["launchInfo"]>;

/** The directory must exist and be empty. */
export async function writeMeta(dir: string, meta: Meta): Promise<void> {
	await createFile(join(dir, RUN_FILES.ignore), IGNORE_ALL);
	await createFile(join(dir, RUN_FILES.systemPrompt), meta.systemPrompt ?? "");
	await createWhole(join(dir, RUN_FILES.meta), jsonText(meta));
}

/** Writes the result. The first one counts: returns whether it was this one. */
export async function writeResult(dir: string, result: ResultFile): Promise<boolean> {
	return createWhole(join(dir, RUN_FILES.result), jsonText(result));
}

/**
 * Writes the result of a process that saw how the run ended, with the proof that it is from there. The agent can write
 * into the directory of its run, so a file that is there already counts only if a process of ours wrote it.
 */
export async function writeOwnResult(place: RunPlace, result: ResultFile): Promise<boolean> {
	const path = join(place.runDir, RUN_FILES.result);
	const there = await readPlain(path, MAX_RESULT_BYTES).catch(() => Buffer.alloc(0)); // no file of ours
	if (there && (await isProven(place, there.toString("utf8")))) return false;
	if ((await keptResult(place)) !== undefined) return false;
	const text = jsonText(result);
	await proveResult(place, text).catch(() => undefined); // without its proof a result is still a result
	try {
		if (there) await makeRoom(path);
		return await createWhole(path, text);
	} catch (error) {
		const isKept = await keepResult(place, text).then(
			() => true,
			() => false,
		);
		if (!isKept) throw error;
		return true;
	}
}

/** Writes the file of a result that was kept because there was no room for it. Returns whether there is one now. */
export async function fileKeptResult(place: RunPlace): Promise<boolean> {
	const text = await keptResult(place);
	if (text === undefined) return true;
	try {
		await replaceWhole(join(place.runDir, RUN_FILES.result), text);
		await proveResult(place, text);
		return true;
	} catch (error) {
		if (codeOf(error) !== undefined) return false; // still no room: it stays where it is
		throw error;
	}
}

const MAX_RESULT_BYTES = 64 * 1024 * 1024;

/** Whether a command must verify the run's work. */
export function isVerified({ verify }: Pick<RunSpec, "verify">): boolean {
	return verify !== undefined && !("skipped" in verify);
}
