/** What a pi has gathered, and what lies about, after each storm: no more than after the first. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PiEnv } from "@pi-subagents-dev/testkit";
import type { Watched } from "../support/extensions/watcher.ts";
import { filesBelow, ownFiles } from "./files.ts";
import { patiently } from "./patience.ts";

/** Code that is compiled later, and what pi itself keeps of its sessions. What leaks goes on growing. */
const SLACK_MEGABYTES = 24;

/** Of one pi process. */
export class Gathering {
	#first: Watched | undefined;

	violations(now: Watched): string[] {
		this.#first ??= now;
		const { heapMegabytes, listeners } = this.#first;
		const more = Object.entries(now.listeners).filter(([name, count]) => count > (listeners[name] ?? 0));
		const grown = now.heapMegabytes - heapMegabytes;
		return [
			...more.map(([name, count]) => `There are ${count} listeners for ${name}, after ${listeners[name] ?? 0}.`),
			...(grown > SLACK_MEGABYTES ? [`The heap has grown by ${Math.round(grown)} MB.`] : []),
		];
	}
}

export interface Lying {
	/** Somebody was killed while something lay about, or could not remove it. */
	wasHarmed: boolean;
	/** Of the session that is open. */
	sessionId: string;
	/** What lay about before. */
	known: Set<string>;
}

const closedOwner = (sessionId: string): string => `A session that is closed has an owner: ${sessionId}.`;

/** Temporary files, half files, locks and signs of who has a session open. */
export async function lyingAbout(env: PiEnv, { wasHarmed, sessionId, known }: Lying): Promise<string[]> {
	const look = async () => (await lying(env, sessionId)).filter((what) => !known.has(what));
	// Of one that was stopped, git removes the branch after all else.
	const news = wasHarmed ? await look() : await patiently(look);
	for (const what of news) known.add(what);
	if (wasHarmed) known.add(closedOwner(sessionId)); // it may not have been able to leave
	return wasHarmed ? [] : news;
}

async function lying(env: PiEnv, sessionId: string): Promise<string[]> {
	const temporary = (await readdir(join(env.root, "tmp"))).filter(
		(name) => name !== "jiti" && !/^pi-subagents-\d+-[0-9a-f]{12}$/.test(name), // what runs kept when the project had no place
	);
	const own = await ownFiles(env);
	const halves = own.filter((path) => path.endsWith(".tmp") || path.includes("/.new-"));
	const locks = [...(await filesBelow(join(env.cwd, ".git"))), ...(await filesBelow(env.agentDir))].filter((path) =>
		path.endsWith(".lock"),
	);
	const open = join(env.agentDir, "state", "subagents", "open");
	const owners = (await readdir(open).catch(() => [])).filter((name) => name !== sessionId);
	return [
		...temporary.map((name) => `The temporary ${name} was left.`),
		...halves.map((path) => `Half a file was left: ${path}.`),
		...locks.map((path) => `A lock was left: ${path}.`),
		...owners.map(closedOwner),
	];
}
