/**
 * Checks an answer against its schema, in a thread of its own with a deadline and little memory: a pattern that backtracks
 * without end, or a schema that makes the validator go deeper and deeper, must not stop everything here.
 */
import { Worker } from "node:worker_threads";
import type { ValidationError } from "@pi-subagents/progress";
import { messageOf } from "../best-effort.ts";
import { type Clock, systemClock } from "../clock.ts";
import type { OutputSpec } from "../runner.ts";
import { workerFile } from "../worker-file.ts";
import { Turnstile } from "./turnstile.ts";

export interface Order {
	schema: OutputSpec["schema"];
	json: string;
}

/** No errors: it matches. A problem: nobody can say. */
export type Finding = { errors: ValidationError[] } | { problem: string };

export interface ValidateOptions {
	/** Default: the machine's own. */
	clock?: Clock;
	/** How long it may take once it runs. Default 2 s. */
	deadlineMs?: number;
}

const PROGRAM = { name: "output-worker", source: "./worker.ts" };
const DEADLINE_MS = 2_000;

/** For the heap of the thread. What an answer and its schema need is a small part of that. */
const MOST_MEGABYTES = 128;

/** A hundred agents may answer in the same moment; a thread takes several megabytes, and more are not faster. */
const threads = new Turnstile(4);

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
		// It keeps the process alive until then: without a terminal nothing else may.
		const thread = new Worker(workerFile(import.meta.url, PROGRAM), {
			workerData: order,
			// Nothing of ours goes with it: no loaders, no environment, no words on our output.
			execArgv: [],
			env: {},
			stdout: true,
			stderr: true,
			resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES, maxYoungGenerationSizeMb: MOST_MEGABYTES / 4 },
		});
		worker = thread;
		return await new Promise<Finding>((resolve, reject) => {
			thread.on("message", (word: "ready" | Finding) => {
				if (word !== "ready") return resolve(word);
				// Until now it was the machine that is slow.
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

/** In steps: what a machine slept through, or was too busy to count, is no time that the thread had. */
const STEPS = 10;

function countDown(clock: Clock, ms: number, onOver: () => void): () => void {
	let cancel = () => {};
	const step = (left: number): void => {
		cancel = clock.after(ms / STEPS, () => (left > 1 ? step(left - 1) : onOver()));
	};
	step(STEPS);
	return () => cancel();
}
