import { initTheme, type Theme } from "@earendil-works/pi-coding-agent";
import { visibleWidth } from "@earendil-works/pi-tui";
import type { NotifiedAgent } from "@pi-subagents/delivery";
import { isFullRun } from "@pi-subagents-dev/testkit/full-run";
import { beforeAll, expect, test } from "vitest";
import { renderNotification } from "../../src/render/notification.ts";

/** Says nothing about colours, so that tests compare words. */
const plain = {
	fg: (_: string, text: string) => text,
	bg: (_: string, text: string) => text,
	bold: (text: string) => text,
} as unknown as Theme;

const scout = {
	id: "a1",
	preset: "scout",
	description: "Find the launch code",
	status: "completed" as string,
	summary: "Completed in 1m 12s",
	preview: "It is heliotrope.",
	toolUses: 3,
	tokens: 22_800,
	durationMs: 72_000,
};

const details = (
	...agents: (Partial<typeof scout> &
		Partial<Pick<NotifiedAgent, "resultPath" | "cost" | "checkOutput" | "outcome" | "isPaused">>)[]
) => ({
	runIds: agents.map((_, index) => `a${index}`),
	agents: agents.map((agent) => ({ ...scout, ...agent })),
});

function draw(details: unknown, { expanded = false, width = 80, content = "<task-notification>" as unknown } = {}) {
	return renderNotification({ content, details }, { expanded }, plain)
		.render(width)
		.map((line) => line.trimEnd());
}

beforeAll(() => initTheme("dark"));

test("a short result is one head and what the agent said", () => {
	expect(draw(details({}))).toEqual([
		"",
		" ✓ scout Find the launch code  1m 12s · 3 tools · 22.8k tokens",
		"   It is heliotrope.",
		"",
	]);
});

test("one that completed says where its changes are and whether they were verified, and what it cost", () => {
	const summary = "Completed in 1m 12s, verified: npm test (2s); branch pi-subagents/a1 (1 file, +1 -1)";
	expect(draw(details({ summary, cost: 0.012 }))).toEqual([
		"",
		" ✓ scout Find the launch code  1m 12s · $0.012 · 3 tools · 22.8k tokens",
		"   verified: npm test (2s); branch pi-subagents/a1 (1 file, +1 -1)",
		"   It is heliotrope.",
		"",
	]);
});

test("who failed or was stopped says why", () => {
	const failed = { status: "failed" as const, summary: "Failed after 2s: No API key", preview: "" };
	const stopped = { status: "aborted" as const, summary: "Stopped by you after 2s", preview: "Half." };
	expect(draw(details(failed, stopped))).toEqual([
		"",
		" ✗ scout Find the launch code  1m 12s · 3 tools · 22.8k tokens",
		"   Failed after 2s: No API key",
		" ■ scout Find the launch code  1m 12s · 3 tools · 22.8k tokens",
		"   Stopped by you after 2s",
		"   Half.",
		"",
	]);
});

test("of a failed check, the unfolded box has the end of what the command printed", () => {
	const summary = "Failed after 2s: Not verified: npm test exited with code 1 (1s)";
	const failed = details({
		status: "failed",
		summary,
		preview: "All done.",
		checkOutput: "not ok 3\n  at \x1b[2Ja.ts:7",
	});
	expect(draw(failed)).toEqual([
		"",
		" ✗ scout Find the launch code  1m 12s · 3 tools · 22.8k tokens",
		`   ${summary}`,
		"   All done.",
		expect.stringMatching(/^ … .*to expand/),
		"",
	]);
	expect(draw(failed, { expanded: true })).toEqual([
		"",
		" ✗ scout Find the launch code  1m 12s · 3 tools · 22.8k tokens",
		` ${summary}`,
		"   not ok 3",
		"     at a.ts:7",
		"",
		" All done.",
		"",
	]);
	for (let width = 1; width < 30; width++)
		expect(draw(failed, { expanded: true, width }).every((line) => visibleWidth(line) <= width)).toBe(true);
});

test("the end is drawn from data: what the line beside it says does not matter", () => {
	const verification = { ok: true, command: "npm test", durationMs: 2_000 };
	const worktree = { branch: "pi-subagents/a1", base: "0", files: 1, insertions: 1, deletions: 1 };
	const ends = [
		{ outcome: { status: "completed", verification, worktree } },
		{ status: "failed", outcome: { status: "failed", error: "No API key" }, preview: "" },
		{ status: "failed", outcome: { status: "failed", error: "Fine.", claimedBy: "file" }, preview: "" },
		{ status: "aborted", isPaused: true, outcome: { status: "aborted", by: "timeout" }, preview: "" },
	] as Parameters<typeof details>;
	const [ours, other] = ["Completed in 1m 12s", "~"].map((summary) =>
		draw(details(...ends.map((end) => ({ ...end, summary })))),
	);
	expect(other).toEqual(ours);
	expect(ours?.filter((line) => !line.includes("scout"))).toEqual([
		"",
		"   verified: npm test (2s); branch pi-subagents/a1 (1 file, +1 -1)",
		"   It is heliotrope.",
		"   Failed after 1m 12s: No API key",
		'   Failed after 1m 12s, its file says: "Fine."',
		"   Stopped after 1m 12s: timed out; /workflow resume a1 continues it",
		"",
	]);
});

