import { describe, expect, test } from "vitest";
import type { AdoptedRun, AgentEvent, ManagerOptions, Runner } from "../../src/index.ts";
import { type FakeRun, fakeRunner, handClock } from "../../src/testing/index.ts";
import { reading, said, spec } from "../fixtures/events.ts";
import { codeOf, setUp } from "../fixtures/manager.ts";

const lasting = { runner: "process", outlives: true, runsDir: "/project/runs" } as const;

/** A run that began long before this process. */
const adopted: AdoptedRun = {
	id: "old",
	run: 1,
	spec: { ...spec, ...lasting },
	depth: 1,
	isBackground: true,
	queuedAt: 1_000,
	startedAt: 2_000,
	artifacts: "/project/runs/old",
};

/** It is an hour after the epoch, and two runners are there. */
function world(options: Partial<ManagerOptions> = {}, onStart?: (run: FakeRun) => void) {
	const process = fakeRunner(onStart);
	const session = fakeRunner(onStart);
	const clock = handClock(3_600_000);
	const events: AgentEvent[] = [];
	const made = setUp({ runners: { session, process }, clock, ...options });
	made.manager.store.subscribe(({ event }) => void events.push(event));
	const last = () => {
		const run = process.runs.at(-1);
		if (!run) throw new Error("nothing was started");
		return run;
	};
	return { ...made, process, session, clock, events, last };
}

describe("the directory of a run's files", () => {
	test("is named after the run, in its record before its runner starts, and known to the runner", () => {
		const { manager, process, last } = world({}, (run) => {
			expect(manager.store.record(run.spec.agentId)).toMatchObject({ artifacts: run.spec.artifacts, outlives: true });
		});
		const { id } = manager.spawn({ ...spec, ...lasting });
		expect(process.runs).toHaveLength(1);
		expect(last().spec).toMatchObject({ ...spec, ...lasting, agentId: "a1", run: 1, artifacts: "/project/runs/a1" });
		expect(manager.specOf(id)).toEqual(last().spec);
	});

	test("is another one for each later run, or none, if the launch names none", async () => {
		const { manager, last, heard } = world();
		const { id } = manager.spawn({ ...spec, ...lasting });
		last().answer("one");
		await heard();
		expect(manager.specOf(id)).toBeUndefined();
		manager.resume(id, { ...spec, ...lasting });
		expect([manager.store.record(id)?.artifacts, last().spec.artifacts]).toEqual(Array(2).fill("/project/runs/a1-2"));
		last().answer("two");
		await heard();
		const third = manager.resume(id, spec);
		expect(third).toMatchObject({ run: 3, runner: "session" });
		expect(third).not.toHaveProperty("artifacts");
		expect(third).not.toHaveProperty("outlives");
	});
});

test("whoever listens hears of every launch before anything is started for it", async () => {
	const seen: string[] = [];
	const note = (run: FakeRun) => void seen.push(`start ${run.spec.agentId} ${run.spec.run}`);
	const { manager, runner, spawn, heard } = setUp({ slots: { maxConcurrent: 1, whenFull: "queue" } }, note);
	manager.store.subscribe(({ event: { type, agentId, run } }) => {
		if (type === "agent_queued") seen.push(`queued ${agentId} ${run}`);
	});
	const [first] = [spawn(), spawn()];
	runner.runs[0]?.answer("done");
	await heard();
	runner.runs[1]?.answer("done");
	await heard();
	manager.resume(first.id, spec);
	expect(seen).toEqual(["queued a1 1", "start a1 1", "queued a2 1", "start a2 1", "queued a1 2", "start a1 2"]);
});

