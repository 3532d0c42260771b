#!/usr/bin/env node
/**
 * `npm test`: everything that must hold on every commit. The end-to-end tests take longest and mostly wait, so they start
 * as soon as the packages are built, beside everything else: left to itself, turbo starts them last. Both lanes run to
 * their end whatever fails; the last line lists how long each took.
 */
import { spawn } from "node:child_process";

const E2E = "@pi-subagents-dev/e2e";
/** Their tests read the page of reports, which exists only when it is built. All others run on sources. */
const NEED_PAGE = ["@pi-subagents/cli", "@pi-subagents/commands", "@pi-subagents/report"];

const built = turbo(["run", "build", "--filter=./packages/*"]);

const ended = await Promise.all([
	runLane("end to end", async () => (await built) && turbo(["run", "test", `--filter=${E2E}`])),
	runLane("all else", async () => {
		const others = [E2E, ...NEED_PAGE].map((name) => `--filter=!${name}`);
		const isOk = await turbo(["run", "lint", "types", "test", ...others, "--concurrency=2"]);
		const page = NEED_PAGE.map((name) => `--filter=${name}`);
		return (await built) && (await turbo(["run", "test", ...page, "--concurrency=2"])) && isOk;
	}),
]);
console.log(
	`\n${ended.map(({ name, isOk, seconds }) => `${name}: ${isOk ? "passed" : "FAILED"} (${seconds}s)`).join("; ")}`,
);
process.exitCode = ended.every(({ isOk }) => isOk) ? 0 : 1;

async function runLane(name, work) {
	const start = Date.now();
	const isOk = await work();
	return { name, isOk, seconds: Math.round((Date.now() - start) / 1_000) };
}

/** Whether all tasks passed. */
function turbo(args) {
	// On Windows turbo is a .cmd file, which only a shell can start. The arguments are our own, never untrusted input.
	const child = spawn("turbo", [...args, "--continue", "--output-logs=new-only"], {
		stdio: ["ignore", "inherit", "inherit"],
		shell: process.platform === "win32",
	});
	return new Promise((resolve) => {
		child.once("error", (error) => {
			console.error(`could not start turbo (run this through a package script): ${error.message}`);
			resolve(false);
		});
		child.once("close", (status) => resolve(status === 0));
	});
}
