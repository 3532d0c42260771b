/**
 * Checks an answer against its schema in a thread with a deadline and little memory: a backtracking pattern or a
 * schema that recurses deeper and deeper must not block this process.
 */

import { Worker } from "node:worker_threads";
import type { ValidationError } from "@pi-subagents/progress";
import { messageOf } from "../base/best-effort.ts";
import { type Clock, countDown, systemClock } from "../base/clock.ts";
import { builtFile } from "../files/built-file.ts";
import { BUILD } from "../files/own-build.ts";
import { readPlainSync } from "../files/plain-file.ts";
import type { OutputSpec } from "../model/schema/spec.ts";

export interface Order {
	schema: OutputSpec["schema"];
	json: string;
}

/** No errors: it matches. A problem: it could not be checked. */
export type Finding = { errors: ValidationError[] } | { problem: string };

export interface ValidateOptions {
	/** Default: the system clock. */
	clock?: Clock;
	/** The time limit once it runs. Default 2 s. */
	deadlineMs?: number;
}

const PROGRAM = ["./output-worker.js", "../output-worker.js", "./worker.ts"] as const;
/** Of its text. */
const MAX_PROGRAM = 2 * 1024 * 1024;
const DEADLINE_MS = 2_000;

/** Heap limit of the thread; an answer and its schema need a small part of it. */
const MAX_MEGABYTES = 128;

/** Runs at most so many at once; the others queue. Pure. */
export class ConcurrencyLimit {
	#free: number;
	readonly #line: (() => void)[] = [];

	constructor(most: number) {
		this.#free = most;
	}

	async pass<Result>(work: () => Promise<Result>): Promise<Result> {
		if (this.#free > 0) this.#free--;
		else await new Promise<void>((resolve) => void this.#line.push(resolve));
		try {
			return await work();
		} finally {
			const next = this.#line.shift();
			if (next) next();
			else this.#free++;
		}
	}
}

/** A hundred agents may answer at the same time; each thread takes several megabytes, and more are not faster. */
const threads = new ConcurrencyLimit(4);

/** The thread's program. */
let kept: URL | undefined;

/**
 * Keeps the thread's program in memory, for an agent that starts now and answers after an update. Throws if that has
 * happened already. Where sources run there is nothing to keep.
 */
export function keepValidator(): void {
	if (BUILD === undefined || kept) return;
	const program = readPlainSync(builtFile(import.meta.url, PROGRAM), MAX_PROGRAM, { followsLinks: true });
	kept = new URL(`data:text/javascript;base64,${program.toString("base64")}`);
}

/** Never rejects. */
export function validate(
	order: Order,
	{ clock = systemClock, deadlineMs = DEADLINE_MS }: ValidateOptions = {},
): Promise<Finding> {
	return threads.pass(() => inThread(order, clock, deadlineMs));
}

async function inThread(order: Order, clock: Clock, deadlineMs: number): Promise<Finding> {
	let stopClock = () => {};
	let worker: Worker | undefined;
	try {
		// It keeps the process alive meanwhile: without a terminal nothing else may.
		const thread = new Worker(kept ?? builtFile(import.meta.url, PROGRAM), {
			workerData: order,
			// Isolated: no loaders, no environment, no output on our streams.
			execArgv: [],
			env: {},
			stdout: true,
			stderr: true,
			resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES, maxYoungGenerationSizeMb: MAX_MEGABYTES / 4 },
		});
		worker = thread;
		return await new Promise<Finding>((resolve, reject) => {
			thread.on("message", (word: "ready" | Finding) => {
				if (word !== "ready") return resolve(word);
				// The time limit starts now: before, only the machine was slow.
				const tooSlow = { problem: `it took longer than ${deadlineMs / 1_000} s; make the schema simpler` };
				stopClock = countDown(clock, deadlineMs, () => resolve(tooSlow));
			});
			thread.on("error", reject);
			thread.on("exit", () => reject(new Error("its thread ended without an answer")));
		});
	} catch (error) {
		return { problem: messageOf(error) };
	} finally {
		stopClock();
		await worker?.terminate();
	}
}
