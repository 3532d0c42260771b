import { visibleWidth } from "@earendil-works/pi-tui";
import { isFullRun } from "@pi-subagents-dev/testkit/full-run";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
	type AgentView,
	buildTree,
	type FitOptions,
	fit,
	type Layout,
	type Mode,
	piTheme,
	render,
	type Tree,
	type TreeNode,
} from "../../src/index.ts";
import { NOW } from "../scenes.ts";
import { randomViews } from "./random-views.ts";

const theme = piTheme({
	fg: (color, text) => `\x1b[38;5;${color.length}m${text}\x1b[39m`,
	bold: (text) => `\x1b[1m${text}\x1b[22m`,
});
const anyFrame = fc.record({
	seed: fc.integer(),
	most: fc.constantFrom(1, 5, 30, 200, 2_000),
	mode: fc.constantFrom<Mode>("auto", "rich", "compact", "focused"),
	width: fc.nat(300),
	maxLines: fc.nat(60),
	focus: fc.nat(),
});
type Frame = typeof anyFrame extends fc.Arbitrary<infer T> ? T : never;

const optionsFor = ({ mode, width, maxLines, focus }: Frame, views: readonly AgentView[]): FitOptions => {
	return { mode, width, maxLines, now: NOW, focusId: views[focus % (views.length + 1)]?.id };
};
/** A full run tries all, the gate one of five. */
const runs = (all: number) => ({ numRuns: isFullRun ? all : all / 5 });
const check = (predicate: (frame: Frame, views: AgentView[]) => void, all = 400) =>
	fc.assert(
		fc.property(anyFrame, (frame) => predicate(frame, randomViews(frame.seed, frame.most))),
		runs(all),
	);
const sizeOf = (counts: Layout["hidden"]) => counts.running + counts.waiting + counts.queued + counts.finished;
const agentsOf = ({ rows }: Layout) =>
	rows.flatMap(({ role, id }) => (role === "agent" && id !== undefined ? [id] : []));
const everybody = ({ roots, orphans }: Tree): TreeNode[] => {
	const nodes = [...roots, ...orphans];
	for (let at = 0; at < nodes.length; at++) nodes.push(...(nodes[at]?.children ?? []));
	return nodes;
};

test("no line is too wide, there are no more than allowed, and none holds a control character", () => {
	check((frame, views) => {
		const layout = fit(buildTree(views), optionsFor(frame, views));
		const plain = render(layout);
		expect(plain.length).toBeLessThanOrEqual(frame.maxLines);
		for (const [at, line] of plain.entries()) {
			expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u);
			expect(visibleWidth(line), line).toBeLessThanOrEqual(frame.width);
			expect(visibleWidth(render(layout, theme)[at] ?? "")).toBe(visibleWidth(line));
		}
	});
});

test("those who are shown and those who are counted as hidden are all there are, each once", () => {
	check((frame, views) => {
		const tree = buildTree(views);
		const layout = fit(tree, optionsFor(frame, views));
		const all = sizeOf(tree.counts);
		const shown = agentsOf(layout);
		expect(new Set(shown).size).toBe(shown.length);
		expect(layout.shown).toBe(shown.length);
		expect(layout.shown + sizeOf(layout.hidden)).toBe(all);
		// With a line for the header and one for the rest, the rows themselves tell it all.
		if (frame.maxLines < (layout.mode === "focused" ? 3 : 2)) return;
		const counted = layout.rows.reduce((sum, { counts }) => sum + (counts ? sizeOf(counts) : 0), 0);
		expect(shown.length + counted).toBe(all);
	});
});

test("an agent is shown with all above it, and whoever is at work before whoever is not", () => {
	check((frame, views) => {
		if (frame.mode === "focused") return;
		const tree = buildTree(views);
		const layout = fit(tree, optionsFor(frame, views));
		const shown = new Set(agentsOf(layout));
		const isActiveHidden = layout.hidden.running + layout.hidden.waiting > 0;
		for (const node of everybody(tree)) {
			const kids = [...node.children];
			const hidden = kids.filter(({ view }) => !shown.has(view.id));
			if (!shown.has(node.view.id)) expect(hidden).toEqual(kids);
			if (!isActiveHidden || hidden.length === 0) continue;
			for (const { view, counts } of kids)
				if (shown.has(view.id)) expect(counts.running + counts.waiting).toBeGreaterThan(0);
		}
	});
});

test("all agents are drawn when there is room for all", () => {
	check((frame, views) => {
		const layout = fit(buildTree(views), {
			...optionsFor(frame, views),
			mode: "rich",
			maxLines: Number.POSITIVE_INFINITY,
		});
		expect(sizeOf(layout.hidden)).toBe(0);
	}, 100);
});

test("the same agents give the same lines", () => {
	check((frame, views) => {
		const again = structuredClone(views);
		const options = optionsFor(frame, views);
		expect(render(fit(buildTree(again), options))).toEqual(render(fit(buildTree(views), options)));
	}, 200);
});

test("whatever was drawn before, of another width, mode or time, a frame is that of views that nobody has drawn", () => {
	const look = fc.record({
		mode: fc.constantFrom<Mode>("auto", "rich", "compact", "focused"),
		width: fc.constantFrom(30, 80, 99, 120),
		laterMs: fc.constantFrom(0, 400, 1_000, 59_000, 61_000, 400_000),
		focus: fc.nat(5),
	});
	fc.assert(
		fc.property(fc.integer(), fc.array(look, { minLength: 2, maxLength: 6 }), (seed, looks) => {
			const views = randomViews(seed, 12);
			const tree = buildTree(views);
			for (const { mode, width, laterMs, focus } of looks) {
				const options = { mode, width, maxLines: 12, now: NOW + laterMs, focusId: views[focus]?.id };
				const fresh = buildTree(structuredClone(views));
				expect(render(fit(tree, options))).toEqual(render(fit(fresh, options)));
			}
		}),
		runs(300),
	);
});

test("nobody moves because another agent changed", () => {
	check((frame, views) => {
		const byId = new Map(views.map((view) => [view.id, view]));
		const changed = [...byId.values()][frame.focus % byId.size];
		if (!changed) return;
		const other = randomViews(frame.seed + 1, 50)[0]?.status ?? "completed";
		const all = { mode: "compact", width: 80, maxLines: Number.POSITIVE_INFINITY, now: NOW } as const;
		const order = agentsOf(fit(buildTree(views), all));
		const said = { ...changed, activity: "something else", turns: 99, lastEventAt: NOW };
		expect(agentsOf(fit(buildTree([...views, said]), all))).toEqual(order);
		// Only the one whose status changed moves, with all below it.
		const branch = new Set([changed.id]);
		for (const id of order) {
			const parent = byId.get(id)?.parentAgentId;
			if (parent !== undefined && branch.has(parent)) branch.add(id);
		}
		const without = (ids: readonly string[]) => ids.filter((id) => !branch.has(id));
		expect(without(agentsOf(fit(buildTree([...views, { ...said, status: other }]), all)))).toEqual(without(order));
	}, 150);
});
