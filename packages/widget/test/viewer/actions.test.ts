import { describe, expect, test } from "vitest";
import type { ViewerActions } from "../../src/index.ts";
import { KEYS, MemorySource, said, show } from "./fixture.ts";

function acting(more: Partial<ViewerActions> = {}) {
	const calls: unknown[][] = [];
	const actions: ViewerActions = {
		steer: (text) => void calls.push(["steer", text]),
		stop: () => void calls.push(["stop"]),
		answer: (text, question) => void calls.push(["answer", text, question]),
		copyPath: async () => "Copied /tmp/a.jsonl",
		open: (id) => void calls.push(["open", id]),
		...more,
	};
	return { actions, calls, source: new MemorySource([said("Hello.")]) };
}

describe("what a person can do", () => {
	test("steering takes a line and says that it was sent; nothing typed is nothing sent", async () => {
		const { actions, calls, source } = acting();
		const shown = await show(source, { actions });
		await shown.press("s");
		expect(shown.screen().join("\n")).toContain("Steer › what it should know or do");
		expect(shown.hints()).toBe("enter send  esc cancel");
		await shown.press(..."Use pnpm.", KEYS.enter);
		expect(calls).toEqual([["steer", "Use pnpm."]]);
		expect(shown.status()).toContain("Sent");
		await shown.press("s", " ", KEYS.enter, "s", "x", KEYS.escape);
		expect([calls.length, shown.isClosed()]).toEqual([1, false]);
	});

	test("stopping needs the key twice, and any other key cancels", async () => {
		const { actions, calls, source } = acting();
		const shown = await show(source, { actions, width: 80 });
		await shown.press("x");
		expect(shown.hints()).toBe("Stop it and its sub-agents?  x again to stop, any other key cancels");
		await shown.press("q");
		expect([calls, shown.isClosed()]).toEqual([[], false]);
		await shown.press("x", "x");
		expect(calls).toEqual([["stop"]]);
		expect(shown.status()).toContain("Stopped");
	});

	test("a workflow is paused, and the call of one of its agents skipped or retried, while it runs", async () => {
		const said: string[] = [];
		const act = (what: string) => async () => {
			said.push(what);
			return `${what} it is`;
		};
		const { actions, source } = acting({ pause: act("pause"), skip: act("skip"), retry: act("retry") });
		let isLive = true;
		const shown = await show(source, { actions, isLive: () => isLive, width: 100 });
		expect(shown.hints()).toContain("x stop  p pause  S skip  r retry");
		await shown.press("p", "S", "r");
		expect(said).toEqual(["pause", "skip", "retry"]);
		expect(shown.status()).toContain("retry it is");
		isLive = false;
		await shown.press("p", "S", "r");
		expect([said.length, shown.hints().includes("retry")]).toEqual([3, false]);
	});

	test("an answer comes with the question that was on the screen", async () => {
		const { actions, calls, source } = acting();
		let question: { text: string; id: number } | undefined = { text: "Which colour?", id: 1 };
		const shown = await show(source, { actions, question: () => question });
		expect(shown.screen().join("\n")).toContain("? Which colour?");
		expect(shown.hints()).toMatch(/^a answer/);
		await shown.press("a", "r");
		question = { text: "Which colour?", id: 2 };
		await shown.press("e", "d", KEYS.enter);
		expect(calls).toEqual([["answer", "red", { text: "Which colour?", id: 1 }]]);
		question = undefined;
		await shown.press("a");
		expect(shown.screen().join("\n")).not.toContain("Answer ›");
	});

	test("what an action says is shown, and so is what went wrong", async () => {
		const { actions, source } = acting({
			steer: () => {
				throw new Error("Agent a1 is \u001b[31mcompleted.");
			},
			stop: () => Promise.reject(new Error("No.")),
		});
		const shown = await show(source, { actions });
		await shown.press("y");
		expect(shown.status()).toContain("Copied /tmp/a.jsonl");
		await shown.press("s", "x", KEYS.enter);
		expect(shown.status()).toContain("Agent a1 is completed.");
		await shown.press("x", "x");
		expect(shown.status()).toContain(" No. ");
		await shown.press("j");
		expect(shown.status()).not.toContain("No.");
	});

	test("other agents are chosen from a list", async () => {
		const { actions, calls, source } = acting();
		const relatives = () => [
			{ id: "p", relation: "parent" as const, label: "worker p1" },
			{ id: "c", relation: "child" as const, label: "scout\u0007 c1" },
		];
		const shown = await show(source, { actions, relatives });
		await shown.press("o");
		expect(shown.screen().join("\n")).toMatch(/→ ↑ worker p1.*\n.*↓ scout c1/);
		await shown.press(KEYS.down, KEYS.enter);
		expect(calls).toEqual([["open", "c"]]);
		await shown.press("o", KEYS.escape);
		expect(shown.isClosed()).toBe(false);
	});

	test("what cannot be done is not offered", async () => {
		const { source } = acting();
		const shown = await show(source, { isLive: () => false, width: 100 });
		expect(shown.hints()).toBe("↑↓ scroll  enter unfold  t thinking  / search  ? keys  esc close");
		await shown.press("s", "x", "x", "a", "o", "y", "n");
		expect(shown.hints()).toBe("↑↓ scroll  enter unfold  t thinking  / search  ? keys  esc close");
	});

	test("all keys can be looked up, and any key comes back", async () => {
		const { actions, source } = acting();
		const shown = await show(source, { actions, height: 34 });
		await shown.press("?");
		expect(shown.body().join("\n")).toMatch(/pgup b +page up.*\/ +search.*x +stop.*esc ctrl\+c q +close/s);
		await shown.press("x");
		expect(shown.body().join("\n")).toContain("Hello.");
	});

	test("what is pasted into a line is cleaned", async () => {
		const { actions, calls, source } = acting();
		const shown = await show(source, { actions });
		await shown.press("s", "\u001b[200~red\u001b]0;title\u0007\u202e and\tblue\u001b[201~", KEYS.enter);
		expect(calls).toEqual([["steer", "red and blue"]]);
	});
});

