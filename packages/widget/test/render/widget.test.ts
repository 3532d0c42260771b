import { type AgentEvent, Store } from "@pi-subagents/core";
import { handClock } from "@pi-subagents/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type AgentSource, type AgentView, AgentWidget, type AgentWidgetOptions } from "../../src/index.ts";

/** A widget over a real store, drawn as pi does it: when it asks, and not otherwise. */
function stage(options: Partial<AgentWidgetOptions> = {}) {
	const clock = handClock(1_000_000);
	const store = new Store();
	const frames: { at: number; lines: string[] }[] = [];
	let seq = 0;
	let run = 1;
	const widget: AgentWidget = new AgentWidget(store, {
		clock,
		requestRender: () => {
			frames.push({ at: clock.now(), lines: widget.render(80) });
		},
		...options,
	});
	const dispatch = (agentId: string, event: Record<string, unknown>) => {
		store.dispatch({ agentId, seq: ++seq, at: clock.now(), run, ...event } as unknown as AgentEvent);
	};
	return {
		clock,
		store,
		widget,
		frames,
		screen: () => widget.render(80),
		queue: (id: string, parentAgentId?: string) => {
			const agent = {
				type: "worker",
				description: id,
				task: "",
				cwd: "/",
				runner: "session",
				depth: 1,
				isBackground: true,
			};
			dispatch(id, { type: "agent_queued", agent: parentAgentId === undefined ? agent : { ...agent, parentAgentId } });
		},
		nextRun: () => run++,
		start: (id: string) => dispatch(id, { type: "agent_started" }),
		act: (id: string, text = "thinking aloud") => dispatch(id, { type: "assistant_text", text }),
		settle: (id: string) => dispatch(id, { type: "agent_settled", outcome: { status: "completed", text: "done" } }),
	};
}

test("grandchildren of a real store are in the tree, and it follows what they do", () => {
	const { queue, start, act, clock, screen } = stage();
	queue("root");
	queue("child", "root");
	queue("grandchild", "child");
	for (const id of ["root", "child", "grandchild"]) start(id);
	clock.advance(2_000);
	act("grandchild", "reading the tests");
	clock.advance(1_000);
	expect(screen()).toEqual([
		"● Agents 3 running · depth 3",
		expect.stringMatching(/^└─ \S worker root$/),
		"   ⎿ working… · 3s",
		expect.stringMatching(/^ {3}└─ \S worker child$/),
		"      ⎿ working… · 3s",
		expect.stringMatching(/^ {6}└─ \S worker grandchild$/),
		"         ⎿ reading the tests · 3s",
	]);
});

test("without agents it is empty, and has no timer", () => {
	const { screen, clock, frames } = stage();
	expect(screen()).toEqual([]);
	expect(clock.waiting()).toBe(0);
	clock.advance(60_000);
	expect(frames).toEqual([]);
});

test("a settled agent lingers for some seconds; then nothing is drawn and no timer runs", () => {
	const { queue, start, settle, screen, clock, frames } = stage();
	queue("a");
	start("a");
	clock.advance(1_000);
	settle("a");
	clock.advance(4_000);
	expect(screen()).toEqual(["○ Agents 1 finished", "└─ ✓ worker a · 1s", ""]);
	clock.advance(1_100);
	expect(screen()).toEqual([]);
	expect(clock.waiting()).toBe(0);
	const drawn = frames.length;
	clock.advance(600_000);
	expect(frames.length).toBe(drawn);
});

test("a thousand changes a second make at most ten frames a second, and the last one is shown", () => {
	const { queue, start, act, screen, clock, frames } = stage();
	for (const id of ["a", "b", "c"]) {
		queue(id);
		start(id);
	}
	const before = frames.length;
	for (let change = 0; change < 5_000; change++) {
		act("b", `step ${change}`);
		clock.advance(1);
	}
	expect(frames.length - before).toBeGreaterThan(20);
	expect(frames.length - before).toBeLessThanOrEqual(51);
	for (const [at, frame] of frames.entries()) {
		if (at > 0) expect(frame.at - (frames[at - 1]?.at ?? 0)).toBeGreaterThanOrEqual(100);
	}
	clock.advance(100);
	expect(screen().join("\n")).toContain("step 4999");
});

