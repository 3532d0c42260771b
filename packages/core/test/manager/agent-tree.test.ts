import { describe, expect, test } from "vitest";
import { treeUsage } from "../../src/index.ts";
import { said, spec } from "../fixtures/events.ts";
import { codeOf, setUp } from "../fixtures/manager.ts";

const nested = { subagents: "*" as const };

function family() {
	const world = setUp();
	const root = world.spawn(nested);
	const child = world.manager.scope(root.id).spawn({ ...spec, ...nested });
	const grandchild = world.manager.scope(child.id).spawn(spec, { isBackground: true });
	const status = (id: string) => world.manager.store.record(id)?.status;
	const runOf = (id: string) => world.runner.runs.find((run) => run.spec.agentId === id);
	return { ...world, root, child, grandchild, status, runOf };
}

describe("agents that launch agents", () => {
	test("know their parent and their depth", () => {
		const { child, grandchild, root } = family();
		expect([child, grandchild].map(({ parentAgentId, depth }) => [parentAgentId, depth])).toEqual([
			[root.id, 2],
			[child.id, 3],
		]);
	});

	test("launch them as the model, whoever launched the first of them", async () => {
		const { manager, runner, heard } = setUp();
		const root = manager.spawn({ ...spec, ...nested }, { launchedBy: "user" });
		const child = manager.spawn(spec, { parentAgentId: root.id, launchedBy: "user" });
		expect([root, child, manager.spawn(spec)].map(({ launchedBy }) => launchedBy)).toEqual(["user", "model", "model"]);
		runner.runs.find((run) => run.spec.agentId === root.id)?.answer("Done.");
		await heard();
		expect(manager.resume(root.id, spec).launchedBy).toBe("model"); // of the present run
	});

	test("only as deep as is allowed", () => {
		const { manager, spawn } = setUp({ maxDepth: () => 2 });
		const { id } = manager.scope(spawn(nested).id).spawn({ ...spec, ...nested });
		expect(codeOf(() => manager.scope(id).spawn(spec))).toBe("too_deep");
	});

	test("only presets that theirs allows, in any case of letters", () => {
		const { manager, spawn } = setUp();
		const scope = manager.scope(spawn({ subagents: ["Explore"] }).id);
		expect(scope.spawn({ ...spec, type: "explore" }).type).toBe("explore");
		expect(codeOf(() => scope.spawn({ ...spec, type: "worker" }))).toBe("forbidden_preset");
		expect(codeOf(() => manager.scope(spawn().id).spawn(spec))).toBe("forbidden_preset");
	});

	test("see and touch only their own descendants", async () => {
		const { manager, root, child, grandchild, spawn } = family();
		const stranger = spawn();
		expect(
			manager
				.scope(root.id)
				.list()
				.map(({ id }) => id),
		).toEqual([child.id, grandchild.id]);
		expect(
			manager
				.scope(child.id)
				.list()
				.map(({ id }) => id),
		).toEqual([grandchild.id]);
		for (const id of [stranger.id, root.id, child.id]) {
			const agents = manager.scope(child.id);
			expect(codeOf(() => agents.abort(id, { by: "parent" }))).toBe("unknown_agent");
			expect(codeOf(() => agents.steer(id, "x"))).toBe("unknown_agent");
			expect(codeOf(() => agents.wrapUp(id))).toBe("unknown_agent");
			expect(codeOf(() => agents.answer(id, "x"))).toBe("unknown_agent");
			expect(codeOf(() => agents.elapsedMs(id))).toBe("unknown_agent");
			expect(codeOf(() => agents.activityOf(id))).toBe("unknown_agent");
			expect(codeOf(() => agents.resume(id, { ...spec, subagents: "*" }))).toBe("unknown_agent");
			await expect(agents.wait(id)).rejects.toMatchObject({ code: "unknown_agent" });
		}
	});

	test("are stopped with the one that launched them, and nobody else is", () => {
		const { manager, root, child, grandchild, spawn, status } = family();
		const stranger = spawn();
		manager.abort(child.id, { by: "user" });
		expect([root.id, child.id, grandchild.id, stranger.id].map(status)).toEqual([
			"running",
			"aborted",
			"aborted",
			"running",
		]);
		expect(manager.store.record(grandchild.id)?.outcome).toEqual({ status: "aborted", by: "parent" });
	});

	test("end with the one that launched them, since nobody else would hear of them", async () => {
		const { child, grandchild, runOf, status, heard, manager } = family();
		runOf(child.id)?.answer("I am done.");
		await heard();
		expect([child.id, grandchild.id].map(status)).toEqual(["completed", "aborted"]);
		expect(codeOf(() => manager.scope(child.id).spawn(spec))).toBe("forbidden_preset");
	});

	test("count towards the whole tree", () => {
		const { manager, root, child, grandchild, runOf } = family();
		const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: 0.5 };
		for (const id of [root.id, child.id, grandchild.id]) {
			runOf(id)?.emit({ type: "usage", usage });
			runOf(id)?.emit({ type: "turn" });
		}
		const { records } = manager.store.snapshot();
		expect(treeUsage(records, root.id)).toEqual({
			usage: { input: 3, output: 6, cacheRead: 9, cacheWrite: 12, cost: 1.5 },
			turns: 3,
			toolUses: 0,
			agents: 3,
		});
		expect(treeUsage(records, grandchild.id)).toMatchObject({ agents: 1, usage });
	});
});

