import fc from "fast-check";
import { expect, test } from "vitest";
import { type AgentView, buildTree, type Tree, type TreeNode, updateTree, type ViewStatus } from "../../src/index.ts";

const view = (id: string, parentAgentId?: string, status: ViewStatus = "running"): AgentView => ({
	id,
	parentAgentId,
	status,
});
const ids = (nodes: Iterable<TreeNode>): unknown[] =>
	[...nodes].map(({ view: { id }, children }) => (children.size === 0 ? id : [id, ids(children)]));
const shape = ({ roots, orphans, counts }: Tree) => ({ roots: outline(roots), orphans: outline(orphans), counts });
const outline = (nodes: Iterable<TreeNode>): unknown[] =>
	[...nodes].map(({ view, children, sum }) => ({ view, sum, children: outline(children) }));

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
	expect(buildTree(views).counts.running).toBe(50_000);
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
	expect(b?.sum).toMatchObject({ running: 0, waiting: 1, queued: 1, finished: 1, height: 2 });
});

test("an update leaves every branch in which nothing changed as the same object", () => {
	const tree = buildTree([view("a"), view("a1", "a"), view("a2", "a"), view("b"), view("b1", "b")]);
	const next = updateTree(tree, [view("a2", "a", "completed")]);
	const [a, b] = tree.roots;
	const [nextA, nextB] = next.roots;
	expect(nextB).toBe(b);
	expect(nextA).not.toBe(a);
	expect([...(nextA?.children ?? [])][0]).toBe([...(a?.children ?? [])][0]);
});

test("a tree stays as it was when another is made from it, and can be updated again", () => {
	const first = buildTree([view("a"), view("a1", "a")]);
	const before = shape(first);
	const second = updateTree(first, [view("b"), view("a1", "a", "failed")]);
	const third = updateTree(first, [view("c")]);
	expect(shape(first)).toEqual(before);
	expect([ids(second.roots), ids(third.roots)]).toEqual([
		[["a", ["a1"]], "b"],
		[["a", ["a1"]], "c"],
	]);
});

test("an agent keeps its place when others change, and moves only by its own status", () => {
	const tree = buildTree(["a", "b", "c", "d"].map((id) => view(id)));
	const settled = updateTree(tree, [view("b", undefined, "completed")]);
	expect(ids(settled.roots)).toEqual(["a", "c", "d", "b"]);
	expect(ids(updateTree(settled, [view("d", undefined, "waiting"), view("e")]).roots)).toEqual([
		"a",
		"c",
		"d",
		"e",
		"b",
	]);
});

test("orphans come home when their parent is known at last", () => {
	const tree = updateTree(buildTree([view("child", "late"), view("other")]), [view("late")]);
	expect([ids(tree.roots), ids(tree.orphans)]).toEqual([["other", ["late", ["child"]]], []]);
});

test("those below an agent that goes are orphans then", () => {
	const tree = updateTree(buildTree([view("a"), view("b", "a"), view("c", "b")]), [], ["a", "unknown"]);
	expect([ids(tree.roots), ids(tree.orphans)]).toEqual([[], [["b", ["c"]]]]);
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

test("updates of a tree give what building it anew gives, for any views, circles and orphans too", () => {
	fc.assert(
		fc.property(
			fc.array(anyView),
			fc.array(fc.record({ changed: fc.array(anyView, { maxLength: 3 }), gone: fc.array(anyId, { maxLength: 2 }) })),
			(views, steps) => {
				let tree = buildTree(views);
				const all = new Map(views.map((each) => [each.id, each]));
				for (const { changed, gone } of steps) {
					tree = updateTree(tree, changed, gone);
					for (const each of changed) all.set(each.id, each);
					for (const id of gone) all.delete(id);
					expect(shape(tree)).toEqual(shape(buildTree(all.values())));
				}
			},
		),
		{ numRuns: 500 },
	);
});

test("thousands of siblings are updated and removed one by one without losing any", () => {
	const views = new Map(Array.from({ length: 3_000 }, (_, at) => [`${at}`, view(`${at}`)]));
	let tree = buildTree(views.values());
	for (let at = 0; at < 3_000; at += 7) {
		const changed = view(`${at}`, undefined, at % 2 === 0 ? "completed" : "queued");
		const gone = `${at + 1}`;
		tree = updateTree(tree, [changed], [gone]);
		views.set(changed.id, changed);
		views.delete(gone);
	}
	tree = updateTree(tree, [view("new")]);
	expect(shape(tree)).toEqual(shape(buildTree([...views.values(), view("new")])));
});
