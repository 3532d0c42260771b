/** Files are written behind the agents, and on a busy machine an end is told a moment after the session knows of it. */
import { setTimeout as delay } from "node:timers/promises";

/** On a machine that does much else at low priority, all waits are as many times longer as `STORM_PATIENCE` says. */
export const PATIENCE = Math.max(1, Number(process.env.STORM_PATIENCE ?? 1));

/** What works on another machine for a pi that is gone may do so for a minute, and then ends. */
export const FAR_ENDING_MS = 90_000 * PATIENCE;

const BEHIND_MS = 5_000 * PATIENCE;

/** What is still wrong when everything has had its time. */
export async function patiently(look: () => Promise<string[]>): Promise<string[]> {
	const deadline = Date.now() + BEHIND_MS;
	for (;;) {
		const found = await look();
		if (found.length === 0 || Date.now() >= deadline) return found;
		await delay(100);
	}
}
