/**
 * A thread that writes small files. Each step of each file would else be a trip to the pool of threads that all share, some
 * forty for one agent, and whatever else needs the pool waits behind them. Here what was asked within a moment goes in one
 * message, and is done in order.
 */
import { Worker } from "node:worker_threads";
import { workerFile } from "../worker-file.ts";
import { type Faults, type FileStep, takeSteps } from "./file-steps.ts";

interface Job {
	steps: readonly FileStep[];
	done: (faults: Faults) => void;
}

const PROGRAM = { name: "file-worker", source: "./file-worker.ts" };

/** To wake another thread is what costs; nobody waits for a file, except who hurries. */
const GATHER_MS = 10;

/** It is small, and takes a moment to start: so it stays while agents come and go. */
const IDLE_MS = 60_000;
const YOUNG_MEGABYTES = 4;

export class FileThread {
	readonly #program: string | undefined;
	/** Asked, and not sent yet. */
	#next: Job[] = [];
	#sending: NodeJS.Timeout | undefined;
	#hurried = 0;
	/** Sent and not answered, one list for each message. */
	readonly #sent: Job[][] = [];
	#thread: Worker | undefined;
	/** There can be no thread: everything is done in this one. */
	#isAlone = false;
	#idle: NodeJS.Timeout | undefined;

	/** `program` is what runs in the thread, where it is not found beside this file. */
	constructor({ program }: { program?: string } = {}) {
		this.#program = program;
	}

	/** Resolves when the steps have been taken, with what failed. Never rejects. */
	take(steps: readonly FileStep[]): Promise<Faults> {
		return new Promise((done) => {
			this.#next.push({ steps, done });
			this.#sending ??= setTimeout(this.#send, this.#hurried > 0 ? 0 : GATHER_MS);
		});
	}

	/** Somebody waits for this: until it is there, what is asked is sent at once. */
	async hurry<Result>(work: Promise<Result>): Promise<Result> {
		this.#hurried++;
		if (this.#next.length > 0) this.#send();
		try {
			return await work;
		} finally {
			this.#hurried--;
		}
	}

	/** Ends the thread when it has done everything. It comes again when it is needed. */
	async close(): Promise<void> {
		if (this.#next.length > 0 || this.#sent.length > 0) await this.hurry(this.take([]));
		await this.#end();
	}

	readonly #send = (): void => {
		clearTimeout(this.#sending);
		this.#sending = undefined;
		const jobs = this.#next;
		this.#next = [];
		clearTimeout(this.#idle);
		if (!this.#isAlone) this.#thread ??= this.#start();
		const thread = this.#thread;
		if (!thread) {
			doHere(jobs);
			return;
		}
		this.#sent.push(jobs);
		thread.ref(); // what is asked for is written before the process ends
		thread.postMessage(jobs.map(({ steps }) => steps));
	};

	#start(): Worker | undefined {
		try {
			// Nothing of ours goes with it: no loaders, no environment, no words on our output.
			const thread = new Worker(this.#program ?? workerFile(import.meta.url, PROGRAM), {
				...{ execArgv: [], env: {}, stdout: true, stderr: true },
				resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
			});
			thread.on("message", this.#hear);
			thread.on("error", () => this.#despair(thread));
			thread.on("exit", () => this.#despair(thread));
			return thread;
		} catch {
			this.#isAlone = true; // it costs time, and nothing else
			return undefined;
		}
	}

	readonly #hear = (answers: readonly Faults[]): void => {
		const jobs = this.#sent.shift() ?? [];
		for (const [index, { done }] of jobs.entries()) done(answers[index] ?? []);
		if (this.#sent.length > 0) return;
		this.#thread?.unref();
		this.#idle = setTimeout(() => void this.#end(), IDLE_MS);
		this.#idle.unref();
	};

	async #end(): Promise<void> {
		clearTimeout(this.#idle);
		const thread = this.#thread;
		if (!thread || this.#sent.length > 0) return;
		this.#thread = undefined;
		await thread.terminate();
	}

	/** It did not end because of us. A file that it had begun is there already, and stays as it is. */
	#despair(thread: Worker): void {
		if (this.#thread !== thread) return;
		this.#thread = undefined;
		this.#isAlone = true;
		doHere(this.#sent.splice(0).flat());
	}
}

function doHere(jobs: readonly Job[]): void {
	for (const { steps, done } of jobs) done(takeSteps(steps));
}

/** One for all: what belongs to agents of one moment goes in one message. */
export const fileThread = new FileThread();
