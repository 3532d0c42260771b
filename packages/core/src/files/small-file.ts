/** Small text files that people edit: size-limited reads, atomic replacement. */
import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, type Stats, statSync } from "node:fs";
import { access, mkdir, open, readdir, readFile, readlink, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ifMissing, isMissing } from "../base/error-code.ts";

const MAX_BYTES = 256 * 1024;

/** Each failed attempt means that another process wrote the file; this many in a row are no coincidence. */
const MAX_ATTEMPTS = 50;

/** `undefined` if it does not exist. Throws if it is not a regular file: opening a pipe or a device could hang. */
export async function readSmallFile(path: string): Promise<string | undefined> {
	try {
		requireSmall(await stat(path));
		return textOf(await readFile(path));
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw error;
	}
}

/** Synchronous, for what pi's start waits for: reading a small file is faster than going through another thread. */
export function readSmallFileSync(path: string): string | undefined {
	try {
		requireSmall(statSync(path));
		const file = openSync(path, WITHOUT_WAITING);
		try {
			requireSmall(fstatSync(file)); // it may have been replaced since `stat`
			return textOf(readFileSync(file));
		} finally {
			closeSync(file);
		}
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw error;
	}
}

/** Otherwise opening a pipe that replaced the file would block. No effect on regular files. */
const WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

function requireSmall(file: Stats): void {
	if (!file.isFile()) throw new Error("not a regular file");
	if (file.size > MAX_BYTES) throw new Error(`larger than ${MAX_BYTES / 1024} KB`);
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
		if (currentText(target) !== before) return false;
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

function currentText(path: string): string | undefined {
	try {
		return textOf(readFileSync(path));
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw error;
	}
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
