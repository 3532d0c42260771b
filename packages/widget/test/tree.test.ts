import fc from "fast-check";
import { expect, test } from "vitest";
import { type AgentView, buildTree, type TreeNode, type ViewStatus } from "../src/index.ts";

const view = (id: string, parentAgentId?: string, status: ViewStatus = "running"): AgentView => ({
	id,
	parentAgentId,
	status,
});
const ids = (nodes: readonly TreeNode[]): unknown[] =>
	nodes.map(({ view: { id }, children }) => (children.length === 0 ? id : [id, ids(children)]));

test("children and grandchildren hang under their parents, whatever the order they come in", () => {
	const tree = buildTree([view("grandchild", "child"), view("child", "root"), view("root")]);
	expect(ids(tree.roots)).toEqual([["root", [["child", ["grandchild"]]]]]);
});

test("siblings: active, then queued, then settled, else as they came", () => {
	const tree = buildTree([
		view("done", undefined, "completed"),
		view("next", undefined, "queued"),
		view("b"),
		view("a"),
	]);
	expect(ids(tree.roots)).toEqual(["b", "a", "next", "done"]);
});

test("an agent whose parent is unknown is an orphan, with its children", () => {
	const tree = buildTree([view("a"), view("lost", "gone"), view("its-child", "lost")]);
	expect([ids(tree.roots), ids(tree.orphans)]).toEqual([["a"], [["lost", ["its-child"]]]]);
});

test("a circle of parents ends, and nobody is lost in it", () => {
	expect(ids(buildTree([view("a", "b"), view("b", "a")]).orphans)).toEqual([["a", ["b"]]]);
});

test("every agent appears exactly once", () => {
	const anyId = fc.constantFrom("a", "b", "c", "d", "e", "f");
	const anyView = fc.record({
		id: anyId,
		parentAgentId: fc.option(anyId, { nil: undefined }),
		status: fc.constant("running" as const),
	});
	fc.assert(
		fc.property(fc.array(anyView), (views) => {
			const { roots, orphans } = buildTree(views);
			const seen = [ids(roots), ids(orphans)].flat(Number.POSITIVE_INFINITY).sort();
			expect(seen).toEqual([...new Set(views.map(({ id }) => id))].sort());
		}),
	);
});
