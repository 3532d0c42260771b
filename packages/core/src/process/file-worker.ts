/** Runs in a thread of its own: takes the steps that it is sent, in their order, and answers what failed. */
import { parentPort } from "node:worker_threads";
import { type FileStep, takeSteps } from "./file-steps.ts";

parentPort?.on("message", (jobs: readonly (readonly FileStep[])[]) => {
	parentPort?.postMessage(jobs.map(takeSteps));
});
