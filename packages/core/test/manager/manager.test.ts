import { describe, expect, test } from "vitest";
import { Manager, type Runner } from "../../src/index.ts";
import { fakeRunner, handClock } from "../../src/testing/index.ts";
import { reading, said, spec } from "../fixtures/events.ts";
import { codeOf, setUp } from "../fixtures/manager.ts";

describe("a launch", () => {
	test("a name is short; a blank one is none", () => {
		const { spawn } = setUp();
		expect(spawn({}, { name: " digger " }).record()?.name).toBe("digger");
		expect(spawn({}, { name: " " }).record()).not.toHaveProperty("name");
		expect(codeOf(() => spawn({}, { name: "x".repeat(101) }))).toBe("bad_request");
	});

	test("starts the runner with the spec and who it is", () => {
		const { spawn } = setUp();
		const { run, record } = spawn();
		const launchInfo = { depth: 1, isBackground: false, launchedBy: "model", queuedAt: 0 };
		expect(run.spec).toEqual({ ...spec, agentId: "a1", run: 1, launchInfo });
		expect(record()).toMatchObject({ id: "a1", status: "running", type: "scout", model: "fake/one", queuedAt: 0 });
	});

	test("of a runner that is not there is the caller's mistake", () => {
		const { manager } = setUp();
		expect(codeOf(() => manager.spawn({ ...spec, runner: "tmux" }))).toBe("unknown_runner");
		expect(manager.store.snapshot().records).toEqual([]);
	});

	test("that the runner refuses is a failed agent", async () => {
		const broken: Runner = {
			start() {
				throw new Error("no such directory");
			},
		};
		const manager = new Manager({ runners: { session: broken }, clock: handClock(), newId: () => "a1" });
		const { id } = manager.spawn(spec);
		expect(await manager.wait(id)).toEqual({ status: "failed", error: "no such directory" });
	});

	test("never takes an id twice", () => {
		const ids = ["a1", "a1", "a2"];
		const manager = new Manager({
			runners: { session: fakeRunner() },
			clock: handClock(),
			newId: () => ids.shift() ?? "",
		});
		expect([manager.spawn(spec).id, manager.spawn(spec).id]).toEqual(["a1", "a2"]);
	});
});

describe("a run that may start over", () => {
	const lost = { status: "aborted", by: "lost" } as const;

	test("is the same run: it hears again what it was told, and settles once", async () => {
		const { manager, runner, spawn, heard } = setUp();
		const { id, run: first, status } = spawn({ retry: "lost" });
		first.startOver = async () => true;
		manager.steer(id, "Be brief.");
		const written: string[] = [];
		manager.watch(id, ({ text }) => void written.push(text));
		first.granted = { budgetTokens: 7 };
		first.emit(reading("a.ts"));
		first.settle(lost);
		await heard();
		expect([runner.runs.length, status()]).toEqual([2, "running"]);
		const second = runner.runs[1];
		expect([second?.steers, second?.granted, second?.spec]).toEqual([["Be brief."], { budgetTokens: 7 }, first.spec]);
		second?.write({ block: 0, kind: "text", offset: 0, text: "Hm" });
		expect(written).toEqual(["Hm"]);
		second?.answer("Found it.");
		expect(await manager.wait(id)).toEqual({ status: "completed", text: "Found it." });
	});

	test("does so only if its spec asks for it and its runner agrees", async () => {
		const { manager, runner, spawn } = setUp();
		for (const [retry, agrees] of [
			[undefined, true],
			["lost", false],
		] as const) {
			const { id, run } = spawn(retry ? { retry } : {});
			run.startOver = async () => agrees;
			run.settle(lost);
			expect(await manager.wait(id)).toEqual(lost);
		}
		expect(runner.runs).toHaveLength(2);
	});

	test("does not once it was stopped", async () => {
		const { manager, runner, spawn, heard } = setUp();
		const { id, run } = spawn({ retry: "lost" });
		const ready = Promise.withResolvers<boolean>();
		run.startOver = () => ready.promise;
		run.settle(lost);
		await heard();
		manager.abort(id, { by: "user" });
		ready.resolve(true);
		await heard();
		expect([runner.runs.length, await manager.wait(id)]).toEqual([1, { status: "aborted", by: "user" }]);
	});
});

