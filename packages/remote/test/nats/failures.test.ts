/** Whatever ends in between, a run of the fleet settles once, and nobody is lost because a link is down. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Manager, systemClock } from "@pi-subagents/core";
import { isAlive } from "@pi-subagents/core/internal/signals";
import { RUN_FILES, readEvents, readWrapper } from "@pi-subagents/runs";
import { createGate } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { remoteRunner } from "../../src/index.ts";
import { farDir, losesARunWithItsWrapper, rejoinsARun, works } from "../fixtures/link-failures.ts";
import { hasNats } from "../fixtures/nats-engine.ts";
import { type NatsWorld, natsWorld } from "../fixtures/nats-world.ts";
import { startProxy, type Wire } from "../fixtures/proxy.ts";

const DONE = { status: "completed", text: "Done." } as const;

const homesOf = ({ workers }: NatsWorld) => workers.map(({ home }) => home);

async function timesSettled({ spec }: NatsWorld): Promise<number> {
	return (await readEvents(spec.artifacts)).filter(({ type }) => type === "agent_settled").length;
}

/** real time: how long something is away, compared with a lease. */
const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(!hasNats)("a fleet when something fails", () => {
	test("a worker is killed and started again: a run that outlives its session continues, and settles once", async () => {
		const gate = createGate();
		await using world = await natsWorld(works(gate));
		const [worker] = world.workers;
		const run = remoteRunner(world.options).start({ ...world.spec, outlives: true }, () => undefined);
		await world.server.nextRequest();
		await worker?.kill();
		await run.steer("Look left.");
		await worker?.start();
		gate.open();
		await world.server.nextRequest(({ messages }) => JSON.stringify(messages).includes("Look left."));
		expect(await run.settled).toEqual(DONE);
		expect(await timesSettled(world)).toBe(1);
		expect(world.reports, "what was said meanwhile is not lost, so there is nothing to report").toEqual([]);
	});

	test("a worker is killed and stays away: after the lease its runs are lost, and are not tried again", async () => {
		await using world = await natsWorld(works(createGate()), { leaseMs: 3_000 });
		const run = remoteRunner(world.options).start(world.spec, () => undefined);
		await world.server.nextRequest();
		const before = Date.now();
		await world.workers[0]?.kill();
		expect(await run.settled).toMatchObject({
			status: "aborted",
			by: "lost",
			reason: expect.stringContaining("its worker worker-1 is silent for 3 s"),
		});
		expect(Date.now() - before, "the lease begins with the last beat").toBeGreaterThan(1_500);
		expect(world.server.requests).toHaveLength(1);
	});

	test("a lost run that asks for it is run again, by another worker", async () => {
		const gate = createGate();
		await using world = await natsWorld(works(gate), { workers: [[], []], leaseMs: 3_000 });
		const runners = { remote: remoteRunner(world.options) };
		const manager = new Manager({ runners, clock: systemClock, newId: () => "a1" });
		const { artifacts: _none, ...spec } = world.spec;
		const { id } = manager.spawn({ ...spec, retry: "lost", runsDir: join(world.env.root, "runs") });
		await world.server.nextRequest();
		const dir = await farDir(homesOf(world));
		const first = world.workers.find(({ home }) => dir.startsWith(home));
		await first?.kill();
		gate.open();
		expect(await manager.wait(id)).toMatchObject(DONE);
		expect(world.server.requests, "one of the first attempt, two of the second").toHaveLength(3);
		await first?.start(); // and what it finds there is over
		expect(world.server.requests).toHaveLength(3);
	});

	test("the wrapper on the other machine is killed: the run is lost", async () => {
		await using world = await natsWorld(works(createGate()));
		await losesARunWithItsWrapper(world, homesOf(world));
	});

	test("the near process ends: the next one rejoins the run from where its files end", async () => {
		const gate = createGate();
		await using world = await natsWorld(works(gate));
		const next = world.anotherLink();
		await rejoinsARun(world, { end: () => world.link.close(), linkTo: () => next, gate, expected: DONE });
	});

	test("the near process is killed: a run that does not outlive it ends there", async () => {
		await using world = await natsWorld(works(createGate()), { workers: [["--lease", "1"]] });
		const run = remoteRunner(world.options).start(world.spec, () => undefined);
		await world.server.nextRequest();
		const dir = await farDir(homesOf(world));
		world.link.close(); // as the end of the process does: nothing is said
		await expect.poll(() => readFile(join(dir, RUN_FILES.result), "utf8")).toBeTypeOf("string");
		expect(JSON.parse(await readFile(join(dir, RUN_FILES.result), "utf8"))).toMatchObject({
			outcome: { status: "aborted", by: "lost" },
		});
		await run.detach?.();
	});

	test.each([
		["shorter", 30_000],
		["longer", 1_500],
	])("the engine is killed, for an outage %s than the lease: no run is lost", async (_name, leaseMs) => {
		const gate = createGate();
		await using world = await natsWorld(works(gate), { leaseMs });
		const run = remoteRunner(world.options).start(world.spec, () => undefined);
		await world.server.nextRequest();
		await world.engine.kill();
		await passed(4_000);
		gate.open(); // the agent works on meanwhile
		await world.engine.start();
		expect(await run.settled).toEqual(DONE);
		expect(await timesSettled(world)).toBe(1);
	});

	test("the engine hangs longer than the lease, without its connections ending: no run is lost", async () => {
		const gate = createGate();
		await using world = await natsWorld(works(gate), { leaseMs: 8_000 });
		const run = remoteRunner(world.options).start(world.spec, () => undefined);
		await world.server.nextRequest();
		world.engine.signal("SIGSTOP");
		await passed(12_000);
		world.engine.signal("SIGCONT");
		gate.open();
		expect(await run.settled).toEqual(DONE);
	});

	test("the engine loses its store: the worker's files are the truth, and are sent again", async () => {
		const gate = createGate();
		await using world = await natsWorld(works(gate));
		const run = remoteRunner(world.options).start(world.spec, () => undefined);
		await world.server.nextRequest();
		await world.engine.kill();
		await world.engine.loseStore();
		await world.engine.start();
		gate.open();
		expect(await run.settled).toEqual(DONE);
		expect(await timesSettled(world)).toBe(1);
		// The next one finds everything as it should be.
		const next = { ...world.spec, agentId: "a2", artifacts: join(world.env.root, "runs", "a2") };
		expect(await remoteRunner(world.options).start(next, () => undefined).settled).toEqual(DONE);
	});

	test("the engine loses an order that no worker had yet: it is sent again", async () => {
		const gate = createGate();
		await using world = await natsWorld(works(gate), { workers: [["--slots", "1"]] });
		const start = (agentId: string) =>
			remoteRunner(world.options).start(
				{ ...world.spec, agentId, artifacts: join(world.env.root, "runs", agentId) },
				() => undefined,
			);
		const first = start("a1");
		await world.server.nextRequest();
		const second = start("a2"); // waits for the slot
		await passed(1_500);
		await world.engine.kill();
		await world.engine.loseStore();
		await world.engine.start();
		gate.open();
		expect(await first.settled).toEqual(DONE);
		expect(await second.settled).toEqual(DONE);
		expect(world.server.requests).toHaveLength(4);
	});

	test("a worker that wakes late is fenced: its run was given up, so it ends, and nothing it did counts", async () => {
		const gate = createGate();
		let proxy: Wire | undefined;
		await using world = await natsWorld(works(gate), {
			leaseMs: 3_000,
			through: async (url) => {
				proxy = await startProxy(url);
				return proxy.url;
			},
		});
		const [worker] = world.workers;
		const run = remoteRunner(world.options).start(world.spec, () => undefined);
		await world.server.nextRequest();
		const wrapper = await readWrapper(await farDir(homesOf(world)));
		proxy?.cut();
		expect(await run.settled).toMatchObject({ status: "aborted", by: "lost" });
		const result = await readFile(join(world.spec.artifacts, RUN_FILES.result), "utf8");
		gate.open(); // cut off, the agent works to its end
		proxy?.mend();
		await expect.poll(() => worker?.said()).toContain("was given up meanwhile, so it is ended here");
		await expect.poll(async () => wrapper?.type === "started" && (await isAlive(wrapper))).toBe(false);
		expect(await readFile(join(world.spec.artifacts, RUN_FILES.result), "utf8")).toBe(result);
		await proxy?.[Symbol.asyncDispose]();
	});
});
