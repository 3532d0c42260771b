/** The program of the file thread: runs the steps it receives, in order, and replies with what failed. */
import { parentPort } from "node:worker_threads";
import { type FileStep, takeSteps } from "./file-steps.ts";

parentPort?.on("message", (jobs: readonly (readonly FileStep[])[]) => {
	parentPort?.postMessage(jobs.map(takeSteps));
});
