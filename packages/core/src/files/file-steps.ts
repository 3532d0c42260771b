/** The file operations of a run, as plain data that can be sent to another thread. */
import { randomUUID } from "node:crypto";
import {
	closeSync,
	existsSync,
	fsyncSync,
	linkSync,
	mkdirSync,
	openSync,
	renameSync,
	rmSync,
	writeSync,
} from "node:fs";
import { basename, join } from "node:path";
import { messageOf } from "../base/best-effort.ts";
import { codeOf } from "../base/error-code.ts";
import { hasNoLinks, UNFINISHED } from "./create.ts";
import { appendLinesSync } from "./line-file.ts";
import { newestFile } from "./newest-file.ts";
import { readPlainSync } from "./plain-file.ts";

export type FileStep =
	/** Fails if it exists. */
	| { does: "mkdir"; path: string }
	/** With missing parents. */
	| { does: "mkdirs"; path: string }
	/** Also an empty file. Fails if it exists. */
	| { does: "create"; path: string; text: string }
	/** The same for a file that never changes: a link to the last one of its name, if it has the same text, costs less. */
	| { does: "share"; path: string; text: string }
	/** Another name for the newest file of a directory; a copy, where that cannot be. Nothing if there is none. */
	| { does: "share_newest"; dir: string; path: string }
	/** Lines, after half a line that an earlier step left on a full disk, too. */
	| { does: "append"; path: string; text: string; durable: boolean }
	/** As `createWhole`. An existing file is not an error. */
	| { does: "publish"; path: string; text: string; isDurable: boolean };

/** Why each step failed, in order; undefined for those that succeeded. */
export type Faults = (string | undefined)[];

/**
 * In order. After a directory that could not be created, the remaining steps are skipped and missing from the answer.
 */
export function takeSteps(steps: readonly FileStep[]): Faults {
	const faults: Faults = [];
	for (const step of steps) {
		const fault = faultOf(step);
		faults.push(fault);
		if (step.does.startsWith("mkdir") && fault !== undefined) break;
	}
	return faults;
}

function faultOf(step: FileStep): string | undefined {
	try {
		take(step);
		return undefined;
	} catch (error) {
		return messageOf(error);
	}
}

function take(step: FileStep): void {
	switch (step.does) {
		case "mkdir":
			mkdirSync(step.path, { mode: 0o700 });
			break;
		case "mkdirs":
			mkdirSync(step.path, { recursive: true, mode: 0o700 });
			break;
		case "create":
			write(step.path, step.text, false);
			break;
		case "share":
			share(step.path, step.text);
			break;
		case "share_newest":
			shareNewest(step.dir, step.path);
			break;
		case "append":
			appendLinesSync(step.path, step.text, step);
			break;
		case "publish":
			publish(step);
	}
}

/** The last one of each name. */
const shared = new Map<string, { path: string; text: string }>();

function share(path: string, text: string): void {
	const last = shared.get(basename(path));
	try {
		if (last?.text === text) {
			linkSync(last.path, path);
			return;
		}
	} catch (error) {
		if (codeOf(error) === "EEXIST") throw error; // else it is gone, or cannot have more links
	}
	write(path, text, false);
	shared.set(basename(path), { path, text });
}

/** The largest conversation that is copied where it cannot be linked. */
const MAX_COPIED_BYTES = 512 * 1024 * 1024;

function shareNewest(dir: string, path: string): void {
	const name = newestFile(dir);
	if (!name) return;
	try {
		linkSync(join(dir, name), path); // then it has what is appended later, too
	} catch (error) {
		if (!hasNoLinks(error) && codeOf(error) !== "EXDEV") throw error;
		write(path, readPlainSync(join(dir, name), MAX_COPIED_BYTES), false);
	}
}

function publish({ path, text, isDurable }: Extract<FileStep, { does: "publish" }>): void {
	const unfinished = `${path}.${process.pid}-${randomUUID()}${UNFINISHED}`;
	try {
		write(unfinished, text, isDurable);
		linkSync(unfinished, path);
	} catch (error) {
		if (codeOf(error) === "EEXIST") return;
		if (!hasNoLinks(error)) throw error;
		if (!existsSync(path)) renameSync(unfinished, path);
	} finally {
		rmSync(unfinished, { force: true });
	}
}

function write(path: string, content: string | Buffer, isDurable: boolean): void {
	const file = openSync(path, "wx", 0o600);
	try {
		const bytes = Buffer.from(content);
		let written = 0;
		while (written < bytes.length) written += writeSync(file, bytes, written); // a full disk writes a part, then fails
		if (isDurable) fsyncSync(file);
	} finally {
		closeSync(file);
	}
}
