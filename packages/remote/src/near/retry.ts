/** A run that its machine lost, and that asked to be run again (`retry: lost`): whether it may be, and making room for it. */
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { INHERITED, type Outcome, type RunIdentity, type RunSpec } from "@pi-subagents/core";
import { isThere } from "@pi-subagents/core/internal/files";
import { betweenAttempts, LOST_DIR } from "@pi-subagents/runs";

export interface LostRun {
	spec: Pick<RunSpec, "retry" | "inheritsContext" | typeof INHERITED> & Pick<RunIdentity, "run">;
	outcome: Outcome;
	/** The other machine says that nothing of it is alive. A run that may still work must not get a twin. */
	isOver: boolean;
	/** It is the second attempt already. */
	wasRunAgain: boolean;
}

/** Pure. */
export function mayRunAgain({ spec, outcome, isOver, wasRunAgain }: LostRun): boolean {
	const isLost = outcome.status === "aborted" && outcome.by === "lost";
	// Only the process that launched it has the conversation that it began with.
	const hasItsStart = !spec.inheritsContext || spec.run > 1 || spec[INHERITED] !== undefined;
	return spec.retry === "lost" && isLost && isOver && !wasRunAgain && hasItsStart;
}

export async function wasRunAgain(dir: string): Promise<boolean> {
	return isThere(join(dir, LOST_DIR));
}

/** The directory is free afterwards. */
export async function setAside(dir: string): Promise<void> {
	await rename(dir, betweenAttempts(dir));
}

/** Puts the files of the first attempt, if there was one, into the new directory of the second. */
export async function keepFirst(dir: string): Promise<void> {
	if (await isThere(betweenAttempts(dir))) await rename(betweenAttempts(dir), join(dir, LOST_DIR));
}
