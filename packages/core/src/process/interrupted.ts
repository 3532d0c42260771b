/** What became of a run whose process is gone and that nobody else could bring to its end: what its log proves. */
import { join } from "node:path";
import type { RunIdentity, Stop } from "../runner.ts";
import { Account } from "./account.ts";
import { type ResultFile, RUN_FILES } from "./layout.ts";
import { readPlain } from "./plain-file.ts";
import { parseEvent } from "./read.ts";

/** Of a longer log, reading it would hold up the session that is being opened. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The run as it stood when it was stopped; undefined where it kept no log. Lines that are cut off or garbled are passed over. */
export async function readInterrupted(dir: string, identity: RunIdentity, stop: Stop): Promise<ResultFile | undefined> {
	const log = await readPlain(join(dir, RUN_FILES.events), MOST_BYTES);
	if (log === undefined) return undefined;
	const account = new Account();
	let lastAt = 0;
	for (const line of log.toString("utf8").split("\n")) {
		const event = line === "" ? undefined : parseEvent(line);
		if (!event) continue;
		account.add(event);
		lastAt = event.at;
	}
	return lastAt === 0 ? undefined : account.result(identity, account.stopped(stop), lastAt);
}
