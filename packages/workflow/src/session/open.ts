/** When a session is opened: paused workflows continue or are reported, and the file given with a flag is run. */
import { resolve } from "node:path";
import type { AgentRecord, Manager, Outcome } from "@pi-subagents/core";
import { bestEffort, messageOf } from "@pi-subagents/core/internal/base";
import { readSmallFile } from "@pi-subagents/core/internal/files";
import type { SessionContext } from "@pi-subagents/launch";
import { outcomeText } from "@pi-subagents/progress";
import type { Workflows } from "./workflows.ts";

export interface PausedDeps {
	autoResume: boolean;
	notify(notice: string): void;
	warn(notice: string): void;
	/** Its result is still to come, so the interruption need not be reported. */
	silence(record: AgentRecord): void;
}

/**
 * Those that ended with an earlier process are paused; the others have ended for good. One whose script had returned is
 * resumed in any case: nothing is launched, only its result is delivered. One that was stopped stays so.
 */
export async function openPaused<Context extends SessionContext>(
	earlier: readonly AgentRecord[],
	workflows: Workflows<Context>,
	ctx: Context,
	{ autoResume, notify, warn, silence }: PausedDeps,
): Promise<void> {
	for (const record of earlier) {
		if (record.outcome?.status !== "aborted" || record.outcome.by !== "shutdown") continue;
		const { id, description, artifacts, launchedBy = "model" } = record;
		await bestEffort(`resuming workflow ${id}`, warn, async () => {
			const end = artifacts === undefined ? undefined : workflows.state(record)?.end?.status;
			if (end !== "completed" && (end === "stopped" || !autoResume)) {
				notify(`Workflow "${description}" (${id}) is paused: /workflow resume ${id} continues it.`);
				return;
			}
			await workflows.resume(id, {}, ctx, { isBackground: true, launchedBy });
			silence(record);
		});
	}
}

export interface FileRun {
	file: string;
	/** Nothing comes after it: wait for the end. */
	isBrief: boolean;
}

/** Runs a script file that the user named. What it returned, if it was waited for; throws if it did not complete. */
export async function runFile<Context extends SessionContext>(
	{ file, isBrief }: FileRun,
	{ workflows, manager }: { workflows: Workflows<Context>; manager: Manager },
	ctx: Context,
): Promise<(Extract<Outcome, { status: "completed" }> & { id: string }) | undefined> {
	const path = resolve(ctx.cwd, file);
	const script = await readSmallFile(path).catch((error: unknown) => {
		throw new Error(`${path} cannot be run: ${messageOf(error)}`);
	});
	if (script === undefined) throw new Error(`There is no file ${path}.`);
	const { id } = await workflows.start({ script }, ctx, { isBackground: !isBrief, launchedBy: "user" });
	if (!isBrief) return undefined;
	const outcome = await manager.wait(id);
	if (outcome.status !== "completed") throw new Error(outcomeText(outcome));
	return { ...outcome, id };
}
