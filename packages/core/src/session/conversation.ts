/** Where a child's conversation is kept: in memory, or in a pi session file that a later run of the agent continues. */
import { linkSync, readdirSync } from "node:fs";
import { constants, copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { messageOf } from "../best-effort.ts";
import { type Clock, systemClock } from "../clock.ts";
import { createWhole } from "../process/create.ts";
import type { RunIdentity, RunSpec } from "../runner.ts";
import { conversationsWritten, keepIn, sessionText, unsavedMessage } from "./conversation-file.ts";
import type { SessionHost } from "./host.ts";
import { inheritedEntries } from "./inherited.ts";

/**
 * The first run begins a conversation, later ones go on with it. One that cannot be written lives in memory; one that
 * should be continued and is gone is an error, since the child would not know what it was asked before.
 */
export async function openConversation(
	{ sessionDir, report = () => undefined, clock = systemClock }: Pick<SessionHost, "sessionDir" | "report" | "clock">,
	spec: RunSpec & RunIdentity,
): Promise<SessionManager> {
	const { agentId, run, cwd } = spec;
	const parent = sessionDir?.();
	if (parent === undefined) {
		if (run > 1) throw new Error(goneMessage(agentId));
		return SessionManager.inMemory(cwd, {}, begunWith(spec, clock)?.entries);
	}
	const dir = conversationDir(parent, agentId);
	const keeping = { dir, agentId, report };
	const begin = () => {
		const path = join(dir, fileName(clock.now(), agentId));
		// With the directory above: its own is made behind it, and pi would make it at once.
		return keepIn(SessionManager.open(path, parent, cwd), { ...keeping, path, isThere: false });
	};
	const goOn = (path: string) => keepIn(SessionManager.open(path, dir, cwd), { ...keeping, path, isThere: true });
	if (run > 1) {
		await conversationsWritten(dir);
		const file = newestFile(dir);
		if (file === undefined) throw new Error(goneMessage(agentId));
		// A first run that was stopped before it began left an empty directory: there is nothing to lose.
		return file === "" ? begin() : goOn(join(dir, file));
	}
	const begun = begunWith(spec, clock);
	try {
		if (!begun) return begin();
		await mkdir(dir, { recursive: true, mode: 0o700 });
		const path = join(dir, fileName(begun.at, begun.id));
		await createWhole(path, sessionText(begun.entries), { isDurable: false });
		return goOn(path);
	} catch (error) {
		report(unsavedMessage(agentId, messageOf(error)));
		return SessionManager.inMemory(cwd, {}, begun?.entries);
	}
}

/** What the child knows already, if it is to know what its parent does. */
function begunWith(spec: RunSpec & RunIdentity, clock: Clock) {
	if (!spec.inheritsContext) return undefined;
	const [id, at] = [crypto.randomUUID(), clock.now()];
	return { id, at, entries: inheritedEntries(spec, { id, at }) };
}

/** As pi names them: the newest is the last. */
function fileName(at: number, id: string): string {
	return `${new Date(at).toISOString().replace(/[:.]/g, "-")}_${id}.jsonl`;
}

/** The directory of one agent's conversation. An id that would lead elsewhere is refused. */
export function conversationDir(sessionDir: string, agentId: string): string {
	if (!/^[\w-][\w.-]{0,127}$/.test(agentId)) throw new Error(`"${agentId}" cannot be the name of a directory.`);
	return join(sessionDir, agentId);
}

/** The newest session file in the directory; "" if it has none, undefined if it does not exist. */
export function newestFile(dir: string): string | undefined {
	try {
		const files = readdirSync(dir).filter((name) => name.endsWith(".jsonl"));
		return files.sort().at(-1) ?? ""; // pi's names begin with the time
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
		throw error;
	}
}

/**
 * Makes the conversation of an agent that is launched now readable under another path, which must be free. As a link
 * where that is possible: what is said later is then in it, too. Nothing happens if no conversation is kept.
 *
 * @example
 * ```ts
 * const recorder = recordRuns({ ...host, store, specOf, conversationOf: conversationOf(host) });
 * ```
 */
export function conversationOf({
	sessionDir,
}: Pick<SessionHost, "sessionDir">): (agentId: string) => (path: string) => Promise<void> {
	return (agentId) => {
		const dir = sessionDir?.(); // when the run has ended, another session may be open, or none
		return async (path) => {
			if (dir !== undefined) await shareConversation(conversationDir(dir, agentId), path);
		};
	};
}

/** Synchronous where it can be: two small steps, which other threads would take longer to hear of. */
async function shareConversation(dir: string, path: string): Promise<void> {
	await conversationsWritten(dir);
	const name = newestFile(dir);
	if (!name) return;
	const file = join(dir, name);
	try {
		linkSync(file, path);
	} catch {
		await copyFile(file, path, constants.COPYFILE_EXCL); // it fails for the same reason, unless links were that
	}
}

export function goneMessage(agentId: string): string {
	return `Agent ${agentId} cannot be resumed: its conversation is gone. Launch a new agent and tell it what it needs to know.`;
}
