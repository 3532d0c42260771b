/** What a run's directory says before anything happens there. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type RunIdentity, type RunSpec, runIdOf } from "../runner.ts";
import { createWhole, jsonText } from "./create.ts";
import { type Meta, RUN_FILES } from "./layout.ts";

export function metaOf(
	{ agentId, run, artifacts, ...spec }: RunSpec & RunIdentity & { artifacts: string },
	about: Pick<Meta, "createdAt" | "parentSessionId" | "launch">,
): Meta {
	const { type, task, cwd, tools, systemPrompt, presetSource, requestedModel, model } = spec;
	return {
		format: 1,
		createdBy: "pi-subagents",
		runId: runIdOf({ agentId, run }),
		agentId,
		run,
		...about,
		preset: type,
		...(presetSource === undefined ? {} : { presetSource }),
		task,
		cwd,
		tools,
		...(systemPrompt === undefined ? {} : { systemPrompt: systemPrompt.text }),
		...(systemPrompt === undefined ? {} : { systemPromptPath: join(artifacts, RUN_FILES.systemPrompt) }),
		...(requestedModel === undefined ? {} : { requestedModel }),
		resolvedModel: model,
		spec,
	};
}

/** The directory must be there, and empty. */
export async function writeMeta(dir: string, meta: Meta): Promise<void> {
	await writeFile(join(dir, RUN_FILES.systemPrompt), meta.systemPrompt ?? "", { flag: "wx", mode: 0o600 });
	await createWhole(join(dir, RUN_FILES.meta), jsonText(meta));
}
