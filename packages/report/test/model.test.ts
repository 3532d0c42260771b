import type { Usage } from "@pi-subagents/progress";
import type { EventLine } from "@pi-subagents/runs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildReport, type Report, type ReportAgent, type RunInput } from "../src/index.ts";
import { calls, ended, family, launched, log, NO_USAGE, returns, said, spent } from "./fixtures/runs.ts";

const kinds = ({ spans }: ReportAgent) => spans.map(({ kind, start, end }) => [kind, start, end]);
const agent = ({ agents }: Report, id: string) => {
	const found = agents.find((each) => each.id === id);
	if (!found) throw new Error(`${id} is not in the report`);
	return found;
};

test("an agent of a workflow names its phase", () => {
	const runs = [
		launched("flow", { agent: { type: "workflow" }, end: ended() }),
		launched("a", { agent: { phase: "Review\u001b[31m", parentAgentId: "flow" }, end: ended() }),
	];
	const report = buildReport(runs, { now: 99_999 });
	expect(report.agents.map(({ id, phase }) => [id, phase])).toEqual([
		["flow", undefined],
		["a", "Review"],
	]);
});

describe("a family", () => {
	const report = buildReport(family(), { now: 99_999 });

	test("is a tree, parents first", () => {
		expect(report.agents.map(({ id, parentId, depth }) => [id, parentId, depth])).toEqual([
			["boss", undefined, 1],
			["scout", "boss", 2],
		]);
		expect([report.startedAt, report.endedAt, report.sessionId]).toEqual([1_000, 9_600, "s1"]);
		expect(report.usage).toMatchObject({ input: 46, output: 11 });
	});

	test("has spans for all that its time went into", () => {
		expect(kinds(agent(report, "boss"))).toEqual([
			["queued", 1_000, 1_100],
			["model", 1_100, 2_000],
			["agents", 2_000, 8_000],
			["model", 8_000, 9_500],
		]);
		expect(kinds(agent(report, "scout"))).toEqual([
			["queued", 2_100, 2_500],
			["model", 2_500, 3_000],
			["retry", 3_000, 3_500],
			["model", 3_500, 4_000],
			["tool", 4_000, 4_300],
			["tool", 4_000, 6_000],
			["person", 4_200, 6_000],
			["model", 6_000, 7_900],
		]);
	});

	test("has a critical path through the agent that was waited for", () => {
		expect(report.criticalPath).toEqual([
			{ id: "boss", start: 1_000, end: 2_100 },
			{ id: "scout", start: 2_100, end: 7_950 },
			{ id: "boss", start: 7_950, end: 9_600 },
		]);
	});

	test("shows arguments and output only in a full report", () => {
		const [scout, boss] = family();
		const runs = [{ ...scout, outputs: new Map([["r1", "the plan"]]), diff: "+new" } as RunInput, boss as RunInput];
		const brief = JSON.stringify(buildReport(runs, { now: 0 }));
		expect(brief).not.toContain("the plan");
		expect(brief).not.toContain("+new");
		const full = agent(buildReport(runs, { now: 0, isFull: true }), "scout");
		expect(full.transcript).toContainEqual(
			expect.objectContaining({ type: "tool", isError: true, output: "the plan", args: expect.any(String) }),
		);
		expect(full.diff).toBe("+new");
	});
});

test("what a failed check printed is only in a full report", () => {
	const verification = { ok: false, command: "npm test", problem: "npm test exited with code 1", tail: "not ok 3" };
	const outcome = { status: "failed" as const, error: "Not verified: npm test exited with code 1", verification };
	const run = launched("a1", { end: ended({ outcome }) });
	const [brief, full] = [false, true].map((isFull) => agent(buildReport([run], { now: 0, isFull }), "a1").verification);
	expect(brief).toEqual({ ok: false, command: "npm test", problem: "npm test exited with code 1" });
	expect(full).toEqual(verification);
});

test("secrets are masked in every spelling, and control characters are gone", () => {
	const secret = "sk-live/very+secret=1";
	const task = `a ${secret} b ${encodeURIComponent(secret)} \x1b[31mred\u202e`;
	const data = { [`key ${secret}`]: [{ deep: secret }] };
	const outcome = {
		status: "completed" as const,
		text: btoa(secret),
		structured: { ok: true as const, data, preview: "" },
	};
	const run = launched("a1", { agent: { task }, lines: log([1_000, said(secret)]), end: ended({ outcome }) });
	const text = JSON.stringify(buildReport([run], { now: 0, secrets: [secret, "short"] }));
	expect(text).not.toMatch(/very|secret|c2stbGl2ZS92/);
	expect(text).toContain("a [masked] b [masked] red");
});

test("circles and unknown parents still give a tree", () => {
	const runs: RunInput[] = [
		launched("old"),
		launched("a", { agent: { parentAgentId: "b" } }),
		launched("b", { agent: { parentAgentId: "a" } }),
		launched("orphan", { agent: { parentAgentId: "gone" } }),
	];
	const report = buildReport(runs, { now: 5_000 });
	expect(report.agents.map(({ id }) => id).sort()).toEqual(["a", "b", "old", "orphan"]);
	expect(report.agents.filter(({ parentId }) => parentId === undefined)).toHaveLength(3);
});

