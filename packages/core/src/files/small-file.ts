/** Small text files that people edit: size-limited reads, atomic replacement. */
import { randomUUID } from "node:crypto";
import { constants, renameSync } from "node:fs";
import { access, mkdir, open, readdir, readlink, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ifMissing, isMissing } from "../base/error-code.ts";
import { readPlain, readPlainSync } from "./plain-file.ts";

const MAX_BYTES = 256 * 1024;

/** Each failed attempt means that another process wrote the file; this many in a row are no coincidence. */
const MAX_ATTEMPTS = 50;

/** People link their settings to where they keep them. */
const LINKED = { followsLinks: true } as const;

/** `undefined` if it does not exist. Throws if it is not a regular file: opening a pipe or a device could hang. */
export async function readSmallFile(path: string): Promise<string | undefined> {
	const bytes = await readPlain(path, MAX_BYTES, LINKED).catch(ifMissing(undefined));
	return bytes && textOf(bytes);
}

/** Synchronous, for what pi's start waits for: reading a small file is faster than going through another thread. */
export function readSmallFileSync(path: string): string | undefined {
	try {
		return textOf(readPlainSync(path, MAX_BYTES, LINKED));
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw error;
	}
}

/**
 * Reads the file, lets `edit` change its text and writes the result. If another process changes the file meanwhile,
 * `edit` runs again with the new text. Returns the real path, since links are followed.
 */
export async function editSmallFile(path: string, edit: (text: string | undefined) => string): Promise<string> {
	for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
		const target = await targetOf(path);
		const before = await readSmallFile(target);
		const after = edit(before);
		if (after === before || (await replace(target, before, after))) return target;
	}
	throw new Error(`another program keeps changing ${path}`);
}

/** False if the file no longer contains `before`. */
async function replace(target: string, before: string | undefined, after: string): Promise<boolean> {
	await mkdir(dirname(target), { recursive: true });
	const mode = before === undefined ? undefined : await writableMode(target);
	const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
	try {
		const file = await open(temporary, "wx");
		try {
			await file.writeFile(after);
			if (mode !== undefined) await file.chmod(mode);
			await file.sync();
		} finally {
			await file.close();
		}
		// Check and rename are synchronous, so that no other save of this process comes between them.
		if (readSmallFileSync(target) !== before) return false;
		renameSync(temporary, target);
		return true;
	} finally {
		await rm(temporary, { force: true });
	}
}

/** A rename would replace even a write-protected file. */
async function writableMode(path: string): Promise<number> {
	await access(path, constants.W_OK);
	return (await stat(path)).mode & 0o7777;
}

/** Also follows links to files that do not exist yet. */
async function targetOf(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch (error) {
		if (!isMissing(error)) throw error;
	}
	try {
		return await targetOf(resolve(await realpath(dirname(path)), await readlink(path)));
	} catch (error) {
		if (!isMissing(error)) throw error;
		return path;
	}
}

/** Without a byte order mark. */
function textOf(bytes: Uint8Array): string {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw new Error("not UTF-8 text");
	}
}

export async function isThere(path: string): Promise<boolean> {
	return stat(path).then(() => true, ifMissing(false));
}

/** The names in a directory; none if it does not exist. */
export async function namesIn(dir: string): Promise<string[]> {
	return readdir(dir).catch(ifMissing([]));
}