test("a long result is folded, with the way to unfold it; unfolded it is all there, with the path of the rest", () => {
	const answer = { preview: "# One\n\n- two\n- three\n- four\n- five\n- six\n- seven" };
	const long = details({ ...answer, resultPath: "/runs/a1/result.json" });
	const folded = draw(long);
	expect(folded.slice(2, 8)).toEqual(["   # One", "   - two", "   - three", "   - four", "   - five", "   - six"]);
	expect(folded[8]).toMatch(/^ … .*to expand/);
	expect(draw(details(answer, {})).slice(2, 6)).toEqual([
		"   # One",
		"   - two",
		"   - three",
		expect.stringContaining("scout"),
	]);
	const whole = draw(long, { expanded: true }).join("\n");
	expect(whole).toContain("seven");
	expect(whole).not.toContain("- - ");
	expect(whole).toContain("All of it: /runs/a1/result.json");
	expect(whole).not.toContain("to expand");
});

test("a paragraph is shown in as many lines as other results, and what is beyond them can be unfolded", () => {
	const wide = details({ preview: "word ".repeat(100) });
	const folded = draw(wide);
	expect(folded.filter((line) => /^ {3}(?:word ?){15}$/.test(line))).toHaveLength(6);
	expect(folded.at(-2)).toMatch(/^ … .*to expand/);
	expect(draw(wide, { width: 300 }).join("\n")).not.toContain("to expand");
	const summary = `Failed after 2s: ${"x".repeat(80)}`;
	expect(draw(details({ status: "failed", summary })).join("\n")).toContain("to expand");
});

test("of many agents only the heads are shown, and the rest is counted", () => {
	const many = details({}, {}, {}, {}, {});
	many.runIds.push("b1", "b2");
	const shown = draw(many);
	expect(shown).toHaveLength(9);
	expect(shown.join("\n")).not.toContain("heliotrope");
	expect(shown.at(-2)).toBe(" and 2 more");
});

test("where there is little room, figures go first, then the description; the time stays", () => {
	expect(draw(details({}), { width: 56 })[1]).toBe(" ✓ scout Find the launch code  1m 12s · 3 tools");
	expect(draw(details({}), { width: 36 })[1]).toBe(" ✓ scout Find the launch c…  1m 12s");
	expect(draw(details({}), { width: 20 })[1]).toBe(" ✓ scout  1m 12s");
	expect(draw(details({}), { width: 14 })[1]).toBe(" ✓ scout  1m…");
});

test.each([
	["nothing", undefined],
	["no object", "x"],
	["no list", { agents: 3 }],
	["a list of nothing", { agents: [null, 3, "x"] }],
])("details that hold %s leave the text of the message", (_, details) => {
	expect(draw(details, { content: "An agent has \x1b[31mended." })).toEqual(["", " An agent has ended.", ""]);
	expect(draw(details, { content: [{ type: "text", text: "Ended." }, null] })).toEqual(["", " Ended.", ""]);
	expect(draw(details, { content: 7 })).toEqual(["", " An agent has settled.", ""]);
});

test("fields that are missing or wrong are no reason to fail", () => {
	const broken = {
		agents: [{}, { preset: 3, status: [], preview: {}, durationMs: "x", tokens: -1, toolUses: Number.NaN }],
	};
	expect(draw(broken)).toEqual(["", " ● agent  0s · 0 tools · 0 tokens", " ● agent  0s · 0 tools · 0 tokens", ""]);
	expect(draw(broken, { expanded: true })).toHaveLength(5);
});

/** All but colours. */
const CONTROLS = /(?!\x1b\[[\d;]*m)[\x00-\x1f\x7f-\x9f\u202a-\u202e]/;

test("nothing is wider than the screen, and no control character reaches it, at any width", () => {
	const hostile =
		"中文 \u{1f469}‍\u{1f467}\u{1f3fd} e\u0301 \x1b[31mred\x1b[0m \x1b]8;;http://x\x07 \u202eabc\r\n\t```\n| a | b |\n|---|---|\n| 中 | x |\n";
	const evil = {
		...{ preset: hostile, description: hostile, summary: hostile, preview: hostile.repeat(2), resultPath: hostile },
		...{ status: hostile as never, durationMs: 1e300 },
	};
	const messages = [details(evil, {}), details({ preset: "x".repeat(500) }), undefined];
	for (const expanded of [false, true]) {
		for (const message of messages) {
			const component = renderNotification({ content: hostile, details: message }, { expanded }, plain);
			for (let width = 0; width <= 300; width += isFullRun || width < 40 ? 1 : 10) {
				const bad = component.render(width).filter((line) => visibleWidth(line) > width || CONTROLS.test(line));
				expect(bad, `at ${width} columns`).toEqual([]);
			}
		}
	}
});
