/** Creates and replaces files. Nothing that is in their place is followed: it stays, or it is replaced itself. */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { link, rename, unlink, writeFile } from "node:fs/promises";
import { codeOf, isMissing } from "../base/error-code.ts";

/** Suffix of a file that is still being written. One left behind may be deleted. */
export const UNFINISHED = ".tmp";

/** For the user alone. Fails with `EEXIST` if anything is there, even a link to nothing. */
export async function createFile(path: string, content: string | Uint8Array): Promise<void> {
	await writeFile(path, content, NEW);
}

export function createFileSync(path: string, content: string): void {
	writeFileSync(path, content, NEW);
}

const NEW = { flag: "wx", mode: 0o600 } as const;

/**
 * Atomically, and only if it does not exist yet. Returns false if it does; it stays as it is. Without
 * `isDurable`, the file may be empty after a machine crash.
 */
export async function createWhole(path: string, text: string, { isDurable = true } = {}): Promise<boolean> {
	const unfinished = unfinishedOf(path);
	try {
		await writeFile(unfinished, text, { ...NEW, flush: isDurable });
		return await publish(unfinished, path);
	} finally {
		await unlink(unfinished).catch(() => undefined); // the original error matters more
	}
}

/** Atomically: readers see the old text or the new one. A link is replaced, not what it leads to. */
export async function replaceWhole(path: string, text: string, { isDurable = true } = {}): Promise<void> {
	const unfinished = unfinishedOf(path);
	try {
		await writeFile(unfinished, text, { ...NEW, flush: isDurable });
		await rename(unfinished, path);
	} catch (error) {
		await unlink(unfinished).catch(() => undefined);
		throw error;
	}
}

export function replaceWholeSync(path: string, text: string): void {
	const unfinished = unfinishedOf(path);
	try {
		writeFileSync(unfinished, text, NEW);
		renameSync(unfinished, path);
	} catch (error) {
		rmSync(unfinished, { force: true });
		throw error;
	}
}

/**
 * Makes a place free in which an agent may have put anything. A directory is moved aside and stays: while its content is
 * being deleted, a link could take the place of a part of it, and what that leads to would be deleted.
 */
export async function makeRoom(path: string): Promise<void> {
	try {
		await unlink(path); // of a link, the link itself
	} catch (error) {
		if (!isMissing(error)) await rename(path, unfinishedOf(path));
	}
}

function unfinishedOf(path: string): string {
	return `${path}.${process.pid}-${crypto.randomUUID()}${UNFINISHED}`;
}

/** Unlike a rename, a link never replaces an existing file. */
async function publish(unfinished: string, path: string): Promise<boolean> {
	try {
		await link(unfinished, path);
		return true;
	} catch (error) {
		if (codeOf(error) === "EEXIST") return false;
		if (!hasNoLinks(error)) throw error;
	}
	// Two writers could both succeed here; that is better than no file.
	if (existsSync(path)) return false;
	await rename(unfinished, path);
	return true;
}

/** Whether the error means that the file system has no hard links. */
export function hasNoLinks(error: unknown): boolean {
	return ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(codeOf(error) ?? "");
}

/** Ignores that another process was first. */
export async function unlessThere(make: () => Promise<unknown>): Promise<void> {
	try {
		await make();
	} catch (error) {
		if (codeOf(error) !== "EEXIST") throw error;
	}
}

/** Indented, because people read it too. */
export function jsonText(value: object): string {
	return `${JSON.stringify(value, null, "\t")}\n`;
}
