/** `pi-subagents-worker up`: a whole fleet on this machine, with one command. Ends with Ctrl+C and leaves nothing running. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { messageOf } from "@pi-subagents/core/internal/base";
import { signalChild } from "@pi-subagents/core/internal/signals";
import { commandText } from "@pi-subagents/core/shell";
import { claimDir, releaseDir } from "@pi-subagents/runs";
import { installation } from "../nats/load.ts";
import { type EngineProcess, findNatsServer, HOW_TO_INSTALL, startEngine } from "./engine-process.ts";

export interface UpOptions {
	agentDir: string;
	/** The worker's program, and the arguments that it gets besides the engine's address. */
	worker: string;
	args: readonly string[];
	print: (text: string) => void;
	/** Fires when it should end. */
	signal: AbortSignal;
}

/** Between two attempts to start what has ended. */
const AGAIN_MS = 1_000;
const STOP_MS = 15_000;

/** Resolves with an exit code. */
export async function up(options: UpOptions): Promise<number> {
	const { agentDir, print, signal } = options;
	const program = findNatsServer();
	if (program === undefined) {
		print(HOW_TO_INSTALL);
		return 1;
	}
	const dir = join(agentDir, "state", "subagents", "engine");
	await mkdir(dir, { recursive: true, mode: 0o700 });
	const claim = await claimDir(dir);
	if (!claim.isOurs) {
		print(`A fleet is already running here (process ${claim.owner.pid}).\n`);
		return 1;
	}
	const first = await startEngine(program, dir).catch((error: unknown) => messageOf(error));
	if (typeof first === "string") {
		print(`${first}.\n`);
		releaseDir(dir);
		return 1;
	}
	let engine = first;
	const worker = new KeptWorker(options, engine);
	try {
		const line = await worker.start();
		print(greeting(engine, line, agentDir));
		while (!signal.aborted) {
			const why = await Promise.race([engine.failed, aborted(signal)]);
			if (signal.aborted) break;
			print(`nats-server ended (${why}) and is started again.\n`);
			engine = (await startedAgain(program, dir, options)) ?? engine;
		}
		print("\nEnding the fleet …\n");
	} finally {
		await worker.stop();
		await engine.stop();
		releaseDir(dir);
	}
	print("All of its processes have ended.\n");
	return 0;
}

/** With the same port, which the worker and the settings name. Tries until that is free; undefined if it should end. */
async function startedAgain(
	program: string,
	dir: string,
	{ print, signal }: UpOptions,
): Promise<EngineProcess | undefined> {
	let told = "";
	while (!signal.aborted) {
		await Promise.race([pause(AGAIN_MS), aborted(signal)]);
		const engine = await startEngine(program, dir, { stays: true }).catch((error: unknown) => messageOf(error));
		if (typeof engine !== "string") return engine;
		if (engine !== told) print(`${engine}. It is tried again until Ctrl+C.\n`);
		told = engine;
	}
	return undefined;
}

/** Started again when it ends by itself: what its agents do meanwhile is not lost. */
class KeptWorker {
	readonly #options: UpOptions;
	readonly #engine: EngineProcess;
	#child: ChildProcess | undefined;
	#isStopping = false;

	constructor(options: UpOptions, engine: EngineProcess) {
		this.#options = options;
		this.#engine = engine;
	}

	/** Resolves with the line that says what it offers. */
	async start(): Promise<string> {
		const { worker, args } = this.#options;
		const { url, tokenFile } = this.#engine;
		const words = [worker, "--nats", url, "--token-file", tokenFile, ...args];
		// Its own group: it must end before the engine does.
		const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"], detached: true });
		this.#child = child;
		const [said] = await Promise.race([
			once(child.stdout.setEncoding("utf8"), "data"),
			once(child, "exit").then(([code]) => {
				throw new Error(`the worker ended with exit code ${code}`);
			}),
		]);
		child.once("exit", (code) => void this.#ended(code));
		return String(said).trim();
	}

	async stop(): Promise<void> {
		this.#isStopping = true;
		const child = this.#child;
		if (!child || child.exitCode !== null || child.signalCode !== null) return;
		const ended = once(child, "exit");
		signalChild(child, "SIGTERM");
		const timer = setTimeout(() => signalChild(child, "SIGKILL"), STOP_MS);
		await ended;
		clearTimeout(timer);
	}

	async #ended(code: number | null): Promise<void> {
		if (this.#isStopping) return;
		this.#options.print(`The worker ended (${code ?? "killed"}) and is started again.\n`);
		await pause(AGAIN_MS);
		if (!this.#isStopping) await this.start().catch(() => this.#ended(null));
	}
}

function greeting({ url, tokenFile, version, movedFrom }: EngineProcess, worker: string, agentDir: string): string {
	const settings = { machines: { fleet: { nats: url, tokenFile: fromHome(tokenFile) } } };
	const json = JSON.stringify(settings, undefined, 2).replace(/^/gm, "  ");
	const moved =
		movedFrom === undefined
			? ""
			: `Port ${movedFrom}, which the engine had before, is not free: another program uses it. Settings and workers that name it need the new address.\n\n`;
	return `The fleet is up.

${moved}  engine   nats-server ${version} on ${url}, for this machine only
  token    ${fromHome(tokenFile)}, which only you can read
  worker   ${worker.replace(/^worker /, "")}

Put this in ${fromHome(join(agentDir, "subagents.json"))}:

${json}

and install once what pi needs to reach a fleet:

  ${installation(shellPath(join(agentDir, "npm")))}

Then an agent runs there with \`machine: fleet\`, in a call or a preset. For more workers, in another terminal:

  npx @pi-subagents/remote --nats ${url} --token-file ${shellPath(tokenFile)} --name two

Ctrl+C ends it.
`;
}

/** A path as a word of a shell, which finds the home directory only outside quotes. */
export function shellPath(path: string): string {
	const short = fromHome(path);
	return commandText([short]) === short ? short : commandText([path]);
}

function fromHome(path: string): string {
	const home = homedir();
	return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function aborted(signal: AbortSignal): Promise<string> {
	if (signal.aborted) return Promise.resolve("");
	return new Promise((resolve) => signal.addEventListener("abort", () => resolve(""), { once: true }));
}

function pause(ms: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, ms));
}
