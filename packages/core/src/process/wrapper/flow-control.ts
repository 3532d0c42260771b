/** Ctrl+S in a window would stop its output, and with that the run: what is written to a terminal waits for it. */
import { spawn } from "node:child_process";

/** Lets Ctrl+S do nothing. Where there is no terminal, or no program that can change it, all stays as it is. */
export function ignoreFlowControl(): Promise<void> {
	return new Promise((resolve) => {
		if (!process.stdin.isTTY) return resolve();
		const stty = spawn("stty", ["-ixon"], { stdio: ["inherit", "ignore", "ignore"] });
		stty.once("error", () => resolve()).once("close", () => resolve());
	});
}
