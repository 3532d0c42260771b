/** The journal as a file beside the runs: read whole when a workflow is taken up, then only appended to. */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@pi-subagents/core";
import { isMissing } from "@pi-subagents/core/files";
import { type JournalEvent, parseJournal } from "./events.ts";

/** Where the engine keeps what happened. */
export interface Journal {
	/** What an earlier process wrote. */
	read(): JournalEvent[];
	/** Kept when this returns: another process may have to go on from here. */
	append(event: JournalEvent): void;
	close(): void;
}

/** `<id>.workflow.jsonl`. */
export function journalPath(runsDir: string, id: string): string {
	return join(runsDir, `${id}.workflow.jsonl`);
}

/**
 * Written without delay, so that nothing follows from a line that a killed process did not leave behind. What cannot be
 * written is reported once, and the workflow continues: it only could not be taken up from there.
 */
export function fileJournal(path: string, warn: (notice: string) => void): Journal {
	let file: number | undefined;
	let isTorn = false;
	let hasWarned = false;
	return {
		read() {
			const text = textOf(path);
			isTorn = text !== "" && !text.endsWith("\n");
			return parseJournal(text);
		},
		append(event) {
			try {
				file ??= openSync(path, "a", 0o600);
				const bytes = Buffer.from(`${isTorn ? "\n" : ""}${JSON.stringify(event)}\n`);
				isTorn = true;
				for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
				isTorn = false;
			} catch (error) {
				if (!hasWarned)
					warn(`The journal of a workflow cannot be written, so it cannot be resumed: ${messageOf(error)}`);
				hasWarned = true;
			}
		},
		close() {
			if (file !== undefined) closeSync(file);
			file = undefined;
		},
	};
}

/** A journal in memory, for scripts and tests. Another engine may take up the same list. */
export function memoryJournal(events: JournalEvent[] = []): Journal {
	return { read: () => [...events], append: (event) => void events.push(event), close: () => undefined };
}

function textOf(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		if (isMissing(error)) return "";
		throw error;
	}
}
