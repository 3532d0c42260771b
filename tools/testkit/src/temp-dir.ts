/** A temporary directory that can be removed again. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempDir extends AsyncDisposable {
	/** With symbolic links resolved, since pi reports paths that way. */
	readonly path: string;
	remove(): Promise<void>;
}

export async function createTempDir(prefix = "pi-subagents-"): Promise<TempDir> {
	const path = await mkdtemp(join(await realpath(tmpdir()), prefix));
	const remove = async () => {
		if (process.env.KEEP_TEMP_DIRS === "1") return; // its caller removes what they are in
		// Retries: a process that was just killed may still be writing its last file.
		await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
	};
	return { path, remove, [Symbol.asyncDispose]: remove };
}
