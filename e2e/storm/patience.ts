/** Files are written behind the agents, and an end is told a moment after the session knows of it: longer on a busy machine. */
import { setTimeout as delay } from "node:timers/promises";
import { patienceMs } from "@pi-subagents-dev/testkit";

/** As parts of a wait, how long things may lag behind at the end of a storm. */
export const LAGS = {
	/** What is written and told. */
	news: 1 / 6,
	/** Processes, once their result is known. */
	processes: 2 / 3,
	/** The commit of an agent that was stopped. */
	commits: 1,
	/** What works on another machine for a pi that is gone may do so for a minute, and then ends. */
	farProcesses: 3,
};

/** What is still wrong when everything has had its time. */
export async function patiently(look: () => Promise<string[]>, lag = LAGS.news): Promise<string[]> {
	for (const begunAt = performance.now(); ; await delay(50)) {
		const found = await look();
		if (found.length === 0 || performance.now() - begunAt > patienceMs(lag)) return found;
	}
}
