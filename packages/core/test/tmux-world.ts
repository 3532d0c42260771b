/** Real pi processes in windows of a real tmux, whose servers are found in a directory of the test alone. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { type ProcessWorld, processWorld } from "./process-world.ts";

export interface TmuxWorld extends ProcessWorld {
	/** The environment of whoever calls tmux. */
	variables: Record<string, string | undefined>;
	/** Calls tmux for our own server. Resolves with what it printed. */
	tmux(...args: string[]): Promise<string>;
	/** The names of the windows there; none when there is no server. */
	windows(): Promise<string[]>;
	/** Starts another server, for a user who works in tmux. Resolves with what that adds to the environment. */
	openUsersTmux(): Promise<{ TMUX: string; TMUX_PANE: string; socket: string }>;
}

export async function tmuxWorld(...given: Parameters<typeof processWorld>): Promise<TmuxWorld> {
	const world = await processWorld(...given);
	const home = await createTempDir("tmux-"); // a socket's path must be short
	const variables = { ...world.options.env, TMUX_TMPDIR: home.path };
	const call = async (...args: string[]) =>
		(await promisify(execFile)("tmux", args, { env: variables, cwd: world.env.cwd })).stdout;
	const tmux = (...args: string[]) => call("-L", "pi-subagents", ...args);
	const socket = join(home.path, "users");
	return {
		...world,
		options: {
			...world.options,
			env: variables,
			wrapper: fileURLToPath(new URL("tmux-wrapper.mjs", import.meta.url)),
		},
		spec: { ...world.spec, runner: "tmux" },
		variables,
		tmux,
		windows: async () => {
			const names = await tmux("list-windows", "-t", "pi-subagents", "-F", "#{window_name}").catch(() => "");
			return names.split("\n").filter((name) => name !== "");
		},
		async openUsersTmux() {
			await call("-S", socket, "-f", "/dev/null", "new-session", "-d", "-s", "work", "-n", "editor", "cat");
			const [pid, pane] = (await call("-S", socket, "display-message", "-p", "#{pid} #{pane_id}")).trim().split(" ");
			return { socket, TMUX: `${socket},${pid},0`, TMUX_PANE: String(pane) };
		},
		async [Symbol.asyncDispose]() {
			for (const server of [
				["-L", "pi-subagents"],
				["-S", socket],
			]) {
				await call(...server, "kill-server").catch(() => undefined); // one that is gone needs no end
			}
			await home.remove();
			await world[Symbol.asyncDispose]();
		},
	};
}
