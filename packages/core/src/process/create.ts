/** Creates a file that is there whole or not at all, and that only the first of several can create. */
import { link, rename, stat, unlink, writeFile } from "node:fs/promises";
import { codeOf } from "./code-of.ts";

/** Ends the name of a file that is not whole yet. One that is left behind may be deleted. */
export const UNFINISHED = ".tmp";

/**
 * Whether it was created: false when there is such a file already, which stays as it is. What is not durable may be
 * there without its content after a crash of the machine.
 */
export async function createWhole(path: string, text: string, { isDurable = true } = {}): Promise<boolean> {
	const unfinished = `${path}.${process.pid}-${crypto.randomUUID()}${UNFINISHED}`;
	try {
		await writeFile(unfinished, text, { flag: "wx", mode: 0o600, flush: isDurable });
		return await publish(unfinished, path);
	} finally {
		await unlink(unfinished).catch(() => undefined); // why it is not whole matters more than that it is still there
	}
}

/** A link, unlike a rename, never replaces what somebody else was first with. */
async function publish(unfinished: string, path: string): Promise<boolean> {
	try {
		await link(unfinished, path);
		return true;
	} catch (error) {
		if (codeOf(error) === "EEXIST") return false;
		if (!hasNoLinks(error)) throw error;
	}
	// Two who come here in the same moment could both win; better than no file.
	if (await unlessGone(() => stat(path))) return false;
	await rename(unfinished, path);
	return true;
}

/** Whether an error says that the file system knows no links. */
export function hasNoLinks(error: unknown): boolean {
	return ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(codeOf(error) ?? "");
}

/** For what somebody else may make in the same moment. */
export async function unlessThere(make: () => Promise<unknown>): Promise<void> {
	try {
		await make();
	} catch (error) {
		if (codeOf(error) !== "EEXIST") throw error;
	}
}

async function unlessGone<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
	try {
		return await work();
	} catch (error) {
		if (codeOf(error) === "ENOENT") return undefined;
		throw error;
	}
}

/** Also for people to read. */
export function jsonText(value: object): string {
	return `${JSON.stringify(value, null, "\t")}\n`;
}
