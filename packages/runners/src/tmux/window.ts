/** Opens a window: in the user's tmux session, or in our own server. */

import { sanitize } from "@pi-subagents/progress";
import { type Caller, Refusal, tmux } from "./command.ts";

export interface WindowOrder extends Caller {
	/** Program and at least one argument: tmux would give a program alone to a shell. */
	argv: readonly string[];
	/** For people. */
	title: string;
}

export interface Window {
	/** The program's process. */
	pid: number;
	/** Where it is and how to get there. */
	hint: string;
	close(): Promise<void>;
}

/** A tmux server and a session in it. */
interface TmuxTarget {
	server: readonly string[];
	session: string;
	isUsers: boolean;
}

/** Without the user's configuration, which is for another server: it may restore sessions, or end unattached ones. */
const OURS: TmuxTarget = { server: ["-L", "pi-subagents", "-f", "/dev/null"], session: "pi-subagents", isUsers: false };
/** Another process may open our server's first window, or close its last, between any two steps. */
const MAX_ATTEMPTS = 5;

export async function openWindow(order: WindowOrder): Promise<Window> {
	const users = await usersTarget(order);
	return users ? addWindow(users, order) : openOurs(order);
}

/** The session of our terminal. Undefined outside of tmux, or if that server is gone or refuses us. */
async function usersTarget(order: WindowOrder): Promise<TmuxTarget | undefined> {
	const { TMUX = "", TMUX_PANE: pane } = order.env;
	const path = /^(.+),\d+,\d+$/.exec(TMUX)?.[1];
	if (path === undefined || pane === undefined) return undefined;
	const server = ["-S", path];
	try {
		const session = (await tmux([...server, "display-message", "-p", "-t", pane, "#{session_id}"], order)).trim();
		return /^\$\d+$/.test(session) ? { server, session, isUsers: true } : undefined;
	} catch (error) {
		if (error instanceof Refusal) return undefined;
		throw error;
	}
}

async function openOurs(order: WindowOrder): Promise<Window> {
	const refusals = new Set<string>();
	for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		for (const open of [addWindow, newSession]) {
			try {
				return await open(OURS, order);
			} catch (error) {
				if (!(error instanceof Refusal)) throw error;
				refusals.add(error.message);
			}
		}
	}
	throw new Error([...refusals].join(" "));
}

/** As the last window, without switching to it. */
function addWindow(target: TmuxTarget, order: WindowOrder): Promise<Window> {
	const exactly = target.isUsers ? target.session : `=${target.session}`;
	return open(target, ["new-window", "-d", "-t", `${exactly}:`], order);
}

function newSession(target: TmuxTarget, order: WindowOrder): Promise<Window> {
	return open(target, ["new-session", "-d", "-s", target.session], order);
}

const FORMAT = "#{window_id} #{window_index} #{pane_pid} #{session_name}";

async function open({ server, isUsers }: TmuxTarget, how: readonly string[], order: WindowOrder): Promise<Window> {
	const { argv, title } = order;
	// The directory is the calling process's: tmux would expand commands in a directory argument.
	const words = ["-n", windowName(title), "-P", "-F", FORMAT, ...argv.map(literal)];
	const output = await tmux([...server, ...how, ...words], order);
	const [, id, index, pid, session] = /^(@\d+) (\d+) (\d+) (.*)/.exec(output) ?? [];
	if (id === undefined || index === undefined || session === undefined) {
		throw new Error(`tmux opened a window but answered: ${JSON.stringify(output)}`);
	}
	return {
		pid: Number(pid),
		hint: hintFor(title, isUsers ? { index, session } : { id }),
		async close() {
			await tmux([...server, "kill-window", "-t", id], order);
		},
	};
}

const MAX_NAME_LENGTH = 32;

/** The window's name. tmux expands `#{…}` in names and runs commands in `#(…)`, so only words stay. */
export function windowName(title: string): string {
	const words = sanitize(title)
		.replace(/[^\p{L}\p{M}\p{N} .,:_-]+/gu, " ")
		.replace(/ +/g, " ")
		.trim();
	return [...words].slice(0, MAX_NAME_LENGTH).join("").trim() || "agent";
}

/** A literal argument: a trailing semicolon would begin another tmux command. */
function literal(argument: string): string {
	return argument.replace(/;$/, "\\;");
}

/** In the user's tmux session, or in our own server. */
export type Whereabouts = { index: string; session: string } | { id: string };

export function hintFor(title: string, where: Whereabouts): string {
	const who = sanitize(title);
	if ("session" in where) {
		return `${who} runs in window ${where.index} of your tmux session ${sanitize(where.session)}.`;
	}
	return `To watch ${who}, run \`tmux -L pi-subagents attach -t ${where.id}\`. Press Ctrl+B, then d, to leave it.`;
}
