/** What is done to the files of a run, step by step: plain data, so that it can be asked of another thread. */
import { randomUUID } from "node:crypto";
import {
	appendFileSync,
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
import { messageOf } from "../best-effort.ts";
import { codeOf } from "./code-of.ts";
import { hasNoLinks, UNFINISHED } from "./create.ts";

export type FileStep =
	/** Fails if it is there. */
	| { does: "mkdir"; path: string }
	/** With those above it, as far as they are missing. */
	| { does: "mkdirs"; path: string }
	/** An empty file, too. Fails if it is there. */
	| { does: "create"; path: string; text: string }
	| { does: "append"; path: string; text: string }
	/** As `createWhole`. That it is there already is no fault. */
	| { does: "publish"; path: string; text: string; isDurable: boolean };

/** Why each step failed, in their order; undefined for those that did not. */
export type Faults = (string | undefined)[];

/** One step after the other. Where there is no directory, what comes after it is not tried, and has no place in the answer. */
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
		case "append":
			appendFileSync(step.path, step.text, { mode: 0o600 });
			break;
		case "publish":
			publish(step);
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

function write(path: string, text: string, isDurable: boolean): void {
	const file = openSync(path, "wx", 0o600);
	try {
		const bytes = Buffer.from(text);
		let written = 0;
		while (written < bytes.length) written += writeSync(file, bytes, written); // a full disk takes a part, then fails
		if (isDurable) fsyncSync(file);
	} finally {
		closeSync(file);
	}
}