describe("trouble", () => {
	test("what cannot be read is told once, and tried again only when something happens", async () => {
		const source = new MemorySource([said("Hello.")]);
		let tries = 0;
		source.read = async () => {
			tries++;
			throw new Error("EIO: the disk is broken");
		};
		const shown = await show(source);
		expect(shown.status()).toContain("EIO: the disk is broken");
		const before = tries;
		for (let frame = 0; frame < 10; frame++) await shown.settled();
		expect(tries).toBe(before);
		await shown.press(KEYS.end);
		expect(tries).toBeGreaterThan(before);
	});

	test("entries that were promised and are not there do not count", async () => {
		const source = new MemorySource([said("One."), said("Two.")]);
		source.length = 40;
		source.read = async (from) => [said("One."), said("Two.")].slice(from);
		const shown = await show(source);
		await shown.press(KEYS.home, KEYS.end, KEYS.pageUp);
		expect(shown.screen()).toHaveLength(20);
	});

	test("an error while drawing does not escape", async () => {
		const source = new MemorySource([said("Hello.")]);
		const shown = await show(source, {
			head: () => {
				throw new Error("no head");
			},
		});
		expect(shown.screen()).toEqual(["Cannot draw the viewer: no head"]);
		await shown.press(KEYS.up, "s", "x");
		expect(shown.viewer.render(5)).toEqual(["Cann…"]);
	});

	test("an error in a key's work is told", async () => {
		const { actions, source } = acting();
		let isBroken = false;
		const relatives = () => {
			if (isBroken) throw new Error("no relatives");
			return [];
		};
		const shown = await show(source, { actions, relatives });
		isBroken = true;
		shown.viewer.handleInput("o");
		isBroken = false;
		expect(shown.status()).toContain("no relatives");
	});

	test("arrows and brackets go to the agents before and after this one, where there are any", async () => {
		const { actions, calls, source } = acting();
		const shown = await show(source, { actions, width: 120, neighbours: () => ({ previous: "a1", next: "c3" }) });
		expect(shown.hints()).toContain("←→ agent");
		await shown.press("\u001b[D", "]", "[", "\u001b[C");
		expect(calls).toEqual([
			["open", "a1"],
			["open", "c3"],
			["open", "a1"],
			["open", "c3"],
		]);
		const first = await show(source, { actions, width: 120, neighbours: () => ({ next: "b2" }) });
		await first.press("[", "\u001b[D");
		expect(calls).toHaveLength(4);
		expect((await show(source, { actions, width: 120 })).hints()).not.toContain("agent");
	});

	test.each([
		[120, 40],
		[80, 24],
		[50, 12],
		[30, 8],
		[12, 5],
	])("the help shows every key at %i x %i, and scrolls where it is longer than the screen", async (width, height) => {
		const { actions, source } = acting();
		const shown = await show(source, { actions, width, height, neighbours: () => ({ next: "b2" }) });
		await shown.press("?");
		const seen = new Set<string>();
		let last = "";
		for (let pages = 0; pages < 60 && last !== shown.screen().join("\n"); pages++) {
			last = shown.screen().join("\n");
			for (const line of shown.screen()) seen.add(line.replace(/[│┃]/g, "").trim());
			await shown.press(KEYS.down);
		}
		const all = [...seen].join("\n");
		const labels = ["line up", "half a page down", "to the end, and follow", "next agent", "copy path", "close"];
		for (const word of labels.flatMap((label) => label.split(" "))) expect(all).toContain(word);
		await shown.press(KEYS.home, "?");
		expect([shown.isClosed(), shown.screen().join("\n").includes("Hello.")]).toEqual([false, height > 4]);
	});
});
