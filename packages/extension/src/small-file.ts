/** Small text files that people edit: read with a bound, replaced as a whole or not at all. */
import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, type Stats, statSync } from "node:fs";
import { access, mkdir, open, readdir, readFile, readlink, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

const MOST_BYTES = 256 * 1024;

/** Each failed attempt means that another writer came through; so many in a row do not happen by themselves. */
const MOST_ATTEMPTS = 50;

/** `undefined` when there is none. Throws for what is no such file; a pipe or a device is never opened, it could hang. */
export async function readSmallFile(path: string): Promise<string | undefined> {
	try {
		requireSmall(await stat(path));
		return textOf(await readFile(path));
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw error;
	}
}

/** The same at once, for what a start waits for: to read a small file takes less time than to wait for another thread. */
export function readSmallFileSync(path: string): string | undefined {
	try {
		requireSmall(statSync(path));
		const file = openSync(path, WITHOUT_WAITING);
		try {
			requireSmall(fstatSync(file)); // what was looked at may not be what was opened
			return textOf(readFileSync(file));
		} finally {
			closeSync(file);
		}
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw error;
	}
}

/** A pipe that took the place of the file would otherwise be waited for. It means nothing to a regular file. */
const WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

function requireSmall(file: Stats): void {
	if (!file.isFile()) throw new Error("not a regular file");
	if (file.size > MOST_BYTES) throw new Error(`larger than ${MOST_BYTES / 1024} KB`);
}

/**
 * Reads the file, lets `edit` change its text and puts the result in its place. When somebody else changes the file
 * meanwhile, `edit` is asked again with the new text. Returns where the file really lies, since links are followed.
 */
export async function editSmallFile(path: string, edit: (text: string | undefined) => string): Promise<string> {
	for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
		const target = await targetOf(path);
		const before = await readSmallFile(target);
		const after = edit(before);
		if (after === before || (await replace(target, before, after))) return target;
	}
	throw new Error(`another program keeps changing ${path}`);
}

/** False when the file no longer held `before`. */
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
		// The last look and the rename are one step, so that no other save of this process comes between them.
		if (currentText(target) !== before) return false;
		renameSync(temporary, target);
		return true;
	} finally {
		await rm(temporary, { force: true });
	}
}

/** A rename would also replace a file that its owner has protected. */
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

/** Also follows a link whose target does not exist yet. */
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

/** Without the mark that some editors put first. */
function textOf(bytes: Uint8Array): string {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw new Error("not UTF-8 text");
	}
}

/** Nothing is there, and nothing could be. */
export function isMissing(error: unknown): boolean {
	const { code } = error as NodeJS.ErrnoException;
	return code === "ENOENT" || code === "ENOTDIR";
}

/** What lies in a directory; nothing, where there is none. */
export async function namesIn(dir: string): Promise<string[]> {
	try {
		return await readdir(dir);
	} catch (error) {
		if (isMissing(error)) return [];
		throw error;
	}
}
