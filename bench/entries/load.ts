/** What the extension adds to the start of pi: one turn in JSON mode, from start to exit, beside pi without it. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createPiEnv, createTempDir, otherwise, runJson, say, startModelServer } from "@pi-subagents-dev/testkit";
import type { Benchmark, Subject } from "../measure.ts";

const extension = dirname(fileURLToPath(import.meta.resolve("@pi-subagents/extension/package.json")));

/** What pi itself needs to load any extension at all. */
const emptyExtension = fileURLToPath(new URL("../fixtures/empty-extension.ts", import.meta.url));

export const ownLoad: Benchmark = {
	name: "load: start to exit of pi, warm, beside an empty extension",
	target: 1.05,
	unit: "ms",
	rounds: 15,
	ours: start("with the extension", { extensions: [extension], isCold: false }),
	against: start("empty extension", { extensions: [emptyExtension], isCold: false }),
};

export const warmLoad: Benchmark = {
	name: "load: start to exit of pi, warm",
	target: 1.07,
	unit: "ms",
	rounds: 15,
	ours: start("with the extension", { extensions: [extension], isCold: false }),
	against: start("pi alone", { extensions: [], isCold: false }),
};

/** Cold means after an installation, an upgrade or a reboot: no compiled code is cached anywhere. */
export const coldLoad: Benchmark = {
	name: "load: start to exit of pi, cold",
	target: 1.6,
	unit: "ms",
	rounds: 9,
	ours: start("with the extension", { extensions: [extension], isCold: true }),
	against: start("pi alone", { extensions: [], isCold: true }),
};

function start(name: string, { extensions, isCold }: { extensions: string[]; isCold: boolean }): Subject {
	return {
		name,
		async once() {
			const server = await startModelServer({ rules: [otherwise(say("Hello."))] });
			const cache = await createTempDir();
			const variables: Record<string, string> = isCold ? { NODE_COMPILE_CACHE: cache.path, TMPDIR: cache.path } : {};
			const env = await createPiEnv({ server, extensions, variables });
			try {
				const begin = performance.now();
				const { code, stderr } = await runJson({ env, args: ["--no-session"] }, "Hello?");
				if (code !== 0) throw new Error(`pi exited with ${code}: ${stderr}`);
				return performance.now() - begin;
			} finally {
				await env.cleanup();
				await cache.remove();
				await server.close();
			}
		},
	};
}
