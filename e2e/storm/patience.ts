/** Files are written behind the agents, and on a busy machine an end is told a moment after the session knows of it. */
import { setTimeout as delay } from "node:timers/promises";

const BEHIND_MS = 5_000;

/** What is still wrong when everything has had its time. */
export async function patiently(look: () => Promise<string[]>): Promise<string[]> {
	const deadline = Date.now() + BEHIND_MS;
	for (;;) {
		const found = await look();
		if (found.length === 0 || Date.now() >= deadline) return found;
		await delay(100);
	}
}
