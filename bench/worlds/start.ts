/** One turn of pi in JSON mode, from its start to its exit, with nothing of the user's around it. */
import { join } from "node:path";
import { createPiEnv, createTempDir, otherwise, runJson, say, startModelServer } from "@pi-subagents-dev/testkit";

export interface Start {
	/** For pi to load. */
	extensions: readonly string[];
	/** As after an installation, an upgrade or a reboot: no compiled code is cached anywhere. */
	isCold?: boolean;
	/** The text of a session that is opened again. */
	session?: string;
}

/** A package of many files takes its time when nothing of it is compiled. */
const PATIENCE_MS = 180_000;

/** In milliseconds. */
export async function startToExit({ extensions, isCold = false, session }: Start): Promise<number> {
	const server = await startModelServer({ rules: [otherwise(say("Hello."))] });
	const cache = await createTempDir();
	const variables: Record<string, string> = isCold ? { NODE_COMPILE_CACHE: cache.path, TMPDIR: cache.path } : {};
	const files: Record<string, string> = session === undefined ? {} : { "session.jsonl": session };
	const env = await createPiEnv({ server, extensions, variables, files });
	const args = session === undefined ? ["--no-session"] : ["--session", join(env.cwd, "session.jsonl")];
	try {
		const begin = performance.now();
		const { code, stderr } = await runJson({ env, args, timeoutMs: PATIENCE_MS }, "Hello?");
		if (code !== 0) throw new Error(`pi exited with ${code}: ${stderr}`);
		return performance.now() - begin;
	} finally {
		await env.cleanup();
		await cache.remove();
		await server.close();
	}
}
