/** `attach`: the tmux window of an agent, or else its transcript as it grows. */
import { execFile, spawn } from "node:child_process";
import type { RunOverview } from "@pi-subagents/runs";
import { type Context, find } from "./context.ts";
import { follow } from "./logs.ts";
import { requireOwnProcess } from "./orders.ts";

/** A pane of a tmux server. */
interface Pane {
	server: readonly string[];
	session: string;
	window: string;
}

/** Our own server, where agents started outside of tmux are. */
const OURS = ["-L", "pi-subagents"];
const FORMAT = "#{pane_pid} #{session_id} #{window_id}";
const ANSWER_MS = 5_000;

export async function attach(context: Context, [word = ""]: readonly string[]): Promise<number> {
	const run = await find(context, word);
	requireOwnProcess(run);
	const pane = context.stdout.isTTY ? await paneOf(run, context) : undefined;
	return pane ? enter(pane, context) : follow(context, run);
}

async function paneOf({ runner, holder }: RunOverview, { env }: Context): Promise<Pane | undefined> {
	if (runner !== "tmux" || !holder) return undefined;
	const users = /^(.+),\d+,\d+$/.exec(env.TMUX ?? "")?.[1];
	const servers = [...(users === undefined ? [] : [["-S", users]]), OURS, []];
	for (const server of servers) {
		const output = await ask([...server, "list-panes", "-a", "-F", FORMAT], env);
		const pane = paneIn(output, holder.pid);
		if (pane) return { server, ...pane };
	}
	return undefined;
}

/** Pure. */
export function paneIn(output: string, pid: number): Omit<Pane, "server"> | undefined {
	for (const line of output.split("\n")) {
		const [, found, session, window] = /^(\d+) (\$\d+) (@\d+)$/.exec(line) ?? [];
		if (session !== undefined && window !== undefined && Number(found) === pid) return { session, window };
	}
	return undefined;
}

/** Inside the same server the client switches to the window; otherwise this terminal shows it until Ctrl+B, d. */
async function enter({ server, session, window }: Pane, { env }: Context): Promise<number> {
	await ask([...server, "select-window", "-t", window], env);
	const isInside = server[0] === "-S";
	const how = isInside ? ["switch-client", "-t", session] : ["attach-session", "-t", session];
	const { TMUX: _outer, ...plain } = env;
	const tmux = spawn("tmux", [...server, ...how], { stdio: "inherit", env: isInside ? env : plain });
	return new Promise((resolve, reject) => {
		tmux.once("error", reject).once("close", (code) => resolve(code ?? 1));
	});
}

/** What tmux prints; nothing if it is missing or has no such server. */
function ask(args: readonly string[], env: Context["env"]): Promise<string> {
	return new Promise((resolve) => {
		execFile("tmux", args, { env, timeout: ANSWER_MS }, (error, stdout) => resolve(error ? "" : stdout));
	});
}
