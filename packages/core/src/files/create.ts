/** Creates a file atomically, and only if it does not exist yet. */
import { existsSync } from "node:fs";
import { link, rename, unlink, writeFile } from "node:fs/promises";
import { codeOf } from "../base/error-code.ts";

/** Suffix of a file that is still being written. One left behind may be deleted. */
export const UNFINISHED = ".tmp";

/**
 * Returns false if the file already exists; it stays as it is. Without `isDurable`, the file may be empty after a
 * machine crash.
 */
export async function createWhole(path: string, text: string, { isDurable = true } = {}): Promise<boolean> {
	const unfinished = `${path}.${process.pid}-${crypto.randomUUID()}${UNFINISHED}`;
	try {
		await writeFile(unfinished, text, { flag: "wx", mode: 0o600, flush: isDurable });
		return await publish(unfinished, path);
	} finally {
		await unlink(unfinished).catch(() => undefined); // the original error matters more
	}
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
