/** Opens a window: beside the one that this process runs in, or in a server of our own. */
import { type Caller, Refusal, tmux } from "./command.ts";
import { hintFor, literal, windowName } from "./words.ts";

export interface WindowOrder extends Caller {
	/** Program and arguments, at least one of them: a program alone would be given to a shell. */
	argv: readonly string[];
	/** What a person would call it. */
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
interface Place {
	server: readonly string[];
	session: string;
	isUsers: boolean;
}

/**
 * Without the user's configuration, which is made for another server: it may restore sessions there, or end those that
 * nobody looks at.
 */
const OURS: Place = { server: ["-L", "pi-subagents", "-f", "/dev/null"], session: "pi-subagents", isUsers: false };
/** Another process may open the first window of our server, or close the last one, between any two steps. */
const MAX_ATTEMPTS = 5;

export async function openWindow(order: WindowOrder): Promise<Window> {
	const users = await usersPlace(order);
	return users ? addWindow(users, order) : openOurs(order);
}

/** The session of the terminal that we run in. None if that is no tmux, or one that is gone or does not let us in. */
async function usersPlace(order: WindowOrder): Promise<Place | undefined> {
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

/** Behind the other windows, and without showing it. */
function addWindow(place: Place, order: WindowOrder): Promise<Window> {
	const exactly = place.isUsers ? place.session : `=${place.session}`;
	return open(place, ["new-window", "-d", "-t", `${exactly}:`], order);
}

function newSession(place: Place, order: WindowOrder): Promise<Window> {
	return open(place, ["new-session", "-d", "-s", place.session], order);
}

const FORMAT = "#{window_id} #{window_index} #{pane_pid} #{session_name}";

async function open({ server, isUsers }: Place, how: readonly string[], order: WindowOrder): Promise<Window> {
	const { argv, title } = order;
	// The directory is that of the calling process: given as an argument, tmux would look for commands in its name.
	const words = ["-n", windowName(title), "-P", "-F", FORMAT, ...argv.map(literal)];
	const output = await tmux([...server, ...how, ...words], order);
	const [, id, index, pid, session] = /^(@\d+) (\d+) (\d+) (.*)/.exec(output) ?? [];
	if (id === undefined || index === undefined || session === undefined) {
		throw new Error(`tmux opened a window and said of it: ${JSON.stringify(output)}`);
	}
	return {
		pid: Number(pid),
		hint: hintFor(title, isUsers ? { index, session } : { id }),
		async close() {
			await tmux([...server, "kill-window", "-t", id], order);
		},
	};
}