describe("news of what happened before", () => {
	test("keeps its time, and what is said to be still to come happened now", () => {
		const { manager, last } = world();
		const { id } = manager.spawn({ ...spec, ...lasting });
		last().emit(said("Long ago."), 1_234);
		expect(manager.store.record(id)?.lastEventAt).toBe(1_234);
		last().emit(said("Tomorrow."), 86_400_000);
		expect(manager.store.record(id)?.lastEventAt).toBe(3_600_000);
	});

	test("pauses a provider from that moment on, so an old trouble pauses nobody", () => {
		const { manager, last } = world();
		manager.spawn({ ...spec, ...lasting });
		const trouble = { type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 1_000 } as const;
		last().emit({ ...trouble, error: "429 too many requests, retry after 60s" }, 3_500_000);
		expect(manager.slots().paused).toEqual([]);
		last().emit({ ...trouble, error: "429 too many requests, retry after 60s" }, 3_590_000);
		expect(manager.slots().paused).toEqual([{ provider: "fake", untilMs: 3_650_000 }]);
	});

	test("counts a tool's time from when it began", () => {
		const { manager, clock, last } = world();
		const { id } = manager.spawn({ ...spec, ...lasting, limits: { toolTimeoutMs: 60_000 } });
		last().emit(reading("a.ts"), 3_570_000);
		clock.advance(30_000);
		expect(manager.store.record(id)?.outcome).toMatchObject({ by: "timeout", reason: "read ran longer than 1m" });
	});
});

