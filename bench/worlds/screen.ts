/** An interactive pi in which many agents run, for what they cost its screen and its CPU. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import {
	callTools,
	converse,
	createPiEnv,
	lastUserSays,
	type Reply,
	say,
	startModelServer,
	startTui,
	type Terminal,
} from "@pi-subagents-dev/testkit";

const LAUNCH_MS = 60_000;

export interface ScreenWorld {
	extensions: readonly string[];
	agents: number;
	/** The call that launches one of them. */
	launch: Reply;
	/** What each is asked, and what its model answers. */
	task: string;
	reply: Reply;
	rows: number;
	/** Is on the screen before anything is measured. */
	shows: string | RegExp;
	/** Until the launch has been drawn and collected as garbage. */
	restMs: number;
}

/** Measures while all agents run. */
export async function onScreen<Result>(
	{ extensions, agents, launch, task, reply, rows, shows, restMs }: ScreenWorld,
	measure: (tui: Terminal) => Promise<Result>,
): Promise<Result> {
	const launchAll = callTools(...Array.from({ length: agents }, () => launch));
	const rules = [converse(lastUserSays("Begin"), launchAll, say("They are off.")), converse(lastUserSays(task), reply)];
	const server = await startModelServer({ rules });
	const agentFiles = { "subagents.json": JSON.stringify({ maxConcurrent: 0 }) };
	const env = await createPiEnv({ server, extensions, agentFiles });
	try {
		const tui = await startTui({ env, timeoutMs: LAUNCH_MS }, { cols: 120, rows });
		tui.submit("Begin.");
		const asked = () => server.requests.filter(({ lastUserText }) => lastUserText === task).length;
		await server.nextRequest(() => asked() === agents, { timeoutMs: LAUNCH_MS });
		await tui.waitForText(shows, { timeoutMs: LAUNCH_MS });
		await pass(restMs);
		return await measure(tui);
	} finally {
		await env.cleanup(); // ends pi, too
		await server.close();
	}
}

/** What all threads of a process have used, in milliseconds. The kernel has it in nanoseconds. */
export async function cpuOf(pid: number): Promise<number> {
	const threads = `/proc/${pid}/task`;
	const used = await Promise.all(
		(await readdir(threads)).map(async (thread) => {
			const [onCpu = "0"] = (await readFile(join(threads, thread, "schedstat"), "utf8")).split(" ");
			return Number(onCpu);
		}),
	);
	return used.reduce((sum, each) => sum + each, 0) / 1e6;
}