describe("waiting", () => {
	test("gives the outcome to everybody who waits, and to those who ask later", async () => {
		const { manager, spawn } = setUp();
		const { id, run } = spawn();
		const waiting = [manager.wait(id), manager.wait(id)];
		run.answer("Found it.");
		const outcome = { status: "completed", text: "Found it." };
		expect(await Promise.all([...waiting, manager.wait(id)])).toEqual([outcome, outcome, outcome]);
	});

	test("can be given up without stopping the agent", async () => {
		const { manager, spawn } = setUp();
		const { id, run, record } = spawn();
		const patience = new AbortController();
		const waiting = manager.wait(id, { signal: patience.signal });
		patience.abort(new Error("enough"));
		await expect(waiting).rejects.toThrow("enough");
		expect(record()?.status).toBe("running");
		run.answer("late");
		expect(await manager.wait(id)).toMatchObject({ status: "completed" });
	});

	test("for an agent that never was is the caller's mistake", () => {
		expect(codeOf(() => setUp().manager.wait("a9"))).toBe("unknown_agent");
	});
});

describe("a stop", () => {
	test("has settled the agent when the call returns, with what it had said", () => {
		const { manager, spawn } = setUp();
		const { id, run, record } = spawn();
		run.emit(said("Halfway there."));
		run.emit(reading("a.ts"));
		manager.abort(id, { by: "user" });
		expect(record()?.outcome).toEqual({ status: "aborted", by: "user", partialText: "Halfway there." });
		expect(run.stops).toEqual([{ by: "user" }]);
	});

	test("is final: what the child still says or becomes is not taken in", async () => {
		const { manager, runner, spawn } = setUp();
		const { id, record } = spawn();
		manager.abort(id, { by: "parent", reason: "not needed" });
		const before = record();
		runner.runs[0]?.settle({ status: "completed", text: "late" });
		await runner.runs[0]?.settled;
		manager.abort(id, { by: "user" });
		expect(record()).toBe(before);
		expect(await manager.wait(id)).toEqual({ status: "aborted", by: "parent", reason: "not needed" });
	});

	test("by the first event of a run reaches the run that was just starting", () => {
		const { manager, runner } = setUp({}, (run) => run.emit(said("hello")));
		manager.store.subscribe(({ event }) => {
			if (event.type === "assistant_text") manager.abort(event.agentId, { by: "budget" });
		});
		const { id } = manager.spawn(spec);
		expect(manager.store.record(id)?.outcome).toMatchObject({ by: "budget" });
		expect(runner.runs[0]?.stops).toEqual([{ by: "budget" }]);
	});

	test("before the start keeps the runner from starting", () => {
		const { manager, runner } = setUp();
		manager.store.subscribe(({ event }) => {
			if (event.type === "agent_queued") manager.abort(event.agentId, { by: "user" });
		});
		const { id } = manager.spawn(spec);
		expect(manager.store.record(id)?.status).toBe("aborted");
		expect(runner.runs).toEqual([]);
	});
});

test("a steer reaches the live run, and only a live one", () => {
	const { manager, spawn } = setUp();
	const { id, run } = spawn();
	manager.steer(id, "left, not right");
	expect(run.steers).toEqual(["left, not right"]);
	manager.abort(id, { by: "user" });
	expect(codeOf(() => manager.steer(id, "too late"))).toBe("wrong_state");
});

test("a record keeps how a long answer begins once that is filed, and a later run is left alone", async () => {
	const { manager, spawn } = setUp();
	const agent = spawn();
	const text = "x".repeat(10_000);
	agent.run.answer(text);
	expect(await manager.wait(agent.id)).toEqual({ status: "completed", text });
	manager.markArchived({ agentId: agent.id, run: 1 });
	expect(agent.record()?.outcome).toEqual({ status: "completed", text: "x".repeat(2_000), omitted: 8_000 });
	manager.resume(agent.id, spec);
	agent.run.answer(text);
	await manager.wait(agent.id);
	manager.markArchived({ agentId: agent.id, run: 1 });
	expect(agent.record()?.outcome).toEqual({ status: "completed", text });
});

test("a shutdown stops all, waits for their children and refuses new ones", async () => {
	const { manager, spawn } = setUp();
	const agents = [spawn(), spawn()];
	await manager.shutdown();
	expect(agents.map(({ record }) => record()?.outcome)).toEqual([
		{ status: "aborted", by: "shutdown" },
		{ status: "aborted", by: "shutdown" },
	]);
	expect(codeOf(() => manager.spawn(spec))).toBe("shut_down");
});
