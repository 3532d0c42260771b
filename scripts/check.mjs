#!/usr/bin/env node
/**
 * `npm test`: everything that must hold on every commit. The end-to-end tests take longest and mostly wait, so they start
 * as soon as the packages are built, beside everything else: left to itself, turbo starts them last. Both lanes run to
 * their end whatever fails; the last line lists how long each took.
 */
import { spawn } from "node:child_process";

const E2E = "@pi-subagents-dev/e2e";
const TASK = ["--continue", "--output-logs=new-only"];
const LANES = {
	"end to end": [
		["run", "build", "--filter=./packages/*", ...TASK],
		["run", "test", `--filter=${E2E}`, ...TASK],
	],
	"all else": [["run", "lint", "types", "test", `--filter=!${E2E}`, "--concurrency=2", ...TASK]],
};

const ended = await Promise.all(Object.entries(LANES).map(([name, steps]) => runLane(name, steps)));
console.log(
	`\n${ended.map(({ name, isOk, seconds }) => `${name}: ${isOk ? "passed" : "FAILED"} (${seconds}s)`).join("; ")}`,
);
process.exitCode = ended.every(({ isOk }) => isOk) ? 0 : 1;

/** A later step of a lane needs what the earlier ones made. */
async function runLane(name, steps) {
	const start = Date.now();
	let isOk = true;
	for (const args of steps) if (isOk) isOk = (await turbo(args)) === 0;
	return { name, isOk, seconds: Math.round((Date.now() - start) / 1_000) };
}

function turbo(args) {
	// On Windows turbo is a .cmd file, which only a shell can start. The arguments are our own, never untrusted input.
	const child = spawn("turbo", args, { stdio: ["ignore", "inherit", "inherit"], shell: process.platform === "win32" });
	return new Promise((resolve) => {
		child.once("error", (error) => {
			console.error(`could not start turbo (run this through a package script): ${error.message}`);
			resolve(1);
		});
		child.once("close", (status) => resolve(status ?? 1));
	});
}
