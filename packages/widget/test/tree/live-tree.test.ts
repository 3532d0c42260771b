import { expect, test } from "vitest";
import type { AgentView } from "../../src/index.ts";
import { LiveTree } from "../../src/tree/live-tree.ts";

function live(...views: AgentView[]) {
	const agents = new Map(views.map((view) => [view.id, view]));
	const tree = new LiveTree({ snapshot: () => ({ records: [...agents.values()] }), subscribe: () => () => undefined });
	const change = (view: AgentView) => {
		agents.set(view.id, view);
		tree.markChanged(view);
	};
	const shown = (now: number) => [...tree.at(now).byId.keys()];
	return { tree, change, shown };
}

test("the tree is built again for a change or an expiry, not for every frame", () => {
	const { tree, change } = live({ id: "a", status: "running" }, { id: "b", status: "running" });
	const first = tree.at(0);
	expect(tree.at(1_000)).toBe(first);
	change({ id: "old", status: "completed", completedAt: -60_000 }); // it is not shown
	expect(tree.at(2_000)).toBe(first);
	change({ id: "a", status: "completed", completedAt: 3_000 });
	const second = tree.at(3_000);
	expect(second).not.toBe(first);
	expect(tree.at(7_999)).toBe(second);
	expect(tree.at(8_000).counts).toEqual({ running: 1, waiting: 0, queued: 0, finished: 0 });
});

test("a settled ancestor stays as long as an agent below it is shown, or until its own time is up", () => {
	const { change, shown } = live(
		{ id: "child", parentAgentId: "above", status: "running" },
		{ id: "above", status: "completed", completedAt: 0 },
	);
	expect(shown(1_000)).toEqual(["above", "child"]);
	change({ id: "child", parentAgentId: "above", status: "failed", completedAt: 2_000 });
	expect(shown(6_000)).toEqual(["above", "child"]);
	expect(shown(11_000)).toEqual([]);
});
