/** Runs pi to its end; again with another model if pi does not know the first one. */

import type { Clock } from "@pi-subagents/core";
import { bestEffort, quoted } from "@pi-subagents/core/internal/base";
import { requireOwnBuild } from "@pi-subagents/core/internal/files";
import { identityOf, type RunPlace, RunProcesses } from "@pi-subagents/core/internal/signals";
import { sanitizeBlock } from "@pi-subagents/progress";
import type { Meta } from "@pi-subagents/runs";
import type { PiLaunch } from "@pi-subagents/runs/internal";
import { withModel } from "./arguments.ts";
import { extensionModelIn, missingExtension } from "./extension-models.ts";
import { type PiExit, PiProcess } from "./pi-process.ts";
import { isDelta, type Rpc } from "./rpc.ts";
import type { RunLog } from "./run-log.ts";

export interface RunPiOptions extends RunPlace {
	meta: Meta & { launch: PiLaunch };
	clock: Clock;
	log: RunLog;
	rpc: Rpc;
	/** A line about the message that pi is writing. */
	onDelta: (line: string) => void;
	onStart: (pi: PiProcess) => void;
	/** The model to use instead; undefined if there is none. */
	nextModel: (error: string) => string | undefined;
}

/** `why` describes how it ended. */
export async function runPi(options: RunPiOptions): Promise<{ exit: PiExit; why: string }> {
	const { meta, nextModel } = options;
	let { launch } = meta;
	for (;;) {
		requireOwnExtensions(launch.args);
		const stderr = new Tail();
		const exit = await untilEnded(options, launch, stderr);
		const [unknown] = (exit.code === 1 && UNKNOWN_MODEL.exec(stderr.text)) || [];
		const model = unknown === undefined ? undefined : nextModel(unknown);
		if (model === undefined) {
			const missing = unknown === undefined ? undefined : extensionModelIn(launch.args, launch.env);
			return { exit, why: missing === undefined ? exitError(exit, meta, stderr.text) : missingExtension(missing) };
		}
		launch = { ...launch, args: withModel(launch.args, model) };
	}
}

/** Between the launch and a start, the files that pi loads for us may have been replaced. */
function requireOwnExtensions(args: readonly string[]): void {
	for (const [index, path] of args.entries())
		if (args[index - 1] === "--extension") requireOwnBuild(path, import.meta.url);
}

/** pi's message before it begins. It tries unknown models of known providers. */
const UNKNOWN_MODEL = /Model "[^"\n]*" not found/;

async function untilEnded(
	{ agentDir, runDir, meta, clock, log, rpc, onDelta, onStart }: RunPiOptions,
	launch: PiLaunch,
	stderr: Tail,
): Promise<PiExit> {
	const pi = new PiProcess({
		launch,
		cwd: meta.cwd,
		runDir,
		clock,
		onLine: (line) => {
			if (isDelta(line)) return onDelta(line);
			log.stdout(line);
			rpc.hear(line);
		},
		onSkipped: (bytes) => rpc.skip(bytes),
		onStderr: (bytes) => {
			log.stderr(bytes);
			stderr.push(bytes);
		},
	});
	onStart(pi);
	if (pi.pid !== undefined) {
		const identity = await identityOf(pi.pid);
		const report = (message: string) => log.notice(message);
		const processes = new RunProcesses({ agentDir, runDir });
		await bestEffort("recording the agent's process", report, () => processes.recordChild(identity));
		log.say({ type: "child_started", ...identity });
	}
	return pi.ended;
}

const MAX_TAIL_BYTES = 16 * 1024;
const MAX_LINES = 20;
const MAX_LENGTH = 2_000;

/** Keeps the end of the output. */
class Tail {
	#bytes: Buffer = Buffer.alloc(0);

	push(bytes: Uint8Array): void {
		this.#bytes = Buffer.concat([this.#bytes, bytes]).subarray(-MAX_TAIL_BYTES);
	}

	/** Its last lines, sanitized. */
	get text(): string {
		const lines = sanitizeBlock(this.#bytes.toString("utf8")).split("\n");
		const spoken = lines.map((line) => line.trimEnd()).filter((line) => line !== "");
		return spoken.slice(-MAX_LINES).join("\n").slice(-MAX_LENGTH);
	}
}

function exitError({ code, signal, error }: PiExit, { launch, spec, cwd }: Meta, stderr: string): string {
	const where = spec.launcher === undefined ? "" : ` inside the launcher ${quoted(spec.launcher)}`;
	if (error !== undefined)
		return `pi could not be started${where} as ${launch?.around?.[0] ?? launch?.command} in ${cwd}: ${error}`;
	const how = signal === undefined ? `ended with exit code ${code}` : `was ended by ${signal}`;
	return `pi${where} ${how} before the agent had answered${stderr === "" ? "." : `:\n${stderr}`}`;
}