test("between two whole seconds only the rows that have news change; then all clocks and spinners move at once", () => {
	const { queue, start, act, screen, clock } = stage({ mode: "compact" });
	for (const id of ["a", "b", "c"]) {
		queue(id);
		start(id);
		clock.advance(150);
	}
	clock.advance(10_550);
	let before = screen();
	const changed = (waitMs: number) => {
		clock.advance(waitMs);
		const lines = screen();
		const rows = lines.flatMap((line, row) => (line === before[row] ? [] : [row]));
		before = lines;
		return rows;
	};
	act("b", "reading");
	expect(changed(300)).toEqual([2]);
	act("b", "writing");
	expect(changed(300)).toEqual([2]);
	expect(changed(400)).toEqual([1, 2, 3]);
	expect(changed(900)).toEqual([]);
});

test.each([1, 3])("while pi draws for its own sake, a frame of its own carries the news of every %i", (every) => {
	let asked = 0;
	const { queue, start, act, screen, clock } = stage({ requestRender: () => asked++ });
	queue("a");
	start("a");
	screen();
	const before = asked;
	for (let frame = 0; frame < 100; frame++) {
		if (frame % every === 0) act("a", `step ${frame}`);
		clock.advance(80);
		screen();
	}
	expect(screen()[2]).toMatch(/step 9[89] · 8s/);
	expect(asked).toBe(before);
});

test("agents that are silent cost one frame a second, and queued ones none", () => {
	const { queue, start, clock, frames } = stage();
	queue("waits");
	clock.advance(10_000);
	const idle = frames.length;
	expect(clock.waiting()).toBe(0);
	clock.advance(60_000);
	expect(frames.length).toBe(idle);
	for (let at = 0; at < 100; at++) {
		queue(`${at}`);
		start(`${at}`);
	}
	clock.advance(5_000);
	const before = frames.length;
	clock.advance(60_000);
	expect(frames.length - before).toBe(60);
});

test("being asked to draw again without news costs nothing: the lines are the same object", () => {
	const { queue, start, act, screen, widget } = stage();
	queue("a");
	start("a");
	const lines = screen();
	act("a");
	expect(screen()).toBe(lines); // a tenth of a second has not passed
	expect(widget.render(60)).not.toBe(lines);
	expect(widget.render(60)).toBe(widget.render(60));
});

test("the height stays while work goes on, and falls to nothing when all is over", () => {
	const { queue, start, settle, screen, clock } = stage();
	for (const id of ["a", "b", "c", "d"]) {
		queue(id);
		start(id);
	}
	clock.advance(200);
	const height = screen().length;
	expect(height).toBe(9);
	for (const id of ["a", "b", "c"]) {
		settle(id);
		for (let second = 0; second < 8; second++) {
			clock.advance(1_000);
			expect(screen()).toHaveLength(height);
		}
	}
	settle("d");
	clock.advance(4_900);
	expect(screen()).toHaveLength(height);
	clock.advance(200);
	expect(screen()).toEqual([]);
});

test("after a calm minute or two the frame takes only the lines that it needs", () => {
	const { queue, start, settle, screen, clock } = stage();
	for (const id of ["a", "b", "c", "d"]) {
		queue(id);
		start(id);
	}
	clock.advance(200);
	for (const id of ["b", "c", "d"]) settle(id);
	clock.advance(30_000);
	expect(screen()).toHaveLength(9);
	clock.advance(120_000);
	expect(screen()).toHaveLength(3);
});

