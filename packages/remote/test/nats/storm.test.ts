/** Two hundred runs while workers and the engine are killed, and the engine loses its store: nothing lost, nothing twice. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Outcome, systemClock } from "@pi-subagents/core";
import { patienceMs } from "@pi-subagents-dev/testkit/wait";
import { describe, expect, onTestFinished, test } from "vitest";
import { spec as anySpec } from "../../../core/test/fixtures/events.ts";
import { remoteRunner } from "../../src/index.ts";
import { NatsLink } from "../../src/nats/near-link.ts";
import { hasNats, startEngine, type TestEngine } from "../fixtures/nats-engine.ts";

const RUNS = 200;
const EVENTS = 20;
const PAUSE_MS = 40;
const WORKERS = 4;
const SLOTS = 8;
/** What is killed after each fifteen runs; `store` is the engine with all that it stored. */
const WEATHER = [
	"worker",
	"worker",
	"engine",
	"worker",
	"worker",
	"store",
	"worker",
	"worker",
	"engine",
	"worker",
	"store",
	"worker",
];
const program = fileURLToPath(new URL("../fixtures/storm-worker.ts", import.meta.url));
const wrapper = fileURLToPath(new URL("../fixtures/storm-wrapper.mjs", import.meta.url));

class StormWorker {
	readonly #args: string[];
	#child: ChildProcess | undefined;
	said = "";

	constructor(root: string, name: string, { url, tokenFile }: TestEngine) {
		const node = ["--conditions=@pi-subagents/source", "--disable-warning=ExperimentalWarning", program];
		this.#args = [...node, join(root, name), name, url, tokenFile, wrapper, String(SLOTS)];
	}

	async start(): Promise<void> {
		const child = spawn(process.execPath, this.#args, { stdio: ["ignore", "pipe", "pipe"] });
		this.#child = child;
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			this.said += text;
		});
		await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
		if (child.exitCode !== null) throw new Error(`a worker ended: ${this.said}`);
	}

	async kill(): Promise<void> {
		const child = this.#child;
		if (!child || child.exitCode !== null || child.signalCode !== null) return;
		const ended = once(child, "exit");
		child.kill("SIGKILL");
		await ended;
	}
}

describe.skipIf(!hasNats)("a storm over a fleet", () => {
	test(
		"200 runs, workers and engine killed again and again: nothing lost, nothing twice",
		async () => {
			const root = await mkdtemp(join(tmpdir(), "storm-"));
			onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
			await using engine = await startEngine(join(root, "engine"));
			const workers = Array.from({ length: WORKERS }, (_, index) => new StormWorker(root, `worker-${index}`, engine));
			onTestFinished(async () => void (await Promise.all(workers.map((worker) => worker.kill()))));
			await Promise.all(workers.map((worker) => worker.start()));
			const starts = join(root, "starts.log");
			await writeFile(starts, "");
			const access = { nats: engine.url, tokenFile: engine.tokenFile };
			const link = new NatsLink({ name: "fleet", access, clock: systemClock, report: () => undefined });
			onTestFinished(() => link.close());
			const runner = remoteRunner({ agentDir: root, linkTo: () => link, isProjectTrusted: () => false });

			const heard = new Map<string, number[]>();
			const outcomes = new Map<string, Outcome[]>();
			/** Every fourth one ends with its worker; the others outlive it. */
			const outlives = (index: number) => index % 4 !== 0;
			const launch = async (index: number) => {
				const agentId = `a${index}`;
				heard.set(agentId, []);
				const spec = {
					...({ ...anySpec, runner: "remote", machine: "fleet", cwd: root, outlives: outlives(index) } as const),
					...{ task: `${EVENTS} ${PAUSE_MS} ${starts}`, agentId, run: 1, artifacts: join(root, "near", agentId) },
				};
				const run = runner.start(spec, (event) => {
					const step = event.type === "assistant_text" ? /Step (\d+) of (\w+)/.exec(event.text) : null;
					if (step?.[2] === agentId) heard.get(agentId)?.push(Number(step[1]));
				});
				outcomes.set(agentId, [...(outcomes.get(agentId) ?? []), await run.settled]);
			};
			const queue = Array.from({ length: RUNS }, (_, index) => index);
			const lanes = Array.from({ length: WORKERS * SLOTS }, async () => {
				for (let next = queue.shift(); next !== undefined; next = queue.shift()) await launch(next);
			});
			for (const [index, ending] of WEATHER.entries()) {
				await expect.poll(() => outcomes.size, { interval: 20 }).toBeGreaterThanOrEqual((index + 1) * 15);
				if (ending === "worker") {
					const worker = workers[index % WORKERS];
					await worker?.kill();
					await worker?.start();
				} else {
					await engine.kill();
					if (ending === "store") await engine.loseStore();
					await engine.start();
				}
			}
			await Promise.all(lanes);

			const started = Map.groupBy((await readFile(starts, "utf8")).trim().split("\n"), (id) => id);
			expect(
				[...started].filter(([, times]) => times.length > 1),
				"started twice",
			).toEqual([]);
			expect(
				[...outcomes].filter(([, all]) => all.length !== 1),
				"settled once",
			).toEqual([]);
			expect(outcomes.size).toBe(RUNS);
			const whole = Array.from({ length: EVENTS }, (_, index) => index + 1);
			const counts = { completed: 0, lost: 0, unstarted: 0 };
			for (const [agentId, [outcome]] of outcomes) {
				const isKept = outlives(Number(agentId.slice(1)));
				if (outcome?.status === "completed") {
					counts.completed++;
					expect(heard.get(agentId), `${agentId}: every event once, in order`).toEqual(whole);
				} else if (!started.has(agentId)) {
					counts.unstarted++; // its worker died before the agent began, and it says so
					const why = JSON.stringify(outcome);
					expect(why, agentId).toMatch(/before it started the agent|it never started|its process is gone/);
				} else {
					counts.lost++;
					expect(isKept, `${agentId} outlives its worker: ${JSON.stringify(outcome)}`).toBe(false);
					expect(outcome, agentId).toMatchObject({ status: "aborted", by: "lost" });
					expect(heard.get(agentId), agentId).toEqual(whole.slice(0, heard.get(agentId)?.length));
				}
			}
			process.stderr.write(`storm: ${JSON.stringify(counts)}\n`);
			expect(counts.completed).toBeGreaterThan(RUNS / 2);
		},
		patienceMs(8),
	);
});
