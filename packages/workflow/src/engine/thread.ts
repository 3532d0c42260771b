/**
 * The thread that a script runs in, with its bounds: memory, and time between two waits. A script that exceeds them
 * ends with an error that names the bound.
 */
import { Worker } from "node:worker_threads";
import type { Clock } from "@pi-subagents/core";
import { countDown, messageOf } from "@pi-subagents/core/internal/base";
import { builtFile } from "@pi-subagents/core/internal/files";
import { type FromThread, MAX_TOGETHER, type ThreadData, type ToThread } from "../thread/messages.ts";

export interface ThreadLimits {
	/** How much memory the script may use. */
	memoryMb: number;
	/** How long it may compute without waiting for an answer. */
	cpuMs: number;
}

export interface ScriptThread {
	post(message: ToThread): void;
	/** Ends it, whatever it does: by itself, or after a second by force. */
	end(): void;
}

export interface ThreadEvents {
	onMessage(message: Exclude<FromThread, { type: "rest" }>): void;
	/** The script has computed what it could, with all answers that were posted. */
	onRest(): void;
	/** The thread is gone, and the script with it. */
	onBroken(why: string): void;
}

/** How long a thread has to end itself. */
const GRACE_MS = 1_000;

const PROGRAM = ["./workflow-worker.js", "../workflow-worker.js", "../thread/worker.ts"] as const;

export function startThread(
	data: ThreadData,
	{ memoryMb, cpuMs }: ThreadLimits,
	clock: Clock,
	{ onMessage, onRest, onBroken }: ThreadEvents,
): ScriptThread {
	const worker = new Worker(builtFile(import.meta.url, PROGRAM), {
		workerData: data,
		// Isolated: no loaders, no environment, no output on our streams.
		execArgv: [],
		env: {},
		stdout: true,
		stderr: true,
		resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: Math.max(8, memoryMb / 8) },
	});
	let posted = 0;
	let outbox: ToThread[] = [];
	let isOver = false;
	let stopClock: (() => void) | undefined;
	/** It ends itself where it can: V8 writes to pi's own output when a thread is cut off while it makes a context. */
	const end = () => {
		if (isOver) return;
		isOver = true;
		stopClock?.();
		worker.postMessage([{ type: "end" } satisfies ToThread]);
		const cutOff = setTimeout(() => void worker.terminate(), GRACE_MS).unref(); // the script computes
		worker.once("exit", () => clearTimeout(cutOff));
	};
	const breakOff = (why: string) => {
		if (isOver) return;
		end();
		onBroken(why);
	};
	const count = () => {
		stopClock ??= countDown(clock, cpuMs, () => {
			breakOff(`The script computed for ${cpuMs / 1_000} s without waiting for an agent. Is there an endless loop?`);
			void worker.terminate();
		});
	};
	worker.on("online", count); // before, only the machine was slow
	const take = (message: FromThread) => {
		if (isOver) return;
		if (message.type !== "rest") return onMessage(message);
		if (message.seen < posted) return;
		stopClock?.();
		stopClock = undefined;
		onRest();
	};
	worker.on("message", (messages: FromThread[]) => messages.forEach(take));
	worker.on("error", (error: Error & { code?: string }) =>
		breakOff(
			error.code === "ERR_WORKER_OUT_OF_MEMORY"
				? `The script used more than ${memoryMb} MB of memory.`
				: `The script could not be run: ${messageOf(error)}`,
		),
	);
	worker.on("exit", () => breakOff("The script's thread ended without a result."));
	/** All that was posted since the last time, as one message. */
	const send = () => {
		if (!isOver && outbox.length > 0) worker.postMessage(outbox);
		outbox = [];
	};
	return {
		post(message) {
			if (isOver) return;
			posted++;
			count();
			const waiting = outbox.push(message);
			if (waiting === 1) setImmediate(send);
			else if (waiting === MAX_TOGETHER) send();
		},
		end,
	};
}