test("auto does not go back and forth between its forms", () => {
	const { queue, start, settle, screen, clock } = stage({ maxLines: 6 });
	for (const id of ["a", "b", "c"]) {
		queue(id);
		start(id);
	}
	clock.advance(200);
	expect(screen().filter((line) => line.includes("⎿"))).toEqual([]);
	settle("c");
	clock.advance(10_000);
	expect(screen().filter((line) => line.includes("⎿"))).toEqual([]);
	clock.advance(120_000);
	expect(screen().filter((line) => line.includes("⎿"))).toHaveLength(2);
});

test("a settled agent stays as long as something below it works, and they leave together", () => {
	const { queue, start, settle, screen, clock } = stage();
	queue("parent");
	start("parent");
	queue("child", "parent");
	start("child");
	settle("parent");
	clock.advance(60_000);
	expect(screen()[1]).toBe("└─ ✓ worker parent · 0s");
	settle("child");
	clock.advance(5_200);
	expect(screen()).toEqual([]);
});

test("an agent that works again after it was gone comes with the one above it", () => {
	const { queue, start, settle, nextRun, screen, clock } = stage();
	queue("parent");
	queue("child", "parent");
	for (const id of ["parent", "child"]) start(id);
	for (const id of ["child", "parent"]) settle(id);
	clock.advance(60_000);
	expect(screen()).toEqual([]);
	nextRun();
	queue("child", "parent");
	start("child");
	clock.advance(200);
	expect(screen().slice(0, 3)).toEqual([
		"● Agents 1 running · depth 2",
		"└─ ✓ worker parent · 0s",
		expect.stringMatching(/^ {3}└─ \S worker child$/),
	]);
});

test("what had settled before anybody looked is not shown, but its children at work are, below it", () => {
	const clock = handClock(1_000_000);
	const records: AgentView[] = [
		{ id: "old", status: "completed", completedAt: 900_000 },
		{ id: "parent", status: "completed", completedAt: 900_000 },
		{ id: "child", parentAgentId: "parent", status: "running" },
		{ id: "fresh", status: "failed", completedAt: 999_000 },
	];
	const source: AgentSource = { snapshot: () => ({ records }), subscribe: () => () => {} };
	const widget = new AgentWidget(source, { clock, requestRender: () => {}, mode: "compact" });
	expect(widget.render(80)).toEqual([
		"● Agents 1 running · depth 2",
		"├─ ✓ parent",
		expect.stringMatching(/^│ {2}└─ \S child$/),
		"└─ ✗ fresh failed",
	]);
});

test("a source that only says that something changed is read as a whole", () => {
	const clock = handClock(1_000_000);
	let records: AgentView[] = [{ id: "a", status: "queued" }];
	let tell = () => {};
	const source: AgentSource = {
		snapshot: () => ({ records }),
		subscribe: (listener) => {
			tell = () => listener();
			return () => {};
		},
	};
	const widget = new AgentWidget(source, { clock, requestRender: () => {}, mode: "compact" });
	expect(widget.render(80)).toEqual(["● Agents 1 queued", "└─ ◦ a"]);
	records = [...records, { id: "b", status: "queued" }];
	clock.advance(1_000);
	tell();
	expect(widget.render(80)).toEqual(["● Agents 2 queued", "├─ ◦ a", "└─ ◦ b"]);
});

test("options are read for every frame, and invalidate draws anew", () => {
	let maxLines = 12;
	const records: AgentView[] = ["a", "b", "c"].map((id) => ({ id, status: "queued" }));
	const widget = new AgentWidget(
		{ snapshot: () => ({ records }), subscribe: () => () => {} },
		{
			clock: handClock(),
			requestRender: () => {},
			get maxLines() {
				return maxLines;
			},
		},
	);
	expect(widget.render(80)).toHaveLength(4);
	maxLines = 2;
	widget.invalidate();
	expect(widget.render(80)).toEqual(["● Agents 3 queued", "└─ +3 descendants hidden (3 queued)"]);
});

