/** Whether a run's own process lives, for those who look from outside. */
import { isAlive, type ProcessIdentity, type RunPlace, RunProcesses } from "@pi-subagents/core/internal/signals";
import { readWrapper } from "./read.ts";

/**
 * The wrapper of a run, if it lives. What the run's own directory says about it is not enough: an agent in a sandbox can
 * write there, and would look alive for as long as any process does.
 */
export async function livingWrapper(place: RunPlace): Promise<ProcessIdentity | undefined> {
	const wrapper = await new RunProcesses(place).wrapper();
	return wrapper?.type === "started" && (await isAlive(wrapper)) ? wrapper : undefined;
}

/** Whether its wrapper has started, or never will. */
export async function hasStarted(place: RunPlace): Promise<boolean> {
	return ((await new RunProcesses(place).wrapper()) ?? (await readWrapper(place.runDir))) !== undefined;
}