describe("a settled agent", () => {
	test("can be given another task, with what it has used still counted", async () => {
		const { manager, spawn, heard } = setUp();
		const agent = spawn();
		agent.run.emit({ type: "turn" });
		agent.run.answer("First.");
		await heard();
		manager.resume(agent.id, { ...spec, task: "And now?" });
		expect(agent.run.spec).toMatchObject({ agentId: agent.id, run: 2, task: "And now?" });
		agent.run.answer("Second.");
		expect(await manager.wait(agent.id)).toEqual({ status: "completed", text: "Second." });
		expect(agent.record()).toMatchObject({ run: 2, turns: 1, task: "And now?" });
	});

	test("only when it has settled", () => {
		const { manager, spawn } = setUp();
		expect(codeOf(() => manager.resume(spawn().id, spec))).toBe("wrong_state");
	});

	test("queues for its next run like any other", async () => {
		const { manager, spawn, heard } = setUp({ slots: { maxConcurrent: 1, whenFull: "queue" } });
		const [first, second] = [spawn(), spawn()];
		first.run.answer("done");
		await heard();
		manager.resume(first.id, spec);
		expect([first.status(), second.status()]).toEqual(["queued", "running"]);
	});
});

test("the end of an earlier run does not reach the next one, which waits until that has cleaned up", async () => {
	const { manager, runner, spawn, heard } = setUp();
	const agent = spawn();
	const first = agent.run;
	const cleaned = Promise.withResolvers<void>();
	Object.defineProperty(first, "settled", {
		value: cleaned.promise.then(() => ({ status: "completed", text: "late" })),
	});
	manager.abort(agent.id, { by: "user" });
	manager.resume(agent.id, { ...spec, task: "Again." });
	await heard();
	expect([agent.status(), runner.runs.length]).toEqual(["queued", 1]);
	cleaned.resolve();
	await heard();
	expect([agent.status(), agent.record()?.run, runner.runs.length]).toEqual(["running", 2, 2]);
});

test("a resume out of the news that it has settled has a slot of its own", () => {
	const { manager, spawn } = setUp();
	const agent = spawn();
	const leave = manager.store.subscribe(({ event }) => {
		if (event.type !== "agent_settled") return;
		leave();
		manager.resume(agent.id, spec);
	});
	manager.abort(agent.id, { by: "user" });
	expect(manager.slots()).toMatchObject({ running: 1, queued: 0 });
});

test("a shutdown does not start those that were queued", async () => {
	const { manager, runner, spawn } = setUp({ slots: { maxConcurrent: 1, whenFull: "queue" } });
	for (let index = 0; index < 20; index++) spawn();
	await manager.shutdown();
	expect(runner.runs).toHaveLength(1);
	expect(manager.store.snapshot().records.every(({ status }) => status === "aborted")).toBe(true);
});

test("what an earlier process left unfinished ended with it; what had settled is as it was", () => {
	const before = setUp();
	const [done, open] = [before.spawn(), before.spawn()];
	const events: Parameters<typeof before.manager.restore>[0] extends Iterable<infer E> ? E[] : never = [];
	const after = setUp();
	before.manager.store.subscribe(({ event }) => events.push(event));
	const launch = before.spawn();
	launch.run.emit(said("hello"));
	before.manager.abort(launch.id, { by: "user" });
	const second = before.spawn();
	after.manager.restore(events);
	expect(after.manager.store.record(launch.id)).toEqual(before.manager.store.record(launch.id));
	expect(after.manager.store.record(second.id)?.outcome).toEqual({ status: "aborted", by: "shutdown" });
	expect([done.status(), open.status()]).toEqual(["running", "running"]);
});
