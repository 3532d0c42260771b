/** Real pi in a storm: carries out what the plan says, waits for the calm, and asks the oracle. */
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type PiRpc, type PiTarget, startRpc } from "@pi-subagents-dev/testkit";
import { childOf, launchesIn, linesOf, until, wrapperOf } from "../test/detached.ts";
import { randomFrom } from "../test/rounds.ts";
import { type Scene, scene } from "../test/scene.ts";
import { type Watched, watcher } from "../test/watcher.ts";
import { type StormModel, stormModel } from "./model.ts";
import { type Account, accountOf, contentsOf, isOver, unbalanced, violationsOf } from "./oracle.ts";
import type { Act, Plan } from "./plan.ts";

interface StormReport {
	seed: number;
	violations: string[];
	agents: number;
	/** What was done, and how often. */
	acts: Record<string, number>;
}

export interface Storms extends AsyncDisposable {
	run(plan: Plan): Promise<StormReport>;
	/** What is left in pi after all of them: violations, and the heap. */
	end(): Promise<{ violations: string[]; heapMegabytes: number }>;
}

const preset = `---
name: storm
description: Weathers a storm
model: fake/fake-1
tools: read,bash
subagents: "*"
---
You are in a storm.
`;

/** Writes down what the bus says of agents at any depth. A pi that is killed says nothing more. */
const listener = `
import { appendFileSync } from "node:fs";
export default (pi) => {
	for (const what of ["created", "started", "completed", "failed"])
		pi.events.on("subagents:" + what, ({ id }) => appendFileSync(process.env.HOME + "/bus.jsonl", JSON.stringify({ what, id }) + "\\n"));
};`;

/** Nothing more is asked for so long: who waits for more would wait for ever. */
const QUIET_MS = 100;

export async function startStorms({ join = "async" }: { join?: "async" | "smart" } = {}): Promise<Storms> {
	const model = stormModel();
	const it = await scene([model.rule], {
		files: { ".pi/subagents/storm.md": preset, "watcher.ts": watcher, "listener.ts": listener },
		settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 } },
		agentFiles: { "subagents.json": JSON.stringify({ maxConcurrent: 6, maxDepth: 3, join }) },
	});
	const before = await contentsOf(it.env.cwd);
	const world = new World(it, model);
	return {
		run: (plan) => world.run(plan),
		async end() {
			const report = await world.report();
			await world.close();
			const after = await contentsOf(it.env.cwd);
			const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
				(path) => before.get(path) !== after.get(path),
			);
			return {
				violations: [
					...report.left.map((stack) => `A timer was left: ${stack}`),
					...report.errors.map((error) => `Nobody caught: ${error}`),
					...changed.map((path) => `${path} was changed.`),
				],
				heapMegabytes: report.heapMegabytes,
			};
		},
		async [Symbol.asyncDispose]() {
			await world.close();
			await it[Symbol.asyncDispose]();
		},
	};
}

class World {
	readonly #it: Scene;
	readonly #model: StormModel;
	readonly #spoiled = new Set<string>();
	#pi: PiRpc;
	#session = "";
	#handled = 0;
	#askedBefore = 0;

	constructor(it: Scene, model: StormModel) {
		this.#it = it;
		this.#model = model;
		this.#pi = startRpc(this.#target());
	}

