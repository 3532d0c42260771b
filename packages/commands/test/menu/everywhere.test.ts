/** Agents of other projects as the menu offers them. */
import type { RunOverview } from "@pi-subagents/runs";
import { expect, test } from "vitest";
import { runActions, runItem } from "../../src/menu/everywhere/everywhere.ts";

const asking: RunOverview = {
	runId: "a1",
	agentId: "a1",
	run: 1,
	name: "iris",
	preset: "scout",
	description: "Look \u001b[31maround",
	task: "Look around.",
	dir: "/shop/.pi/subagents/runs/a1",
	project: "/shop",
	cwd: "/shop",
	runner: "process",
	hasOwnProcess: true,
	model: "fake/one",
	createdAt: 0,
	holder: { pid: 12, host: "here" },
	state: { group: "needs-input", status: "waiting", question: { id: "answer-1", question: "Which one?" } },
};
const inPi: RunOverview = {
	...asking,
	runner: "session",
	hasOwnProcess: false,
	state: { group: "working", status: "running" },
};
const over: RunOverview = { ...asking, state: { group: "done", status: "lost" } };

test("an agent elsewhere is shown with what it needs and where it is", () => {
	expect(runItem(asking, 5_000)).toMatchObject({
		label: "scout",
		tag: { text: "iris" },
		about: "Look around",
		end: "5s",
		note: "needs input: Asks: Which one?; /shop",
	});
});

test("only an agent with its own process takes orders from another pi", () => {
	const offered = (run: RunOverview) => runActions(run).map(({ value }) => value);
	expect(offered(asking)).toEqual(["answer", "read", "stop", "copy"]);
	expect(offered(inPi)).toEqual(["read", "copy"]);
	expect(offered(over)).toEqual(["read", "copy"]);
});
