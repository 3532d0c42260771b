/** Calls tmux and explains its failures. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { codeOf, isShortage, whyNotStarted } from "@pi-subagents/core/internal/base";
import { sanitize } from "@pi-subagents/progress";

export interface Caller {
	/** Where new windows are. */
	cwd: string;
	env: Readonly<Record<string, string | undefined>>;
}

/** tmux ran and refused. */
export class Refusal extends Error {}

const ANSWER_MS = 10_000;
const WITHOUT = "or run the agent without a window (`runner: process`)";

/** Windows has no tmux, and its sockets have no paths: what would fail later is said at once. */
export function assertTmuxRuns(platform: NodeJS.Platform): void {
	if (platform === "win32")
		throw new Error("tmux does not run on Windows. Run the agent without a window (`runner: process`).");
}

/** Resolves with its output. */
export function tmux(args: readonly string[], { cwd, env }: Caller): Promise<string> {
	const options = { cwd, env: modest(env), timeout: ANSWER_MS, killSignal: "SIGKILL" } as const;
	return new Promise((resolve, reject) => {
		execFile("tmux", args, options, (error, stdout, stderr) => {
			if (!error) resolve(stdout);
			else if (codeOf(error) === "ENOENT") reject(new Error(whatIsMissing(cwd)));
			else if (isShortage(error)) reject(new Error(`tmux could not be started: ${whyNotStarted(error)}`));
			else if (error.killed) reject(new Error(`tmux did not answer in ${ANSWER_MS / 1_000} s. End it, ${WITHOUT}.`));
			else reject(new Refusal(`tmux opened no window: ${sanitize(stderr) || error.message}`));
		});
	});
}

function whatIsMissing(cwd: string): string {
	if (!existsSync(cwd)) return `The agent's directory is gone: ${cwd}`;
	return `tmux is not installed, or not on the PATH. Install it (\`apt install tmux\`, \`brew install tmux\`), ${WITHOUT}.`;
}

const NEEDED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_\w+|TZ|TMUX_TMPDIR)$/;

/** A server started by this call keeps its environment and passes it to all windows: none of the user's secrets. */
function modest(env: Caller["env"]): Record<string, string | undefined> {
	return Object.fromEntries(Object.entries(env).filter(([name]) => NEEDED.test(name)));
}