test("what a log lacks of the usage is shown, and a run that still runs ends now", () => {
	const usage: Usage = { ...NO_USAGE, input: 100, output: 10, cost: 1 };
	const cut = launched("a1", { lines: log([1_000, { type: "agent_started" }], [2_000, spent({ input: 40 })]) });
	const [done] = buildReport([{ ...cut, end: ended({ usage }) }], { now: 0 }).agents;
	expect(done?.spans.at(-1)).toMatchObject({ label: "not in the log", usage: { ...usage, input: 60 } });
	const [running] = buildReport([cut], { now: 7_000 }).agents;
	expect(running).toMatchObject({ status: "running", endedAt: 7_000, usage: { input: 40 } });
});

test("what another machine says about people here is its word", () => {
	const elsewhere = { runner: "remote", machine: "box" } as const;
	const lines = log(
		[1_000, { type: "agent_started" }],
		[2_000, { type: "agent_answered", by: "user" }],
		[3_000, { type: "agent_steered", message: "Go on." }],
	);
	const [agent] = buildReport([launched("a1", { agent: elsewhere, lines })], { now: 5_000 }).agents;
	expect(agent?.transcript.map(({ text }) => text)).toEqual(["box says: The user answered.", "box says: Go on."]);
});

const amount = fc.nat(1_000_000);
const usage = fc.record({ input: amount, output: amount, cacheRead: amount, cacheWrite: amount, cost: fc.nat(100) });
const callId = fc.constantFrom("c1", "c2", "c3");
const event = fc.oneof(
	fc.constant({ type: "agent_started" as const }),
	fc.string().map(said),
	usage.map((each) => spent(each)),
	callId.map((id) => calls(id)),
	callId.map((id) => calls(id, "subagent")),
	callId.map((id) => returns(id)),
	fc.constantFrom(
		{ type: "turn" as const },
		{ type: "idle" as const },
		{ type: "compacting" as const },
		{ type: "compacted" as const, ok: true },
		{ type: "agent_asked" as const, question: "?" },
		{ type: "agent_answered" as const },
		{ type: "agent_steered" as const, message: "!" },
		{ type: "falling_back" as const, from: "a", to: "b", error: "x" },
		{ type: "retrying" as const, attempt: 1, maxAttempts: 2, delayMs: 70_000, error: "x" },
	),
);
/** Any log at all, with the totals that a recorder would have written. */
const anyRun = fc
	.record({
		events: fc.array(fc.tuple(fc.nat(20_000), event), { maxLength: 40 }),
		queuedAt: fc.nat(10_000),
		completedAt: fc.nat(30_000),
		parent: fc.constantFrom(undefined, "a0", "a1", "a2"),
		isOver: fc.boolean(),
	})
	.map(({ events, queuedAt, completedAt, parent, isOver }, index = 0) => {
		const lines = log(...events) as EventLine[];
		const total = lines.reduce<Usage>((sum, line) => (line.type === "usage" ? plus(sum, line.usage) : sum), NO_USAGE);
		return (id: string): RunInput =>
			launched(id, {
				queuedAt,
				agent: parent === undefined ? {} : { parentAgentId: parent, callId: `c${index}` },
				lines,
				...(isOver ? { end: ended({ completedAt, usage: total }) } : {}),
			});
	});
const plus = (a: Usage, b: Usage): Usage => ({
	input: a.input + b.input,
	output: a.output + b.output,
	cacheRead: a.cacheRead + b.cacheRead,
	cacheWrite: a.cacheWrite + b.cacheWrite,
	cost: a.cost + b.cost,
});

test("spans lie within their run and their usage adds up to that of the result, whatever the log says", () => {
	fc.assert(
		fc.property(fc.array(anyRun, { minLength: 1, maxLength: 4 }), (made) => {
			const runs = made.map((make, index) => make(`a${index}`));
			const report = buildReport(runs, { now: 25_000 });
			expect(report.agents).toHaveLength(runs.length);
			for (const { spans, queuedAt, endedAt, usage: all } of report.agents) {
				for (const { start, end } of spans) {
					expect(Number.isInteger(start) && Number.isInteger(end)).toBe(true);
					expect(queuedAt <= start && start <= end && end <= endedAt).toBe(true);
				}
				if (spans.some((span) => span.usage))
					expect(spans.reduce((sum, span) => plus(sum, span.usage ?? NO_USAGE), NO_USAGE)).toEqual(all);
				else expect(all).toEqual(NO_USAGE);
			}
			const byId = new Map(report.agents.map((each) => [each.id, each]));
			let last = Number.NEGATIVE_INFINITY;
			for (const { id, start, end } of report.criticalPath) {
				const { queuedAt = 0, endedAt = 0 } = byId.get(id) ?? {};
				expect(last <= start && start < end && queuedAt <= start && end <= endedAt).toBe(true);
				last = end;
			}
		}),
		{ numRuns: 300 },
	);
});
