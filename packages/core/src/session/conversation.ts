/** Where a child's conversation is kept: in memory, or in a pi session file that a later run of the agent continues. */
import { linkSync, readdirSync } from "node:fs";
import { access, constants, copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { messageOf, type Report } from "../best-effort.ts";
import { systemClock } from "../clock.ts";
import { createWhole } from "../process/create.ts";
import type { RunIdentity, RunSpec } from "../runner.ts";
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
	const dir = parent === undefined ? undefined : conversationDir(parent, agentId);
	if (run > 1) {
		const file = dir === undefined ? undefined : newestFile(dir);
		if (dir === undefined || file === undefined) throw new Error(goneMessage(agentId));
		// A first run that was stopped before its model answered left an empty directory: there is nothing to lose.
		const manager = file === "" ? SessionManager.create(cwd, dir) : SessionManager.open(join(dir, file), dir, cwd);
		return forgiving(manager, agentId, report);
	}
	const [id, at] = [crypto.randomUUID(), clock.now()];
	const begun = spec.inheritsContext ? inheritedEntries(spec, { id, at }) : undefined;
	if (dir === undefined) return SessionManager.inMemory(cwd, {}, begun);
	try {
		const made = await mkdir(dir, { recursive: true, mode: 0o700 });
		if (made === undefined) await access(dir, constants.W_OK | constants.X_OK); // what was made just now is ours to write in
		if (!begun) return forgiving(SessionManager.create(cwd, dir), agentId, report);
		const file = join(dir, `${new Date(at).toISOString().replace(/[:.]/g, "-")}_${id}.jsonl`); // as pi names them
		await createWhole(file, sessionText(begun), { isDurable: false });
		return forgiving(SessionManager.open(file, dir, cwd), agentId, report);
	} catch (error) {
		report(`The conversation of agent ${agentId} is not saved, so it cannot be resumed: ${messageOf(error)}`);
		return SessionManager.inMemory(cwd, {}, begun);
	}
}

/** As pi keeps it in a file. */
export function sessionText(entries: readonly object[]): string {
	return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
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
	const name = newestFile(dir);
	if (!name) return;
	const file = join(dir, name);
	try {
		linkSync(file, path);
	} catch {
		await copyFile(file, path, constants.COPYFILE_EXCL); // it fails for the same reason, unless links were that
	}
}

/** A disk that fills up while the child works must not end its run, as an error within pi would. */
function forgiving(manager: SessionManager, agentId: string, report: Report): SessionManager {
	const persist = manager._persist.bind(manager);
	manager._persist = (entry) => {
		try {
			persist(entry);
		} catch (error) {
			manager._persist = () => undefined; // a file with a gap would read as a conversation that never was
			report(`The rest of agent ${agentId}'s conversation is not saved: ${messageOf(error)}`);
		}
	};
	return manager;
}

export function goneMessage(agentId: string): string {
	return `Agent ${agentId} cannot be resumed: its conversation is gone. Launch a new agent and tell it what it needs to know.`;
}
