/** The directory of an agent's notes: one per preset, in the project or in the user's directory. */
import { createHash } from "node:crypto";
import { lstat, mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../base/best-effort.ts";
import { codeOf } from "../base/error-code.ts";
import { unlessThere } from "../files/create.ts";
import { hideFromGit } from "../files/git-ignore.ts";
import { isWithin } from "../files/within.ts";
import type { MemoryScope } from "../model/schema/spec.ts";

export interface MemoryOptions {
	scope: MemoryScope;
	/** The preset's name. */
	preset: string;
	/** The top of the project. */
	root: string;
	/** pi's agent directory, for what belongs to the user. */
	agentDir: string;
	/** Whether the agent can write; otherwise the directory need not be created. */
	isWritable: boolean;
	/** Dry run: only finds where it would be. */
	isTrial?: boolean | undefined;
}

export interface MemoryDir {
	/** Absolute, with links resolved. Absent if there is none. */
	dir?: string;
	/** Why there is none, if one was expected. */
	warning?: string;
}

/**
 * Finds the directory, and creates it for an agent that can write. A link that leads out of the project, or out of
 * the user's directory, is refused: a repository may contain a link to anywhere.
 *
 * @example
 * ```ts
 * const { dir, warning } = await prepareMemory({ scope: "project", preset: "scout", root, agentDir, isWritable: true });
 * ```
 */
export async function prepareMemory(place: MemoryOptions): Promise<MemoryDir> {
	const { scope, preset, root, agentDir, isWritable, isTrial = false } = place;
	const isMade = isWritable && !isTrial;
	const [top, names, mode] = scope === "user" ? [agentDir, ["agent-memory"], 0o700] : [root, IN_PROJECT[scope], 0o755];
	try {
		const realTop = await realpath(top);
		const whole = [...names, memoryDirName(preset)];
		let dir = top;
		for (const name of whole) {
			dir = join(dir, name);
			if (isMade) await unlessThere(() => mkdir(dir, { mode }));
			if (!(await isDirectoryWithin(dir, realTop))) return isWritable ? { dir: join(realTop, ...whole) } : {};
			if (isMade && name === LOCAL) hideFromGit(dir);
		}
		return { dir: await realpath(dir) };
	} catch (error) {
		return { warning: `Preset "${preset}" works without its memory: ${messageOf(error)}` };
	}
}

const LOCAL = "agent-memory-local";
const IN_PROJECT = { project: [".pi", "agent-memory"], local: [".pi", LOCAL] };

/** Names that Windows reserves for devices, whatever follows their first dot. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/;

/** One directory name per preset, ignoring case; a hash replaces what a directory name cannot hold. */
export function memoryDirName(preset: string): string {
	const key = preset.normalize("NFC").toLowerCase();
	const safe = key
		.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "-")
		.replace(/^[^\p{L}\p{N}]+|\.+$/gu, "")
		.slice(0, 64);
	if (safe !== "" && safe === key && !DEVICE.test(key)) return safe;
	return `${safe.split(".")[0] || "preset"}-${createHash("sha256").update(key).digest("hex").slice(0, 8)}`;
}

/** False if nothing has that name. */
async function isDirectoryWithin(dir: string, realTop: string): Promise<boolean> {
	try {
		await lstat(dir);
	} catch (error) {
		if (codeOf(error) === "ENOENT") return false;
		throw error;
	}
	const real = await realpath(dir);
	if (!isWithin(real, realTop)) throw new Error(`${dir} is a link that leads elsewhere.`);
	if (!(await lstat(real)).isDirectory()) throw new Error(`${dir} is not a directory.`);
	return true;
}
