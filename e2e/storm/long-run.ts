/** One pi, and thousands of agents through it: launches them wave after wave, and looks at pi between the waves. */
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type PiTarget, startRpc, startTui, until } from "@pi-subagents-dev/testkit";
import { linesOf } from "../support/detached.ts";
import { sessionIn } from "../support/digs.ts";
import { extensionDir, type Scene, scene } from "../support/scene.ts";
import { longModel, WAVE_AGENTS, WAVE_RUNS } from "./long-model.ts";
import { longWatcher, type Sample } from "./long-watch.ts";
import { accountOf, violationsOf } from "./oracle.ts";
import { patiently } from "./patience.ts";

export interface LongRunOptions {
	/** At least so many. */
	agents: number;
	/** How often pi is looked at on the way. */
	samples: number;
	/** How many characters the longest answers have; more than any message takes when absent. */
	longest?: number;
	/** On a screen, where the tree is drawn. */
	isOnScreen?: boolean;
	onSample?: (sample: Sample) => void;
}

export interface LongRun {
	/** One before the first agent, then one after each part. */
	samples: Sample[];
	/** What must hold for each agent, and did not. */
	violations: string[];
	runDirectories: number;
}

const preset = `---
name: player
description: Plays its part
model: fake/fake-1
tools: read
subagents: "*"
---
You play a part.
`;

/** Without `await using`: this also runs without a build. */
export async function longRun(options: LongRunOptions): Promise<LongRun> {
	const it = await scene([longModel({ longest: options.longest ?? 100_000 })], {
		extensions: [],
		files: { ".pi/subagents/player.md": preset, "watch.ts": longWatcher },
		models: [{ id: "fake-1", contextWindow: 64_000 }], // it is used up many times, as in a long day
		agentFiles: { "subagents.json": JSON.stringify({ maxConcurrent: 50, join: "async" }) },
	});
	try {
		return await waves(it, options.isOnScreen ? await onScreen(it) : withoutScreen(it), options);
	} finally {
		await it[Symbol.asyncDispose]();
	}
}

async function waves(it: Scene, say: Say, { agents, samples: count, onSample }: LongRunOptions): Promise<LongRun> {
	const samples: Sample[] = [];
	const look = async () => {
		await say("/sample");
		const lines = () => linesOf(join(it.env.home, "samples.jsonl"));
		const sample = await until(
			"pi looks at itself",
			async () => (await lines())[samples.length] as unknown as Sample | undefined,
		);
		samples.push(sample);
		onSample?.(sample);
	};
	await look();
	const log = new SessionLog(sessionsOf(it));
	const last = Math.ceil(agents / WAVE_AGENTS);
	const partOf = (wave: number) => Math.floor((wave * count) / last);
	for (let wave = 1; wave <= last; wave++) {
		await say(`Wave ${wave}.`);
		await until(`wave ${wave} is over`, async () => ((await log.over()) === wave * WAVE_RUNS ? true : undefined));
		it.server.forget();
		if (partOf(wave) > partOf(wave - 1)) await look();
	}
	const directories = async () => {
		const found = await readdir(join(it.env.cwd, ".pi", "subagents", "runs"), { withFileTypes: true });
		return found.filter((entry) => entry.isDirectory()).length;
	};
	await patiently(async () => ((await directories()) === samples.at(-1)?.agents ? [] : ["some are still to be made"]));
	return {
		samples,
		violations: await violationsIn((await sessionIn(sessionsOf(it))) ?? ""),
		runDirectories: await directories(),
	};
}

/** As in a storm, but for what runs inside pi: to look for processes of each agent would take longer than the run. */
async function violationsIn(session: string): Promise<string[]> {
	const { launched, ...account } = accountOf(await linesOf(session));
	const inside = new Map([...launched].map(([id, { artifacts: _, ...launch }]) => [id, launch]));
	return await violationsOf(
		{ ...account, launched: inside },
		{
			spoiled: new Set(),
			wasKilled: false,
			hasLostEntries: false,
		},
	);
}

const sessionsOf = ({ env }: Scene): string => join(env.root, "sessions");

type Say = (text: string) => Promise<unknown>;

const target = (it: Scene): PiTarget => ({
	env: it.env,
	extensions: ["watch.ts", extensionDir],
	args: ["--session-dir", sessionsOf(it)],
});

function withoutScreen(it: Scene): Say {
	const rpc = startRpc(target(it));
	return (message) => rpc.send({ type: "prompt", message, streamingBehavior: "followUp" });
}

async function onScreen(it: Scene): Promise<Say> {
	const tui = await startTui(target(it), { cols: 120, rows: 40 });
	return async (text) => {
		tui.forget();
		tui.type(`${text} `); // the space ends the completion of a command, which would take Enter for itself
		tui.press("enter");
	};
}

/** What pi writes down of the session, read as it grows: reading all of it for each look would take longer each time. */
class SessionLog {
	readonly #dir: string;
	readonly #settled = new Set<string>();
	readonly #open = new Set<string>();
	#from = 0;

	constructor(dir: string) {
		this.#dir = dir;
	}

	/** How many runs have settled, and nobody is still to be told. */
	async over(): Promise<number> {
		for (const line of await this.#news()) this.#take(JSON.parse(line));
		return this.#settled.size - this.#open.size;
	}

	#take({ customType, data, details }: Entry): void {
		if (customType === "subagents:nested") return; // the agents of agents, which nobody delivers
		if (data?.type === "launched" && data.isBackground) this.#open.add(data.runId);
		if (data?.type === "settled") this.#settled.add(data.runId);
		if (data?.type === "closed") this.#open.delete(data.runId);
		if (customType === "subagent-notification") for (const runId of details?.runIds ?? []) this.#open.delete(runId);
	}

	async #news(): Promise<string[]> {
		const path = await sessionIn(this.#dir);
		const news = path === undefined ? Buffer.alloc(0) : await buffer(createReadStream(path, { start: this.#from }));
		const whole = news.subarray(0, news.lastIndexOf("\n") + 1);
		this.#from += whole.length;
		return whole
			.toString("utf8")
			.split("\n")
			.filter((line) => line !== "");
	}
}

interface Entry {
	customType?: string;
	data?: { type: string; runId: string; isBackground?: boolean };
	details?: { runIds?: string[] };
}
