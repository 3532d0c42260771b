/** The wrapper around a real pi, whose model answers by a rule. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
	type Bench,
	callTool,
	createBench,
	type PiBinary,
	type RequestView,
	type Rule,
	say,
} from "@pi-subagents-dev/testkit";
import { onTestFinished } from "vitest";
import type { RunSpec } from "../../../../core/src/index.ts";
import { spec as anySpec } from "../../../../core/test/fixtures/events.ts";
import { RUN_FILES } from "../../../../runs/src/format/layout.ts";
import { piArguments } from "../../../src/process/pi/arguments.ts";
import { buildOnce } from "../../fixtures/build-once.ts";
import { type WrapperWorld, wrapperWorld } from "./fixture.ts";

export type PiWorld = WrapperWorld & Pick<Bench, "server" | "env">;

export interface Around {
	spec?: Partial<RunSpec>;
	bench?: Omit<Parameters<typeof createBench>[0], "rules">;
	/** The source of an extension of the user's that it loads. */
	extension?: string;
	/** Loaded into the wrapper before its own code. */
	preload?: URL;
}

export async function piWorld(
	pi: PiBinary,
	rule: Rule,
	{ spec, bench: options, extension, preload }: Around = {},
): Promise<PiWorld> {
	const { childEntry } = await buildOnce();
	const bench = await createBench({ rules: [rule], ...options });
	onTestFinished(bench.close);
	const { env } = bench;
	const extensions = extension === undefined ? [] : [join(env.root, "extension.js")];
	for (const path of extensions) await writeFile(path, extension ?? "");
	const whole: RunSpec = { ...anySpec, model: "fake/fake-1", cwd: env.cwd, tools: ["ls"], ...spec };
	const [command, ...leading] = pi.command;
	const world = await wrapperWorld({
		spec: whole,
		env: preload ? { ...env.variables, NODE_OPTIONS: `--require "${fileURLToPath(preload)}"` } : env.variables,
		launch: (runDir) => {
			const facts = { runDir, entries: [childEntry], isProjectTrusted: false, extensions };
			return { command, args: [...leading, ...piArguments(whole, facts)] };
		},
	});
	await writeFile(join(world.runDir, RUN_FILES.systemPrompt), "You look around.");
	return { ...world, server: bench.server, env };
}

export const hasWorked = ({ messages }: RequestView) => messages.some(({ role }) => role === "tool");
export const worksThenSays =
	(text: string): Rule =>
	(request) =>
		hasWorked(request) ? say(text) : callTool("ls", { path: "." });

/** Everything that pi started for this run carries its directory in the environment. */
export async function processesOf(runDir: string): Promise<string[]> {
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")));
	return pids.filter((_pid, index) => environments[index]?.includes(`PI_SUBAGENTS_RUN_DIR=${runDir}\0`));
}
