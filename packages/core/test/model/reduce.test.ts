import { isSettled } from "@pi-subagents/progress";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AgentEvent, type AgentRecord, type ChildEvent, type LifeCycleEvent, reduce } from "../../src/index.ts";
import { log, queued, reading, replay, said, settled, started } from "../fixtures/events.ts";

describe("a record", () => {
	test("begins queued, with what the launch said", () => {
		expect(replay(queued)).toEqual({
			id: "a1",
			depth: 1,
			type: "scout",
			description: "look around",
			task: "Look.",
			cwd: "/project",
			runner: "session",
			isBackground: false,
			status: "queued",
			run: 1,
			queuedAt: 0,
			lastEventAt: 0,
			turns: 0,
			toolUses: 0,
			usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 },
			compactions: 0,
		});
	});

	test("counts what the child does and keeps the line a person reads", () => {
		const usage = { input: 10, output: 5, cacheRead: 1, cacheWrite: 2, cost: 0.5 };
		const record = replay(
			queued,
			started,
			{ type: "usage", usage },
			reading("src/auth.ts"),
			{ type: "tool_result", callId: "src/auth.ts", tool: "read", isError: false },
			{ type: "turn", contextPercent: 71 },
			{ type: "usage", usage },
			{ type: "compacted", ok: true },
			{ type: "compacted", ok: false },
			{ type: "assistant_text", text: "Found it.", stopReason: "stop", model: "fake/served" },
		);
		expect(record).not.toHaveProperty("contextPercent"); // compacted since then
		expect(record).toMatchObject({
			status: "running",
			toolUses: 1,
			turns: 1,
			compactions: 1,
			usage: { input: 20, output: 10, cacheRead: 2, cacheWrite: 4, cost: 1 },
			activity: "Found it.",
			model: "fake/served",
			startedAt: 1_000,
			lastEventAt: 9_000,
		});
	});

	test("waits while its question is open", () => {
		expect(replay(queued, started, { type: "agent_asked", question: "Which?" })).toMatchObject({
			status: "waiting",
			question: "Which?",
		});
		const answered = replay(queued, started, { type: "agent_asked", question: "Which?" }, { type: "agent_answered" });
		expect(answered).toMatchObject({ status: "running" });
		expect(answered).not.toHaveProperty("question");
	});

	test("settles with its outcome, also out of a question or the queue", () => {
		const stop = settled({ status: "aborted", by: "user" });
		expect(replay(queued, stop)).toMatchObject({ status: "aborted", completedAt: 1_000 });
		const asked = replay(queued, started, { type: "agent_asked", question: "Which?" }, stop);
		expect(asked).toMatchObject({ status: "aborted", outcome: { status: "aborted", by: "user" } });
		expect(asked).not.toHaveProperty("question");
	});
});

const filed: LifeCycleEvent = { type: "result_archived" };

/** The launch of the next run. */
const again: LifeCycleEvent =
	queued.type === "agent_queued" ? { ...queued, agent: { ...queued.agent, task: "And now?" } } : queued;

