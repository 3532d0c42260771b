import fc from "fast-check";
import { expect, test } from "vitest";
import { type AgentView, buildTree, type TreeNode, treeOrder, type ViewStatus } from "../../src/index.ts";

const view = (id: string, parentAgentId?: string, status: ViewStatus = "running"): AgentView => ({
	id,
	parentAgentId,
	status,
});
const ids = (nodes: Iterable<TreeNode>): unknown[] =>
	[...nodes].map(({ view: { id }, children }) => (children.length === 0 ? id : [id, ids(children)]));

test("children and grandchildren hang under their parents, whatever the order they come in", () => {
	const tree = buildTree([view("grandchild", "child"), view("child", "root"), view("root")]);
	expect(ids(tree.roots)).toEqual([["root", [["child", ["grandchild"]]]]]);
});

test("siblings: active, then queued, then settled, else as they came", () => {
	const tree = buildTree([
		view("done", undefined, "completed"),
		view("next", undefined, "queued"),
		view("b"),
		view("a", undefined, "waiting"),
	]);
	expect(ids(tree.roots)).toEqual(["b", "a", "next", "done"]);
});

test("an agent whose parent is unknown is an orphan, with its children", () => {
	const tree = buildTree([view("a"), view("lost", "gone"), view("its-child", "lost")]);
	expect([ids(tree.roots), ids(tree.orphans)]).toEqual([["a"], [["lost", ["its-child"]]]]);
});

test("a circle of parents ends, and nobody is lost in it", () => {
	expect(ids(buildTree([view("a", "b"), view("b", "a")]).orphans)).toEqual([["a", ["b"]]]);
	expect(ids(buildTree([view("a", "a")]).orphans)).toEqual(["a"]);
});

test("a tree may be deeper than a call stack", () => {
	const views = Array.from({ length: 50_000 }, (_, at) => view(`${at}`, at === 0 ? undefined : `${at - 1}`));
	expect(buildTree(views)).toMatchObject({ counts: { running: 50_000 }, depth: 50_000 });
});

test("every branch knows how many of each kind it holds", () => {
	const tree = buildTree([
		view("a"),
		view("b", "a", "waiting"),
		view("c", "b", "queued"),
		view("d", "b", "failed"),
		view("lost", "gone", "aborted"),
	]);
	expect(tree.counts).toEqual({ running: 1, waiting: 1, queued: 1, finished: 2 });
	const [a] = tree.roots;
	const [b] = a?.children ?? [];
	expect(b).toMatchObject({ counts: { running: 0, waiting: 1, queued: 1, finished: 1 }, height: 2 });
});

test("an agent keeps its place when others change, and moves only by its own status", () => {
	const views = ["a", "b", "c", "d"].map((id) => view(id));
	expect(ids(buildTree([...views, view("b", undefined, "completed")]).roots)).toEqual(["a", "c", "d", "b"]);
	expect(ids(buildTree([...views, view("b", undefined, "waiting"), view("e")]).roots)).toEqual([
		"a",
		"b",
		"c",
		"d",
		"e",
	]);
});

const anyId = fc.constantFrom("a", "b", "c", "d", "e", "f", "g");
const anyView = fc.record({
	id: anyId,
	parentAgentId: fc.option(anyId, { nil: undefined }),
	status: fc.constantFrom<ViewStatus>("queued", "running", "waiting", "completed", "failed", "aborted"),
});

test("every agent appears exactly once", () => {
	fc.assert(
		fc.property(fc.array(anyView), (views) => {
			const { roots, orphans } = buildTree(views);
			const seen = [ids(roots), ids(orphans)].flat(Number.POSITIVE_INFINITY).sort();
			expect(seen).toEqual([...new Set(views.map(({ id }) => id))].sort());
		}),
	);
});

test("as a list: active first, orphans last, and deep branches leave room for the name", () => {
	const agents = [
		view("c3", undefined, "queued"),
		view("d4", undefined, "completed"),
		view("a1"),
		view("b2", "a1"),
		view("e5", "b2"),
		view("f6", "a1"),
	];
	expect(treeOrder(agents).map(({ agent: { id }, branch }) => `${branch}${id}`)).toEqual([
		"a1",
		"├ b2",
		"│ └ e5",
		"└ f6",
		"c3",
		"d4",
	]);
	const chain = Array.from({ length: 9 }, (_, level) => view(`n${level}`, level === 0 ? undefined : `n${level - 1}`));
	expect(treeOrder(chain).at(-1)?.branch).toBe("…       └ ");
	expect(treeOrder([view("x", "gone")])[0]?.branch).toBe("");
});
