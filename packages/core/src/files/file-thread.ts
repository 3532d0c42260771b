/**
 * A thread that writes small files after the work that they describe. Steps that gather within a moment are sent in one
 * message and run in order; their content is fixed when they are sent, so a file is written in few pieces. Otherwise
 * each step would go through Node's shared thread pool, and everything else that needs the pool would queue behind it.
 */
import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { builtFile } from "./built-file.ts";
import { type Faults, type FileStep, takeSteps } from "./file-steps.ts";

/** Made when they are sent: until then more may gather. */
type Steps = readonly FileStep[] | (() => readonly FileStep[]);

interface Job {
	steps: Steps;
	done: (faults: Faults) => void;
}

/** The same, with its steps as they are executed. */
type Sent = Job & { steps: readonly FileStep[] };

const PROGRAM = ["./file-worker.js", "../file-worker.js", "./file-worker.ts"] as const;

const LOOK_MS = 25;
/** Usually nothing waits for a file, and most of a short answer's agents are done by then. */
const LOOKS = 4;
/** The same for an event loop that is busy for more than this share of the time: on few cores the thread slows it down. */
const BUSY = 0.8;
const BUSY_LOOKS = 20;
/** In one message; the next follows its answer. Steps that wait for it are not made yet, so a thousand agents hold little. */
const MAX_JOBS = 32;

/** Starting takes a moment, so the thread stays while agents come and go. */
const IDLE_MS = 60_000;
const YOUNG_MEGABYTES = 4;

export class FileThread {
	readonly #program: string | undefined;
	/** Queued, not sent yet. */
	readonly #next: Job[] = [];
	#sending: NodeJS.Timeout | undefined;
	#looks = 0;
	#loop = performance.eventLoopUtilization();
	#hurried = 0;
	/** Sent and not answered: one message at a time. */
	#sent: Sent[] = [];
	/** Not all went in that message. */
	#isCut = false;
	#thread: Worker | undefined;
	/** No thread can be started: this one does the work. */
	#isAlone = false;
	#idle: NodeJS.Timeout | undefined;

	/** The thread's program, where it is not found beside this file. */
	constructor({ program }: { program?: string } = {}) {
		this.#program = program;
	}

	/** Resolves with the faults when the steps are done. Never rejects. */
	take(steps: Steps): Promise<Faults> {
		return new Promise((done) => {
			this.#next.push({ steps, done });
			this.#gather();
		});
	}

	/** Until this work is done, steps are sent immediately. */
	async hurry<Result>(work: Promise<Result>): Promise<Result> {
		this.#hurried++;
		if (this.#sent.length === 0 && this.#next.length > 0) this.#send();
		try {
			return await work;
		} finally {
			this.#hurried--;
		}
	}

	/** Ends the thread after its work. It starts again when needed. */
	async close(): Promise<void> {
		if (this.#next.length > 0 || this.#sent.length > 0) await this.hurry(this.take([]));
		await this.#end();
	}

	#gather(): void {
		if (this.#sending || this.#sent.length > 0 || this.#next.length === 0) return;
		this.#looks = 0;
		this.#loop = performance.eventLoopUtilization();
		this.#sending = setTimeout(this.#look, this.#hurried > 0 ? 0 : LOOK_MS);
	}

	/** Starts the thread at the first look: later, the start would hold up the next agents. */
	readonly #look = (): void => {
		if (!this.#isAlone) this.#thread ??= this.#start();
		const isBusy = performance.eventLoopUtilization(this.#loop).utilization > BUSY;
		if (this.#hurried > 0 || ++this.#looks >= (isBusy ? BUSY_LOOKS : LOOKS)) this.#send();
		else this.#sending = setTimeout(this.#look, LOOK_MS);
	};

	readonly #send = (): void => {
		clearTimeout(this.#sending);
		this.#sending = undefined;
		clearTimeout(this.#idle);
		if (!this.#isAlone) this.#thread ??= this.#start();
		const thread = this.#thread;
		const made = ({ steps, done }: Job) => ({ steps: typeof steps === "function" ? steps() : steps, done });
		const jobs = this.#next.splice(0, thread ? MAX_JOBS : this.#next.length).map(made);
		if (thread) {
			this.#sent = jobs;
			this.#isCut = this.#next.length > 0;
			thread.ref(); // the process must not end before the files are written
			thread.postMessage(jobs.map(({ steps }) => steps));
		} else doHere(jobs);
	};

	#start(): Worker | undefined {
		try {
			// Isolated: no loaders, no environment, no output on our streams.
			const thread = new Worker(this.#program ?? builtFile(import.meta.url, PROGRAM), {
				...{ execArgv: [], env: {}, stdout: true, stderr: true },
				resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
			});
			thread.on("message", this.#hear);
			thread.on("error", () => this.#despair(thread));
			thread.on("exit", () => this.#despair(thread));
			return thread;
		} catch {
			this.#isAlone = true; // slower, but nothing is lost: also after an update
			return undefined;
		}
	}

	readonly #hear = (answers: readonly Faults[]): void => {
		for (const [index, { done }] of this.#sent.splice(0).entries()) done(answers[index] ?? []);
		if (this.#isCut) this.#send();
		else this.#gather();
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

	/** The thread died. A file that it had begun exists already and stays as it is. */
	#despair(thread: Worker): void {
		if (this.#thread !== thread) return;
		this.#thread = undefined;
		this.#isAlone = true;
		doHere(this.#sent.splice(0));
		this.#gather();
	}
}

function doHere(jobs: readonly Sent[]): void {
	for (const { steps, done } of jobs) done(takeSteps(steps));
}

/** Shared by all agents, so that their steps go in one message. */
export const fileThread = new FileThread();