describe("settled is final", () => {
	test("a late completion does not overwrite an abort", () => {
		const record = replay(
			queued,
			started,
			settled({ status: "aborted", by: "user" }),
			said("late"),
			settled({ status: "completed", text: "late" }),
		);
		expect(record?.outcome).toEqual({ status: "aborted", by: "user" });
		expect(record).not.toHaveProperty("activity");
	});

	test("only the launch of the next run opens it again", () => {
		const record = replay(queued, started, settled({ status: "completed", text: "done" }), again);
		expect(record).toMatchObject({ status: "queued", run: 2, task: "And now?", queuedAt: 3_000 });
		expect(record).not.toHaveProperty("outcome");
		const late = replay(queued, started, settled({ status: "completed", text: "done" }), started);
		expect(late?.status).toBe("completed");
	});

	test("the models that failed in one run are not those of the next", () => {
		const fallback: ChildEvent = { type: "falling_back", from: "x/a", to: "y/a", error: "down" };
		const first = [queued, started, fallback, settled({ status: "completed", text: "done" })];
		expect(replay(...first)).toMatchObject({ model: "y/a", attempts: [{ model: "x/a", error: "down" }] });
		expect(replay(...first, again)).not.toHaveProperty("attempts");
	});

	test("its activity is the call that still runs, not the one that ended beside it", () => {
		const slow: ChildEvent = { type: "tool_call", callId: "1", tool: "bash", args: { command: "sleep 60" } };
		const quick: ChildEvent = { type: "tool_call", callId: "2", tool: "ls", args: { path: "." } };
		const listed: ChildEvent = { type: "tool_result", callId: "2", tool: "ls", isError: false };
		const slept: ChildEvent = { type: "tool_result", callId: "1", tool: "bash", isError: false };
		expect(replay(queued, started, slow, quick, listed)?.activity).toBe("sleep 60");
		expect(replay(queued, started, slow, quick, listed, slept)?.activity).toBe("Command finished: sleep 60");
	});

	test("what it has used stays counted in the next run", () => {
		const record = replay(
			queued,
			started,
			reading("a.ts"),
			settled({ status: "completed", text: "done" }),
			again,
			started,
			reading("b.ts"),
		);
		expect(record).toMatchObject({
			status: "running",
			run: 2,
			task: "And now?",
			toolUses: 2,
			activity: "Reading b.ts",
		});
		expect(record).not.toHaveProperty("outcome");
		expect(record).not.toHaveProperty("completedAt");
	});

	test("what was said at length is cut once it is in the files, and nothing else", () => {
		const text = "a long story, ".repeat(1_000);
		const events = [queued, started, said(text), settled({ status: "completed", text, wrappedUp: true })];
		const whole = replay(...events);
		expect(replay(...events, filed)).toEqual({
			...whole,
			outcome: { status: "completed", text: text.slice(0, 2_000), omitted: text.length - 2_000, wrappedUp: true },
		});
		const stopped = settled({ status: "aborted", by: "user", partialText: text });
		expect(replay(queued, started, stopped, filed)?.outcome).toMatchObject({ partialText: text.slice(0, 2_000) });
	});

	test("a short answer stays the very record, and so does one that has not settled or goes on", () => {
		const [last, ...earlier] = log([queued, started, settled({ status: "completed", text: "done" }), filed]).reverse();
		const before = earlier.reverse().reduce<AgentRecord | undefined>(reduce, undefined);
		expect(reduce(before, last as AgentEvent)).toBe(before);
		const long = settled({ status: "completed", text: "x".repeat(5_000) });
		expect(replay(queued, started, filed)).toEqual(replay(queued, started));
		expect(replay(queued, started, long, again, started, filed)).toMatchObject({ status: "running", run: 2 });
	});

	test("news of an earlier run does not reach the next one", () => {
		const events = log([queued, started, settled({ status: "completed", text: "done" }), again, started]);
		const late: AgentEvent = { ...said("from run 1"), agentId: "a1", run: 1, seq: 9, at: 9_000 };
		const before = events.reduce<AgentRecord | undefined>(reduce, undefined);
		expect(reduce(before, late)).toBe(before);
	});
});

describe("any log at all", () => {
	const outcomes = fc.constantFrom(
		settled({ status: "completed", text: "ok" }),
		settled({ status: "failed", error: "no" }),
		settled({ status: "aborted", by: "user" }),
	);
	const events = fc.oneof(
		fc.constantFrom<LifeCycleEvent | ChildEvent>(
			queued,
			started,
			said("hello"),
			reading("a.ts"),
			{ type: "agent_asked", question: "?" },
			{ type: "agent_answered" },
			{ type: "agent_steered", message: "left" },
			filed,
			{ type: "turn" },
			{ type: "idle" },
		),
		outcomes,
	);
	const logs = fc.array(
		fc.record({ event: events, run: fc.integer({ min: 1, max: 3 }), id: fc.constantFrom("a1", "a2") }),
		{
			maxLength: 60,
		},
	);

	test("gives consistent records, and the same ones when it is replayed", () => {
		fc.assert(
			fc.property(logs, (entries) => {
				const all = entries.map(
					({ event, run, id }, seq): AgentEvent => ({ ...event, agentId: id, run, seq, at: seq }),
				);
				const mine = all.filter(({ agentId }) => agentId === "a1");
				let record: AgentRecord | undefined;
				for (const event of mine) {
					const before = record;
					record = reduce(record, event);
					if (before && isSettled(before.status) && event.type !== "agent_queued") expect(record).toBe(before);
					if (record) {
						expect(isSettled(record.status)).toBe(record.outcome !== undefined);
						expect(record.status === "waiting").toBe(record.question !== undefined);
					}
				}
				const again = structuredClone(mine).reduce<AgentRecord | undefined>(reduce, undefined);
				expect(again).toEqual(record);
				expect(record === undefined ? undefined : JSON.parse(JSON.stringify(record))).toEqual(record);
			}),
			{ numRuns: 500 },
		);
	});

	test("an event of a kind this version does not know changes nothing that matters", () => {
		const record = replay(queued, started);
		const unknown = { type: "agent_teleported", agentId: "a1", run: 1, seq: 9, at: 9_000 } as unknown as AgentEvent;
		expect(reduce(record, unknown)).toMatchObject({ status: "running", turns: 0 });
	});
});
