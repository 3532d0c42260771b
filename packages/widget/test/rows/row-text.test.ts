import { visibleWidth } from "@earendil-works/pi-tui";
import { expect, test } from "vitest";
import { type AgentView, buildTree, type FitOptions, fit, type Row, render } from "../../src/index.ts";
import { NOW } from "../scenes.ts";

const rowsOf = (views: readonly AgentView[], options: Partial<FitOptions> = {}): readonly Row[] =>
	fit(buildTree(views), { mode: "rich", width: 120, maxLines: 40, now: NOW, ...options }).rows;
const lineOf = (view: Partial<AgentView>, options: Partial<FitOptions> = {}) => {
	const views: AgentView[] = [{ id: "a", status: "running", type: "worker", ...view }];
	return render(fit(buildTree(views), { mode: "compact", width: 120, maxLines: 9, now: NOW, ...options }))[1]?.slice(3);
};

test.each([
	[59, undefined, undefined],
	[60, "bash 1m", "attention"],
	[200, "bash 3m", "attention"],
	[300, "bash 5m", "alarm"],
	[3_900, "bash 1h 5m", "alarm"],
])("an agent that has been silent for %i seconds is marked: %s, %s", (seconds, text, tone) => {
	const view: AgentView = { id: "a", status: "running", lastEventAt: NOW - seconds * 1_000 };
	const rows = rowsOf([{ ...view, activity: "npm test", memory: { pending: [{ tool: "read" }, { tool: "bash" }] } }]);
	const mark = rows[2]?.segments.find((segment) => segment.tone === "attention" || segment.tone === "alarm");
	expect([mark?.text, mark?.tone]).toEqual([text, tone]);
});

test("an agent is not silent while others work for it, while it waits for an answer, or when it has settled", () => {
	const lastEventAt = NOW - 3_600_000;
	const rows = rowsOf([
		{ id: "parent", status: "running", lastEventAt },
		{ id: "child", parentAgentId: "parent", status: "running", lastEventAt: NOW },
		{ id: "asking", status: "waiting", lastEventAt },
		{ id: "done", status: "completed", lastEventAt },
	]);
	expect(rows.flatMap(({ segments }) => segments.filter(({ tone }) => tone === "alarm"))).toEqual([]);
});

test("on 50 columns the age stays beside what an agent does, whatever it is and however deep", () => {
	const chain = (seconds: number): AgentView[] =>
		["a", "b", "c"].map((id, at, ids) => ({
			...{ id, status: "running", type: "general-purpose", description: "trace manager ownership" },
			...{ activity: "reading agent-widget.ts", startedAt: NOW - seconds * 1_000 },
			...(at > 0 ? { parentAgentId: ids[at - 1] ?? "" } : {}),
		}));
	const agesAt = (seconds: number) => {
		const lines = render(fit(buildTree(chain(seconds)), { mode: "compact", width: 50, maxLines: 9, now: NOW })).slice(
			1,
		);
		return lines.map((line) => / · rea\S* ?\S*… · (.*)$/.exec(line)?.[1]);
	};
	expect([8, 68, 754, 3_723].map(agesAt)).toEqual(["8s", "1m 8s", "12m 34s", "1h 2m"].map((age) => [age, age, age]));
});

test("without a tool it is simply silent", () => {
	expect(lineOf({ lastEventAt: NOW - 120_000 })).toBe("⠋ worker · silent 2m");
});

