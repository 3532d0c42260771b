import xterm from "@xterm/headless";
import { expect, test } from "vitest";
import { type AgentView, type FitOptions, piTheme, renderTree, type Theme, type Tone } from "../../src/index.ts";
import { crowd, family, NOW, orphans, scenes } from "../scenes.ts";

const WIDTHS = [40, 50, 80, 120, 200];
const draw = (agents: readonly AgentView[], options: Partial<FitOptions> & { theme?: Theme } = {}) =>
	renderTree(agents, { mode: "rich", width: 80, maxLines: 12, now: NOW, ...options });

test.each(WIDTHS)("frames at %i columns", async (width) => {
	const frames = Object.entries(scenes).map(
		([name, { agents, options }]) => `${name}\n\n${draw(agents, { ...options, width }).join("\n")}\n`,
	);
	await expect(frames.join("\n\n")).toMatchFileSnapshot(`frames/${width}.txt`);
});

/** Each tone in another colour, so that any escape sequence that goes astray is seen. */
const colourful: Theme = Object.fromEntries(
	["line", "type", "description", "activity", "figures", "running", "failed", "note", "attention", "focus"].map(
		(tone, at) => [tone as Tone, (text: string) => `\x1b[1;3${at % 8}m${text}\x1b[0m`],
	),
);

test.each(WIDTHS)("a terminal of %i columns shows every frame as it was drawn, in colour too", async (width) => {
	for (const [name, { agents, options }] of Object.entries(scenes)) {
		if (name.includes("tricks")) continue; // terminals do not agree on how wide pictures are
		const plain = draw(agents, { ...options, width });
		expect(await screen(draw(agents, { ...options, width, theme: colourful }), width), name).toEqual(plain);
	}
});

test("what stands side by side and looks the same is painted in one go", () => {
	const theme = piTheme({ fg: (color, text) => `<${color}:${text}>`, bold: (text) => `*${text}*` });
	const [, , detail, , activity] = draw(family, { theme });
	expect(detail).toBe("<dim:│  ⎿ ↻3≤20 · 4 tools · 22.8k tokens (38%) · 1m 12s>");
	expect(activity).toBe("<dim:│  │  ⎿ ><muted:reading agent-widget.ts><dim: · 14s>");
});

async function screen(lines: readonly string[], cols: number): Promise<string[]> {
	const terminal = new xterm.Terminal({ cols, rows: 60, allowProposedApi: true });
	await new Promise<void>((resolve) => terminal.write(lines.join("\r\n"), resolve));
	const { active } = terminal.buffer;
	return lines.map((_, row) => active.getLine(row)?.translateToString(true) ?? "");
}

test("a parent, its child and its grandchild are indented and joined by lines", () => {
	expect(draw(family)).toEqual([
		"● Agents 3 running · 1 queued · depth 3",
		"├─ ⠋ Plan opus split task",
		"│  ⎿ ↻3≤20 · 4 tools · 22.8k tokens (38%) · 1m 12s",
		"│  ├─ ⠹ Explore inspect widget data flow",
		"│  │  ⎿ reading agent-widget.ts · 14s",
		"│  │  └─ ⠼ general-purpose trace manager ownership",
		"│  │     ⎿ searching tests · 5s",
		"│  └─ ✓ auditor review plan · 31s",
		"├─ ◦ Explore queued after concurrency cap",
		"└─ ✗ Plan old attempt error: model unavailable",
	]);
});

test("the header counts agents of every level, and how deep they go of how deep they may", () => {
	expect(draw(family, { maxDepth: 4, maxLines: 1 })).toEqual(["● Agents 3 running · 1 queued · depth 3/4"]);
	expect(draw(crowd, { maxLines: 1 })).toEqual(["● Agents 8 running · 4 queued · depth 2"]);
});

test("compact has one line for each agent", () => {
	expect(draw(family, { mode: "compact" })).toHaveLength(1 + family.length);
	expect(draw(family, { mode: "compact" })[2]).toBe(
		"│  ├─ ⠹ Explore inspect widget data flow · reading agent-widget.ts · 14s",
	);
});

test("auto is rich where that is readable, and compact when columns or lines are few or agents are many", () => {
	const rich = draw(family, { mode: "rich" });
	expect(draw(family, { mode: "auto" })).toEqual(rich);
	for (const tight of [{ width: 59 }, { maxLines: 9 }]) {
		expect(draw(family, { mode: "auto", ...tight })).toEqual(draw(family, { mode: "compact", ...tight }));
	}
	const many = Array.from({ length: 13 }, (_, at): AgentView => ({ id: `${at}`, status: "queued" }));
	expect(draw(crowd, { mode: "auto", maxLines: 60 })).toEqual(draw(crowd, { mode: "compact", maxLines: 60 }));
	expect(draw(many, { mode: "auto", maxLines: 60 })).toHaveLength(14);
});

test("what does not fit is collapsed by branches, and counted", () => {
	const root: AgentView = { id: "root", status: "running", type: "lead" };
	const below = (["running", "running", "queued", "completed"] as const).map(
		(status, at): AgentView => ({ id: `${at}`, parentAgentId: at === 3 ? "0" : "root", status }),
	);
	expect(draw([root, ...below], { mode: "compact", maxLines: 3 })).toEqual([
		"● Agents 3 running · 1 queued · depth 3",
		"└─ ⠋ lead",
		"   └─ +4 descendants hidden (2 running, 1 queued, 1 finished)",
	]);
});

test("finished agents give way before those at work, and a branch at work is shown down to its end", () => {
	const done = Array.from({ length: 20 }, (_, at): AgentView => ({ id: `done-${at}`, status: "completed" }));
	const lines = draw([...done, ...family.slice(0, 3)], { mode: "compact", maxLines: 5 });
	expect(lines).toEqual([
		"● Agents 3 running · depth 3",
		"├─ ⠋ Plan split task · ↻3 · 4 tools · 1m 12s",
		"│  └─ ⠹ Explore inspect widget data flow · reading agent-widget.ts · 14s",
		"│     └─ ⠼ general-purpose trace manager ownership · searching tests · 5s",
		"└─ +20 descendants hidden (20 finished)",
	]);
});

test("agents whose parent is unknown are under a heading of their own, at the end", () => {
	const lines = draw(orphans);
	expect(lines.slice(-4)).toEqual([
		"└─ ◌ Other agents",
		"   └─ ⠹ worker left behind",
		"      ⎿ working… · 3s",
		"      └─ ◦ scout after it",
	]);
});

test("a focused frame shows who is above and below, marks nobody else, and counts the rest", () => {
	expect(draw(crowd, { mode: "focused", focusId: "lead-1-a" })).toEqual([
		"● Agents 20 total · showing active branch",
		"├─ ⠋ planner part 2 · 1m 1s",
		"│  └─ ⠹ worker write it · 30s",
		"└─ +18 siblings hidden (6 running, 4 queued, 8 finished)",
	]);
	expect(draw(family, { mode: "focused", focusId: "nobody" })).toEqual(
		draw(family, { mode: "focused", focusId: "trace" }),
	);
	expect(draw([], { mode: "focused", focusId: "x" })).toEqual([]);
});

test("a view with nothing but an id and a status is drawn", () => {
	expect(draw([{ id: "a1", status: "running" }])).toEqual(["● Agents 1 running", "└─ ⠋ a1", "   ⎿ working…"]);
	expect(draw([{ id: "a1", status: "aborted" }])).toEqual(["○ Agents 1 finished", "└─ ■ a1 · stopped"]);
});
