/** A worker of the fleet as its own process, as on another machine. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type PiEnv, piUnderTest } from "@pi-subagents-dev/testkit";
import type { EngineProcess } from "../../packages/remote/src/fleet/engine-process.ts";

export interface DemoWorkerOptions {
	engine: EngineProcess;
	env: PiEnv;
	slots: number;
	/** The worker's program. */
	program: string;
}

export class DemoWorker {
	readonly name: string;
	readonly #options: DemoWorkerOptions;
	#child: ChildProcess | undefined;

	constructor(name: string, options: DemoWorkerOptions) {
		this.name = name;
		this.#options = options;
	}

	async start(): Promise<void> {
		const { engine, env, slots, program } = this.#options;
		const { url, tokenFile } = engine;
		const pi = piUnderTest().command.flatMap((word) => ["--pi", word]);
		const place = ["--nats", url, "--token-file", tokenFile, "--agent-dir", env.agentDir];
		const args = [program, ...place, "--name", this.name, "--slots", String(slots), ...pi];
		this.#child = spawn(process.execPath, args, { env: env.variables, stdio: ["ignore", "pipe", "inherit"] });
		await Promise.race([
			once(this.#child.stdout ?? process.stdin, "data"),
			once(this.#child, "exit").then(([code]) => {
				throw new Error(`${this.name} ended with exit code ${code}`);
			}),
		]);
	}

	/** The agents whose files it has. */
	async agents(): Promise<string[]> {
		const runs = join(this.#options.env.agentDir, "state", "subagents", "fleet", this.name, "runs");
		return (await readdir(runs).catch(() => [])).map((key) => key.split("-")[0] ?? "").sort();
	}

	async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
		const child = this.#child;
		if (!child || child.exitCode !== null || child.signalCode !== null) return;
		const ended = once(child, "exit");
		child.kill(signal);
		await ended;
	}
}
