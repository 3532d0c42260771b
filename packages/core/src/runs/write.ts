/** Writes `meta.json` before a run starts and `result.json` when it is over. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../base/values.ts";
import { createFile, createWhole, jsonText } from "../files/create.ts";
import { type RunIdentity, type RunSpec, runIdOf } from "../model/runner.ts";
import { type Meta, type ResultFile, RUN_FILES } from "./format/layout.ts";
import { IGNORE_ALL } from "./git-ignore.ts";

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
		...(launchInfo ? launchFields(launchInfo) : {}),
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

function launchFields({ name, parentAgentId, depth, isBackground, launchedBy, phase, callId, queuedAt }: Launch) {
	return {
		queuedAt,
		launchedBy: { who: launchedBy ?? "model", ...defined({ agentId: parentAgentId, callId }) },
		depth,
		...defined({ name, phase }),
		isBackground,
	};
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
 * Writes the result of the process that knows it. The agent can write into the directory of its run, so where a command
 * must verify its work, a file that is there already does not count.
 */
export async function writeOwnResult(dir: string, result: ResultFile, spec: Pick<RunSpec, "verify">): Promise<boolean> {
	if (await writeResult(dir, result)) return true;
	if (!isVerified(spec)) return false;
	await rm(join(dir, RUN_FILES.result), { recursive: true, force: true });
	return writeResult(dir, result);
}

/** Whether a command must verify the run's work. */
export function isVerified({ verify }: Pick<RunSpec, "verify">): boolean {
	return verify !== undefined && !("skipped" in verify);
}
