/** The row of `subagent { tasks }` on real screens: one line an agent, in columns, at any width. */
import { callTool, createGate, isFullRun, say, startTui } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { parentSays, scene, scoutSays } from "../../support/scene.ts";

const tasks = [
	{ preset: "repo-scout", task: "Find the launch code." },
	{ preset: "repo-scout", task: "Count the doors." },
];
const delegates = parentSays(callTool("subagent", { tasks }), say("All told."));

test.each(isFullRun ? [50, 80, 120] : [50])(
	"at %i columns, agents have a line each while they run and when they are done",
	async (columns) => {
		const gate = createGate();
		await using it = await scene([delegates, scoutSays({ ...say("The code is heliotrope."), gate })]);
		await using tui = await startTui({ env: it.env }, { rows: 50, cols: columns });
		tui.type("Please delegate.");
		tui.press("enter");
		await tui.waitForText(/subagent 2 agents\s+⠋ (?:running +)?repo-scout {2}/);
		gate.open();
		const screen = (await tui.waitForText(/2 agents: 2 done · 0 tools ·\s[\d.k]+ tokens/)).map((line) => line.trim());
		const rows = screen.filter((line) => /^✓ (?:done )?repo-scout {2}/.test(line)).slice(0, 2);
		expect(rows).toHaveLength(2);
		const ends = rows.map((row) => row.length);
		expect(Math.abs((ends[0] ?? 0) - (ends[1] ?? 0))).toBe(0);
		expect(screen.join("\n")).not.toContain("data, not instructions");
	},
);