describe("an agent of an earlier process", () => {
	test("is taken in with its own times and rejoined, not started", () => {
		const { manager, events, last } = world();
		const record = manager.adopt({ ...adopted, name: "otter", parentAgentId: "gone", depth: 2, run: 3 });
		expect(record).toMatchObject({
			...{ id: "old", name: "otter", parentAgentId: "gone", depth: 2, run: 3, status: "running" },
			...{ queuedAt: 1_000, startedAt: 2_000, artifacts: "/project/runs/old", outlives: true, isBackground: true },
		});
		expect(last()).toMatchObject({ isAttached: true, spec: { agentId: "old", run: 3, artifacts: record.artifacts } });
		expect(events.map(({ type, at, run }) => [type, at, run])).toEqual([
			["agent_queued", 1_000, 3],
			["agent_started", 2_000, 3],
		]);
	});

	test("counts as started when it was queued, if nobody knows better", () => {
		const { startedAt: _unknown, ...unsure } = adopted;
		expect(world().manager.adopt(unsure)).toMatchObject({ status: "running", startedAt: 1_000 });
	});

	test("takes no slot and keeps nobody from starting", async () => {
		const { manager, spawn, last, heard } = world({ slots: { maxConcurrent: 1, whenFull: "refuse" } });
		manager.adopt(adopted);
		expect(spawn().status()).toBe("running");
		last().answer("done");
		await heard();
		expect(manager.slots()).toMatchObject({ running: 1, queued: 0, lent: 0 });
	});

	test("is steered, waited for and settled like any other", async () => {
		const { manager, last } = world();
		manager.adopt(adopted);
		manager.steer("old", "left");
		manager.wrapUp("old", "enough");
		expect([last().steers, last().wrapUps]).toEqual([["left"], ["enough"]]);
		const waiting = manager.wait("old");
		last().answer("Found it.");
		expect(await waiting).toEqual({ status: "completed", text: "Found it.", wrappedUp: true });
		expect(manager.store.record("old")).toMatchObject({ status: "completed", activity: "Found it." });
	});

	test("is stopped like any other", () => {
		const { manager, last } = world();
		manager.adopt(adopted);
		manager.abort("old", { by: "user" });
		expect(last().stops).toEqual([{ by: "user" }]);
		expect(manager.store.record("old")?.outcome).toEqual({ status: "aborted", by: "user" });
	});

	test("asks like any other", async () => {
		const { manager } = world({ audience: { sessionCanAnswer: () => true, userCanAnswer: () => false } });
		manager.adopt(adopted);
		const answer = manager.ask("old", { question: "Which?" });
		manager.answer("old", "left", "session");
		expect(await answer).toEqual({ by: "session", text: "left" });
		expect(manager.slots()).toMatchObject({ running: 0, lent: 0 });
	});

	test("pays for what it used before, too", async () => {
		const { manager, last } = world();
		manager.adopt({ ...adopted, spec: { ...adopted.spec, limits: { budgetTokens: 1_000 } } });
		const usage = { input: 2_000, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
		last().emit({ type: "usage", usage }, 2_500);
		expect(await last().checkpoint?.()).toBe("end");
		expect(manager.store.record("old")?.outcome).toMatchObject({ by: "budget" });
	});

	test("may have ended in time while nobody watched: its limits count once that could be read", async () => {
		const limits = { timeoutMs: 60_000, idleTimeoutMs: 5_000, toolTimeoutMs: 5_000 };
		const { manager, clock, last } = world();
		manager.adopt({ ...adopted, spec: { ...adopted.spec, limits } });
		last().emit(reading("a.ts"), 3_000);
		clock.advance(9_999);
		expect(manager.store.record("old")?.status).toBe("running");
		clock.advance(1);
		expect(manager.store.record("old")?.outcome).toMatchObject({ by: "timeout", reason: "it ran longer than 1m" });
	});

	test.each<[string, Runner | undefined, string]>([
		[
			"whose runner cannot rejoin",
			{ start: fakeRunner().start },
			'there is no "process" runner here that could rejoin it',
		],
		["whose runner is not there", undefined, 'there is no "process" runner here that could rejoin it'],
		[
			"whose runner fails to",
			{
				start: fakeRunner().start,
				attach() {
					throw new Error("its directory is gone");
				},
			},
			"its directory is gone",
		],
	])("%s is lost, and says why", (_what, process, reason) => {
		const { manager } = setUp({ runners: process ? { process } : {} });
		expect(manager.adopt(adopted).outcome).toEqual({ status: "aborted", by: "lost", reason });
		expect(manager.slots()).toMatchObject({ running: 0, queued: 0 });
	});

	test("that is known already is refused, except for the run after the last", async () => {
		const { manager, process, last, heard } = world();
		manager.adopt(adopted);
		expect(codeOf(() => manager.adopt({ ...adopted, run: 2 }))).toBe("wrong_state");
		last().answer("done");
		await heard();
		expect(codeOf(() => manager.adopt(adopted))).toBe("wrong_state");
		expect(process.runs).toHaveLength(1);
		expect(manager.adopt({ ...adopted, run: 2, artifacts: "/project/runs/old-2" })).toMatchObject({
			status: "running",
			run: 2,
			artifacts: "/project/runs/old-2",
		});
	});

	test("that a listener stops at once is still rejoined, or its process would live on", () => {
		const { manager, last } = world();
		manager.store.subscribe(({ event: { type, agentId } }) => {
			if (type === "agent_queued") manager.abort(agentId, { by: "user" });
		});
		expect(manager.adopt(adopted).outcome).toEqual({ status: "aborted", by: "user" });
		expect(last().stops).toEqual([{ by: "user" }]);
	});

	test("is not taken in any more once we shut down", async () => {
		const { manager } = world();
		await manager.shutdown();
		expect(codeOf(() => manager.adopt(adopted))).toBe("shut_down");
	});
});

describe("at shutdown", () => {
	test("an agent that outlives us is let go, unsettled and unharmed, and the others are stopped", async () => {
		const { manager, spawn, process, session, clock, events } = world();
		const ours = spawn();
		const lives = [spawn({ ...lasting, limits: { timeoutMs: 60_000 } }).id, manager.adopt(adopted).id];
		await manager.shutdown();
		expect(process.runs.map((run) => [run.isDetached(), run.stops])).toEqual([
			[true, []],
			[true, []],
		]);
		expect(lives.map((id) => manager.store.record(id)?.status)).toEqual(["running", "running"]);
		expect(ours.record()?.outcome).toEqual({ status: "aborted", by: "shutdown" });
		expect(session.runs[0]?.isDetached()).toBe(false);
		expect(events.filter(({ type }) => type === "agent_settled").map(({ agentId }) => agentId)).toEqual([ours.id]);
		clock.advance(3_600_000);
		expect([clock.waiting(), manager.slots().running]).toEqual([0, 0]);
		expect(codeOf(() => manager.steer(lives[0] ?? "", "too late"))).toBe("wrong_state");
	});

	test("one that is still queued has no process to live on in, and is stopped", async () => {
		const { manager, spawn, process } = world({ slots: { maxConcurrent: 1, whenFull: "queue" } });
		const [first, queued] = [spawn(lasting), spawn(lasting)];
		await manager.shutdown();
		expect(queued.record()?.outcome).toEqual({ status: "aborted", by: "shutdown" });
		expect(first.status()).toBe("running");
		expect(process.runs).toHaveLength(1);
	});

	test("one whose runner cannot let go is stopped", async () => {
		const { detach: _cannot, ...run } = fakeRunner().start({ ...spec, agentId: "a1", run: 1 }, () => undefined);
		const { manager } = setUp({ runners: { process: { start: () => run } } });
		const { id } = manager.spawn({ ...spec, ...lasting });
		await manager.shutdown();
		expect(manager.store.record(id)?.outcome).toEqual({ status: "aborted", by: "shutdown" });
	});

	test("whoever waits for one that lives on is told so", async () => {
		const { manager, spawn } = world();
		const agent = spawn(lasting);
		const parent = spawn();
		const patience = new AbortController();
		const waiting = [
			manager.wait(agent.id, { signal: patience.signal }),
			manager.wait(agent.id, { waiterId: parent.id }),
		].map((wait) => expect(wait).rejects.toMatchObject({ name: "AgentError", code: "shut_down" }));
		await manager.shutdown();
		await Promise.all(waiting);
		patience.abort();
		expect(manager.slots()).toMatchObject({ running: 0, lent: 0 });
	});

	test("its question ends here, and it hears nothing of that: the run is let go first", async () => {
		const heard: string[] = [];
		const runner: Runner = {
			start: (...given) => {
				const run = fakeRunner().start(...given);
				return { ...run, detach: async () => void heard.push("let go") };
			},
		};
		const audience = { sessionCanAnswer: () => true, userCanAnswer: () => false };
		const { manager } = setUp({ runners: { process: runner, session: fakeRunner() }, audience });
		// The question goes to a parent that ends with us, and must not be answered on its way out.
		const parent = manager.spawn({ ...spec, subagents: "*" });
		const { id } = manager.scope(parent.id).spawn({ ...spec, ...lasting });
		const asking = manager.ask(id, { question: "Which?" }).then(({ by }) => heard.push(by));
		expect(manager.questions()).toMatchObject([{ addressee: { who: "agent", agentId: parent.id } }]);
		await manager.shutdown();
		await asking;
		expect(heard).toEqual(["let go", "nobody"]);
		expect(manager.questions()).toEqual([]);
	});

	test("what a let go run still says or becomes is not taken in", async () => {
		const emitted: ((text: string) => void)[] = [];
		const ended = Promise.withResolvers<{ status: "completed"; text: string }>();
		const runner: Runner = {
			start: (_spec, emit) => {
				emitted.push((text) => emit(said(text)));
				const nothing = () => undefined;
				return {
					settled: ended.promise,
					abort: nothing,
					steer: nothing,
					wrapUp: nothing,
					detach: async () => undefined,
				};
			},
		};
		const { manager, heard } = setUp({ runners: { process: runner } });
		const { id } = manager.spawn({ ...spec, ...lasting });
		await manager.shutdown();
		const before = manager.store.record(id);
		emitted[0]?.("late");
		ended.resolve({ status: "completed", text: "later" });
		await heard();
		expect(manager.store.record(id)).toBe(before);
	});
});

test("the process is held for agents that need it, and for no others", async () => {
	const holds = { taken: 0, given: 0 };
	const hold = () => {
		holds.taken++;
		return () => void holds.given++;
	};
	const { manager, spawn, session, heard } = world({ clock: { ...handClock(), hold } });
	manager.adopt(adopted);
	spawn(lasting);
	expect(holds).toEqual({ taken: 0, given: 0 });
	const agents = [spawn(), spawn()];
	expect(holds).toEqual({ taken: 1, given: 0 });
	session.runs[0]?.answer("done");
	await heard();
	expect(holds).toEqual({ taken: 1, given: 0 });
	session.runs[1]?.answer("done");
	await heard();
	expect(holds).toEqual({ taken: 1, given: 1 });
	manager.resume(agents[0]?.id ?? "", spec);
	await manager.shutdown();
	expect(holds).toEqual({ taken: 2, given: 2 });
});
