/** Tmux servers of a test: none of them outlives its environment. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PiEnv, TempDir } from "@pi-subagents-dev/testkit";
import { expect } from "vitest";

/** `home` is the environment's TMUX_TMPDIR, and goes with it. */
export function endTmuxWith(env: PiEnv, home: TempDir): void {
	const call = async (...args: string[]) => (await promisify(execFile)("tmux", args, { env: env.variables })).stdout;
	env.onCleanup(async () => {
		for (const server of [
			["-L", "pi-subagents"],
			["-S", join(home.path, "users")],
		]) {
			const pids = await call(...server, "list-panes", "-a", "-F", "#{pane_pid}").catch(() => ""); // it is gone
			if (pids !== "") await call(...server, "kill-server");
			await expect.poll(() => pids.split("\n").filter(Boolean).some(isRunning)).toBe(false);
		}
		await home.remove();
	});
}

function isRunning(pid: string): boolean {
	try {
		return process.kill(Number(pid), 0);
	} catch {
		return false;
	}
}
