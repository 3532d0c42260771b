/** The journal as a file beside the runs: read whole when a workflow is resumed, then only appended to. */
import { join } from "node:path";
import { isMissing, messageOf } from "@pi-subagents/core/internal/base";
import { LineFile, readPlainSync } from "@pi-subagents/core/internal/files";
import { type JournalEvent, parseJournal } from "./events.ts";

/** Where the engine records what happened. */
export interface Journal {
	/** What an earlier process wrote. Throws if it cannot be read. */
	read(): JournalEvent[];
	/**
	 * In the file when this returns, so that another process can continue from here if this one is killed. It is not
	 * synced: a power failure may take the last lines.
	 */
	append(event: JournalEvent): void;
	close(): void;
}

/** `<id>.workflow.jsonl`. */
export function journalPath(runsDir: string, id: string): string {
	return join(runsDir, `${id}.workflow.jsonl`);
}

/** It holds every answer, and a text cannot be much longer. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * The agents of a workflow can write beside it, so only a regular file is read or appended to, never through a link.
 * Written synchronously: nothing may follow from a line that a killed process did not write. A failure is reported once,
 * and the workflow continues, but cannot be resumed until the missing lines are written. That is tried with each line: a
 * gap would let a finished agent run again.
 */
export function fileJournal(path: string, warn: (notice: string) => void): Journal {
	// Not synced, which would delay every call: an agent whose line a power failure takes runs again.
	const file = new LineFile(path, { durable: false });
	let hasWarned = false;
	/** Lines that are not in the file. */
	const unwritten: string[] = [];
	const write = () => {
		try {
			for (let line = unwritten[0]; line !== undefined; line = unwritten[0]) {
				file.append(line);
				unwritten.shift();
			}
		} catch (error) {
			if (!hasWarned)
				warn(
					`The journal of a workflow cannot be written; until it can, the workflow cannot be resumed: ${path}: ${messageOf(error)}`,
				);
			hasWarned = true;
		}
	};
	return {
		read() {
			return parseJournal(textOf(path));
		},
		append(event) {
			unwritten.push(`${JSON.stringify(event)}\n`);
			write();
		},
		close() {
			if (unwritten.length > 0) write();
			file.close();
		},
	};
}

/** A journal in memory, for scripts and tests. Another engine may continue with the same list. */
export function memoryJournal(events: JournalEvent[] = []): Journal {
	return { read: () => [...events], append: (event) => void events.push(event), close: () => undefined };
}

function textOf(path: string): string {
	try {
		return readPlainSync(path, MAX_BYTES).toString("utf8");
	} catch (error) {
		if (isMissing(error)) return "";
		throw new Error(
			`The journal ${path} cannot be read: ${messageOf(error)}. Put the file back, or start the workflow again.`,
		);
	}
}