	async run(plan: Plan): Promise<StormReport> {
		await this.#pi.send({ type: "new_session" });
		await rm(this.#bus, { force: true });
		this.#model.begin(plan);
		this.#session = await this.#sessionFile();
		await this.#pi.send({ type: "prompt", message: "The storm begins." });
		const acts: Record<string, number> = {};
		for (const act of plan.acts) {
			await this.#untilAsked(act.afterRequests);
			const done = await this.#carryOut(act, randomFrom(plan.seed ^ act.afterRequests).next());
			if (done) acts[act.does] = (acts[act.does] ?? 0) + 1;
		}
		this.#model.calm();
		await this.#saySomething(); // after a turn that was broken off nothing begins before the user speaks
		const account = await this.#untilOver();
		return {
			seed: plan.seed,
			violations: [
				...(account
					? await violationsOf(account, { spoiled: this.#spoiled, wasKilled: "kill pi" in acts })
					: await this.#neverEnded()),
				...unbalanced(await linesOf(this.#bus)),
			],
			agents: account?.launched.size ?? 0,
			acts,
		};
	}

	async report(): Promise<Watched> {
		const from = this.#pi.events.length;
		await this.#pi.send({ type: "prompt", message: "/report" });
		const answer = await this.#pi.waitFor(
			(event) => event.type === "extension_ui_request" && event.method === "notify" && event.message.startsWith("{"),
			{ from },
		);
		if (answer.type !== "extension_ui_request" || answer.method !== "notify") throw new Error("no report");
		return JSON.parse(answer.message);
	}

	async close(): Promise<void> {
		await this.#pi.close();
	}

	/** Whether there was anything to do it to. */
	async #carryOut({ does, key }: Act, chance: number): Promise<boolean> {
		switch (does) {
			case "stop":
				await this.#pi.send({ type: "prompt", message: `/subagent stop ${key}` });
				return true;
			case "say something":
				return this.#saySomething();
			case "abort turn":
				await this.#pi.send({ type: "abort" });
				return true;
			case "reload":
				await this.#pi.send({ type: "prompt", message: "/again" });
				return true;
			case "kill pi":
				return this.#killPi();
			case "kill a child":
			case "kill a wrapper":
			case "spoil a file":
				return this.#harm(does, chance);
		}
	}

	async #saySomething(): Promise<boolean> {
		await this.#pi.send({ type: "prompt", message: "How is the weather?", streamingBehavior: "followUp" });
		return true;
	}

	async #killPi(): Promise<boolean> {
		if (this.#pi.pid !== undefined) process.kill(this.#pi.pid, "SIGKILL");
		await this.#pi.close();
		await rm(this.#bus, { force: true });
		this.#handled = 0;
		const args = existsSync(this.#session) ? ["--session", this.#session] : [];
		this.#pi = startRpc(this.#target(args));
		this.#session = await this.#sessionFile();
		return true;
	}

	async #harm(does: "kill a child" | "kill a wrapper" | "spoil a file", chance: number): Promise<boolean> {
		const runs = existsSync(this.#session) ? await launchesIn(this.#session) : [];
		const run = runs[Math.floor(chance * runs.length)];
		if (!run) return false;
		if (does === "spoil a file") {
			if (!existsSync(run.artifacts)) return false; // its files are not there yet
			this.#spoiled.add(run.artifacts);
			await writeFile(join(run.artifacts, "events.jsonl"), '{"type":"turn"\n\0garbage', { flag: "a" });
			return true;
		}
		if (this.#spoiled.has(run.artifacts)) return false; // its log does not say any more whom to kill
		const pid = does === "kill a child" ? await childOf(run) : await wrapperOf(run);
		if (pid === undefined) return false;
		try {
			return process.kill(pid, "SIGKILL");
		} catch {
			return false; // it has ended by itself
		}
	}

	/** Until the model was asked so often, or will not be any more before somebody interferes. */
	async #untilAsked(count: number): Promise<void> {
		let last = -1;
		for (let quiet = 0; this.#model.asked < count && quiet < QUIET_MS; await delay(10)) {
			this.#answerDialogs();
			quiet = this.#model.asked === last ? quiet + 10 : 0;
			last = this.#model.asked;
		}
	}

	async #untilOver(): Promise<Account | undefined> {
		try {
			return await until("the storm is over", async () => {
				this.#answerDialogs();
				const account = await accountOf(this.#session);
				await this.#reply(account);
				if (!isOver(account)) return undefined;
				const state = await this.#pi.send({ type: "get_state" });
				const isIdle = state.success && state.command === "get_state" && !state.data.isStreaming;
				return isIdle ? account : undefined;
			});
		} catch {
			return undefined;
		}
	}

	/** The turn in which the model would have answered may have been broken off; then the user does. */
	async #reply({ launched, settled }: Account): Promise<void> {
		if (this.#model.asked > this.#askedBefore) {
			this.#askedBefore = this.#model.asked;
			return; // all is on its way
		}
		for (const runId of launched.keys())
			if (!settled.has(runId))
				await this.#pi.send({ type: "prompt", message: `/subagent reply ${runId.split("-")[0]} go on` });
	}

	async #neverEnded(): Promise<string[]> {
		const { launched, settled, told, closed } = await accountOf(this.#session);
		const open = [...launched.values()].filter(
			({ runId }) => !settled.has(runId) || !(told.has(runId) || closed.has(runId)),
		);
		return [
			`It never ended: ${open.map(({ runId, isBackground }) => `${runId} ${isBackground ? "in the background" : "waited for"} ${settled.has(runId) ? "settled" : "not settled"}`).join(", ") || "pi stayed busy"}.`,
		];
	}

	/** Somebody sits there and says something to everything. */
	#answerDialogs(): void {
		for (const event of this.#pi.events.slice(this.#handled)) {
			if (event.type !== "extension_ui_request") continue;
			const { id, method } = event;
			if (method === "input" || method === "editor")
				this.#pi.answer({ type: "extension_ui_response", id, value: "as you like" });
			if (method === "confirm") this.#pi.answer({ type: "extension_ui_response", id, confirmed: true });
			if (method === "select") this.#pi.answer({ type: "extension_ui_response", id, cancelled: true });
		}
		this.#handled = this.#pi.events.length;
	}

	get #bus(): string {
		return join(this.#it.env.home, "bus.jsonl");
	}

	async #sessionFile(): Promise<string> {
		const state = await this.#pi.send({ type: "get_state" });
		if (!state.success || state.command !== "get_state" || !state.data.sessionFile) throw new Error("no session");
		return state.data.sessionFile;
	}

	#target(args: string[] = []): PiTarget {
		const all = ["--session-dir", join(this.#it.env.root, "sessions"), ...args];
		return { env: this.#it.env, extensions: ["watcher.ts", "listener.ts"], args: all, timeoutMs: 60_000 };
	}
}