test("a screen that has become lower gets a lower tree in the same frame", () => {
	let maxLines = 12;
	const records: AgentView[] = ["a", "b", "c"].map((id) => ({ id, status: "queued" }));
	const source = { snapshot: () => ({ records }), subscribe: () => () => {} };
	const options = { clock: handClock(), requestRender: () => {} };
	const widget = new AgentWidget(source, Object.defineProperty(options, "maxLines", { get: () => maxLines }));
	expect(widget.render(80)).toHaveLength(4);
	maxLines = 2;
	expect(widget.render(80)).toEqual(["● Agents 3 queued", "└─ +3 descendants hidden (3 queued)"]);
});

test("after dispose it listens no more and has no timer", () => {
	const { queue, start, widget, clock, frames } = stage();
	queue("a");
	start("a");
	clock.advance(500);
	widget.dispose();
	expect(clock.waiting()).toBe(0);
	const drawn = frames.length;
	queue("b");
	clock.advance(10_000);
	expect(frames.length).toBe(drawn);
	widget.invalidate();
	widget.render(80); // pi, or a client, may have been about to draw it
	expect(clock.waiting()).toBe(0);
});

test("a clock that is set back does not freeze the frame", () => {
	let offset = 0;
	const { queue, start, act, clock, screen } = (() => {
		const hand = handClock(10_000_000);
		const made = stage({ clock: { now: () => hand.now() + offset, after: hand.after } });
		return { ...made, clock: hand };
	})();
	queue("a");
	start("a");
	clock.advance(1_000);
	offset = -3_600_000;
	act("a", "back in time");
	clock.advance(1_000);
	expect(screen().join("\n")).toContain("back in time");
});

test("whatever happens in whatever order, the tree holds all who work, all above them, and nobody who left", () => {
	const step = fc.record({
		id: fc.integer({ min: 0, max: 9 }),
		status: fc.constantFrom("queued", "running", "waiting", "completed", "failed", "aborted"),
		waitMs: fc.constantFrom(0, 10, 1_000, 6_000),
	});
	fc.assert(
		fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
			const clock = handClock(1_000_000);
			const agents = new Map<string, AgentView>();
			const listeners = new Set<(change: { record: AgentView }) => void>();
			const source: AgentSource = {
				snapshot: () => ({ records: [...agents.values()] }),
				record: (id) => agents.get(id),
				subscribe: (listener) => {
					listeners.add(listener);
					return () => listeners.delete(listener);
				},
			};
			const widget = new AgentWidget(source, {
				clock,
				requestRender: () => widget.render(80),
				mode: "compact",
				maxLines: 99,
			});
			for (const { id, status, waitMs } of steps) {
				const parentAgentId = id === 0 ? undefined : `${Math.floor((id - 1) / 2)}`;
				const isSettled = ["completed", "failed", "aborted"].includes(status);
				const completedAt = isSettled ? clock.now() : undefined;
				const view = { id: `${id}`, parentAgentId, status: status as AgentView["status"], completedAt };
				agents.set(view.id, view);
				for (const listener of listeners) listener({ record: view });
				clock.advance(waitMs);
			}
			clock.advance(10_000);
			widget.invalidate();
			const shown = widget.render(80).flatMap((line) => /[├└]─ \S (\d+)/.exec(line)?.[1] ?? []);
			const expected = new Set<string>();
			for (const { id, status } of agents.values()) {
				if (["completed", "failed", "aborted"].includes(status)) continue;
				for (let at: string | undefined = id; at !== undefined; at = agents.get(at)?.parentAgentId) {
					if (agents.has(at)) expected.add(at);
				}
			}
			expect(shown.toSorted()).toEqual([...expected].toSorted());
			const isBusy = [...agents.values()].some(({ status }) => status === "running" || status === "waiting");
			expect(clock.waiting()).toBe(isBusy ? 1 : 0);
		}),
		{ numRuns: 300 },
	);
});
