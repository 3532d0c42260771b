/** Where a child's conversation is stored: in memory, or in a pi session file that a later run continues. */
import { closeSync, existsSync, mkdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import type { RunIdentity, RunSpec } from "@pi-subagents/core";
import { type Clock, systemClock } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import { createWhole, fileThread, newestFile, openPlainSync } from "@pi-subagents/core/internal/files";
import type { SessionHost } from "../resources/host.ts";
import { conversationsWritten, keepIn, unsavedMessage } from "./conversation-file.ts";
import { inheritedEntries } from "./inherited.ts";
import { sessionText } from "./session-text.ts";

/**
 * The first run begins a conversation, later ones continue it. One that cannot be written stays in memory; one that
 * should be continued and is missing is an error, since the child would not know its earlier task.
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
		if (!existsSync(parent)) mkdirSync(parent, { recursive: true, mode: 0o700 }); // pi would make it readable for everyone
		// With the parent directory: its own is created in the background, and pi would create it immediately.
		return keepIn(SessionManager.open(path, parent, cwd), { ...keeping, path, isThere: false });
	};
	const goOn = (path: string) => {
		requirePlain(path);
		return keepIn(SessionManager.open(path, dir, cwd), { ...keeping, path, isThere: true });
	};
	if (run > 1) {
		await conversationsWritten(dir);
		const file = newestFile(dir);
		if (file === undefined) throw new Error(goneMessage(agentId));
		// A first run that was stopped before it began left an empty directory: nothing is lost.
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

/** pi reads it whole, follows links, and would wait for a pipe. */
function requirePlain(path: string): void {
	try {
		closeSync(openPlainSync(path));
	} catch (error) {
		throw new Error(`The conversation in ${path} cannot be continued: ${messageOf(error)}`);
	}
}

/** The inherited conversation, if the spec asks for it. */
function begunWith(spec: RunSpec & RunIdentity, clock: Clock) {
	if (!spec.inheritsContext) return undefined;
	const [id, at] = [crypto.randomUUID(), clock.now()];
	return { id, at, entries: inheritedEntries(spec, { id, at }) };
}

/** Named as by pi: the newest sorts last. */
function fileName(at: number, id: string): string {
	return `${new Date(at).toISOString().replace(/[:.]/g, "-")}_${id}.jsonl`;
}

/** The directory of one agent's conversation. Refuses an id that would lead elsewhere. */
export function conversationDir(sessionDir: string, agentId: string): string {
	if (!/^[\w-][\w.-]{0,127}$/.test(agentId)) throw new Error(`"${agentId}" cannot be the name of a directory.`);
	return join(sessionDir, agentId);
}

/**
 * Makes the conversation of a newly launched agent available under another, unused path: as a link if possible, which
 * then includes later messages. Does nothing if no conversation is stored.
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
		const parent = sessionDir?.(); // at the end of the run another session may be open
		return async (path) => {
			if (parent === undefined) return;
			const dir = conversationDir(parent, agentId);
			await conversationsWritten(dir);
			const [fault] = await fileThread.take([{ does: "share_newest", dir, path }]);
			if (fault !== undefined) throw new Error(fault);
		};
	};
}

export function goneMessage(agentId: string): string {
	return `Agent ${agentId} cannot be resumed: its conversation is gone. Launch a new agent and tell it what it needs to know.`;
}