test.each([
	[{ status: "queued" }, "◦ worker"],
	[{ status: "waiting" }, "? worker · waiting for you"],
	[{ status: "waiting", question: "left or right?" }, "? worker · asks you: left or right?"],
	[
		{ status: "waiting", question: "left or right?", waitsFor: { who: "agent", name: "Plan" } },
		"⠋ worker · asks Plan: left or right?",
	],
	[{ status: "waiting", waitsFor: { who: "session" } }, "⠋ worker · waiting for pi"],
	[{ status: "completed" }, "✓ worker"],
	[{ status: "failed" }, "✗ worker failed"],
	[{ status: "failed", error: "no luck" }, "✗ worker error: no luck"],
	[{ status: "failed", error: "old", outcome: { status: "failed", error: "new" } }, "✗ worker error: new"],
	[{ status: "aborted" }, "■ worker · stopped"],
	[{ status: "aborted", outcome: { status: "aborted", by: "user" } }, "■ worker · Stopped by you"],
	[{ status: "aborted", outcome: { status: "aborted", by: "parent" } }, "■ worker · Stopped by its parent"],
	[{ status: "aborted", outcome: { status: "aborted", by: "budget" } }, "■ worker · Stopped: budget used up"],
	[
		{ status: "aborted", outcome: { status: "aborted", by: "lost" } },
		"■ worker · Stopped: the agent ended without a result",
	],
] as [Partial<AgentView>, string][])("%j is drawn as %s", (view, line) => {
	expect(lineOf(view)).toBe(line);
});

test("the model is told once, and again where it changes", () => {
	const rows = rowsOf([
		{ id: "a", status: "running", model: "anthropic/claude-opus-4-5-20251101" },
		{ id: "b", parentAgentId: "a", status: "running", model: "anthropic/claude-opus-4-5-20251101" },
		{ id: "c", parentAgentId: "b", status: "running", model: "openai/gpt-5" },
	]);
	const told = rows.flatMap(({ segments }) => segments.filter(({ tone }) => tone === "model").map(({ text }) => text));
	expect(told).toEqual(["opus-4-5", "gpt-5"]);
});

test("a full context is marked", () => {
	const usage = { input: 1_000, output: 500, cacheRead: 9_000_000, cacheWrite: 0, cost: 0 };
	const toneAt = (contextPercent: number) =>
		rowsOf([{ id: "a", status: "running", usage, contextPercent }])[2]?.segments.at(-1)?.tone;
	expect([69, 70, 85].map(toneAt)).toEqual(["figures", "attention", "alarm"]);
	expect(lineOf({ usage, contextPercent: 70, compactions: 2 })).toBe("⠋ worker · 1.5k tokens (70% · ⇊2)");
});

test("a very deep row keeps half of the width for words, and says that levels are left out", () => {
	const views = Array.from({ length: 12 }, (_, at): AgentView => {
		return {
			id: `${at}`,
			parentAgentId: at === 0 ? undefined : `${at - 1}`,
			status: "running",
			description: "deep down",
		};
	});
	const lines = render(fit(buildTree(views), { mode: "compact", width: 40, maxLines: 20, now: NOW }));
	expect(lines[5]).toBe("            └─ ⠇ 4 deep down");
	expect(lines.at(-1)).toMatch(/^⋯ {14}└─ \S 11 deep down$/);
});

test("odd data does no harm: unknown statuses, wrong types, impossible times", () => {
	const odd = [
		{ id: "a", status: "dreaming" },
		{
			id: "b",
			status: "running",
			type: 7,
			description: null,
			startedAt: NOW + 5_000,
			activity: {},
			usage: {},
			memory: {},
		},
		{ id: "c", status: "completed", startedAt: Number.NaN, completedAt: -1, model: "" },
		{
			id: "d",
			status: "running",
			memory: { pending: [{ tool: 5 }] },
			model: 5,
			lastEventAt: 0,
			contextPercent: Number.NaN,
			turns: -1,
		},
	] as unknown as AgentView[];
	for (const mode of ["auto", "rich", "compact", "focused"] as const) {
		for (const line of render(fit(buildTree(odd), { mode, width: 12, maxLines: 20, now: NOW }))) {
			expect(visibleWidth(line)).toBeLessThanOrEqual(12);
		}
	}
	expect(render(fit(buildTree(odd), { mode: "compact", width: 80, maxLines: 20, now: NOW }))).toContain("├─ ○ a");
	const lines = render(fit(buildTree(odd), { mode: "compact", width: Number.NaN, maxLines: 20, now: NOW }));
	expect(lines.join("")).toBe("");
});

test("an agent on another machine says where", () => {
	expect(lineOf({ machine: "box\u001b[31m", description: "look around" })).toBe("⠋ worker @box look around");
});
