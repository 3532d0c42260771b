/** What the files of a run that the session remembers say it is. */

import type { LaunchEntry } from "@pi-subagents/runs";
import { isRunDir, type Meta, readMeta } from "@pi-subagents/runs";

/** What the run is, or in words why that cannot be known. */
export async function describe(launch: LaunchEntry): Promise<(Meta & { artifacts: string }) | string> {
	const { artifacts, runId } = launch;
	if (artifacts === undefined) return "the session does not say where its files are";
	if (!(await isRunDir(artifacts, runId))) return `${artifacts} is not the directory of a run of yours`;
	const meta = await readMeta(artifacts);
	if (typeof meta === "string") return meta;
	// Where it runs decides what is asked, ended and taken over. The session knows that; the files could be another's.
	const isIt = meta.runId === runId && placeIn(meta.spec) === placeIn(launch);
	return isIt ? { ...meta, artifacts } : `${artifacts} describes another run`;
}

/** Which runner, and which machine. The machine of a remote run that names none is this one. */
function placeIn({ runner, machine = "local" }: Pick<LaunchEntry, "runner" | "machine">): string {
	return runner === "remote" ? `${runner} ${machine}` : runner;
}
