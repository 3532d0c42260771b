/** A workflow that a process left behind: taken up again, it gives what it would have given. */
import { type JournalEvent, parseJournal, workflowState } from "@pi-subagents/workflow";
import { isFullRun } from "@pi-subagents-dev/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Agent, echo, META, start } from "./support.ts";

const SCRIPT = `${META}
phase("Find")
const found = await agent("find", { schema: { type: "array" } })
const seen = await pipeline(found, (item) => agent("look at " + item), (before, item, index) => agent("check " + item + index + before))
phase("Judge")
const votes = await Promise.all([1, 2].map(async (n) => { const said = await agent("same"); return agent("judge " + n + said) }))
const more = await parallel([() => agent("p1"), async () => { await agent("p2"); return Math.random() }])
return { seen, votes, more, at: Date.now() }`;

/** Answers in an order that the seed decides. */
function shuffled(seed: number): Agent {
	let state = seed;
	return async (request) => {
		state = (state * 16807 + 11) % 2147483647;
		for (let turns = state % 5; turns > 0; turns--) await new Promise((go) => setImmediate(go));
		const data = request.schema ? { data: ["a", "b", "c"] } : {};
		return { status: "completed", text: `did ${request.prompt}`, tokens: 1, ...data };
	};
}

/** As a process leaves it that is killed after so many lines. */
const cut = (events: readonly JournalEvent[], lines: number) =>
	parseJournal(
		`${events
			.slice(0, lines)
			.map(
				(event) => `${JSON.stringify(event)}
`,
			)
			.join("")}{"type":"answered","pa`,
	);

async function whole(seed: number) {
	const { result, events, prompts } = start(SCRIPT, { agent: shuffled(seed) });
	return { result: await result, events, prompts };
}

const answeredIn = (events: readonly JournalEvent[]) => events.filter(({ type }) => type === "answered").length;

test("killed after every entry, it completes, and no finished agent runs again", async () => {
	const { result, events, prompts } = await whole(7);
	expect(result).toMatchObject({ status: "completed" });
	const cuts = isFullRun
		? events.map((_event, index) => index + 1)
		: [1, 4, Math.floor(events.length / 2), events.length - 1];
	for (const lines of cuts) {
		const left = cut(events, lines);
		const again = start(SCRIPT, { events: left, agent: shuffled(lines) });
		const { at: _later, ...value } = ((await again.result) as { value: { at: number } }).value;
		expect(result).toMatchObject({ value });
		expect(again.prompts.length).toBe(prompts.length - answeredIn(events.slice(0, lines)));
		expect(again.run.state.diverged).toBeUndefined();
	}
});

test("the paths of calls do not depend on what finishes first", async () => {
	const pathsOf = (events: readonly JournalEvent[]) =>
		events.flatMap((event) => (event.type === "called" ? [`${event.path} ${event.label}`] : [])).sort();
	const first = pathsOf((await whole(1)).events);
	await fc.assert(
		fc.asyncProperty(fc.integer({ min: 2, max: 1_000_000 }), async (seed) => {
			expect(pathsOf((await whole(seed)).events)).toEqual(first);
		}),
		{ numRuns: isFullRun ? 50 : 4 },
	);
});

test("whatever of the journal is left, the result is the same", async () => {
	const { result, events } = await whole(3);
	await fc.assert(
		fc.asyncProperty(
			fc.integer({ min: 1, max: events.length - 1 }),
			fc.integer({ min: 1, max: 999 }),
			async (lines, seed) => {
				const again = start(SCRIPT, { events: cut(events, lines), agent: shuffled(seed) });
				const { at: _later, ...value } = ((await again.result) as { value: { at: number } }).value;
				expect(result).toMatchObject({ value });
			},
		),
		{ numRuns: isFullRun ? 60 : 4 },
	);
});

describe("the same script", () => {
	test("a call that is new does not take the answer of a later one that asks for the same", async () => {
		// Two lines ask the same question; the second one has got further. What each asks next depends on its answers.
		const script = `return parallel(["slow", "fast"].map((name) => async () => {
			const first = await agent("Start " + name)
			const second = await agent("Same")
			return agent("Then " + name + " " + second)
		}))`;
		const agent: Agent = ({ prompt }) => {
			if (prompt === "Start slow") return new Promise(() => undefined);
			return { status: "completed", text: prompt === "Same" ? `same ${++sames}` : prompt, tokens: 1 };
		};
		let sames = 0;
		const first = start(script, { agent });
		await expect.poll(() => answeredIn(first.events)).toBe(3);
		first.run.end("left");
		const again = start(script, {
			events: [...first.events],
			agent: ({ prompt }) => ({ status: "completed", text: prompt === "Same" ? "same 2" : prompt, tokens: 1 }),
		});
		expect(await again.result).toEqual({ status: "completed", value: ["Then slow same 2", "Then fast same 1"] });
		expect(again.prompts).toEqual(["Start slow", "Same", "Then slow same 2"]);
	});

	test("what was spent is the same at every place, and counts called workflows", async () => {
		const script = `
			const before = await workflow("inner")
			const seen = await parallel([3, 1, 2].map((n) => async () => { await agent("n" + n); return budget.spent() }))
			return { before, seen, all: budget.spent() }`;
		const load = async () => `${META}await agent("inner")\nreturn budget.spent()`;
		const others = new Set(["n1", "n2"]);
		const agent: Agent = async ({ prompt }) => {
			if (prompt === "n3") await expect.poll(() => others.size).toBe(0); // the first is answered last
			await new Promise(setImmediate);
			others.delete(prompt);
			return { status: "completed", text: prompt, tokens: 10 };
		};
		const { result, events } = start(script, { agent, load });
		const value = { before: 10, seen: [40, expect.any(Number), expect.any(Number)], all: 40 };
		const first = await result;
		expect(first).toEqual({ status: "completed", value });
		const left = events.filter(({ type }) => type !== "ended");
		expect(await start(script, { agent, load, events: [...left] }).result).toEqual(first);
		const more = start(`${script.replace("return {", 'await agent("more"); return {')}`, {
			load,
			events: left,
			budget: 40,
		});
		expect(await more.result).toMatchObject({ status: "failed", error: expect.stringContaining("40 of 40 tokens") });
	});
});

describe("a changed script", () => {
	const ended = ({ type }: JournalEvent) => type !== "ended";

	test("replays what matches, wherever it stands, and says where it diverged", async () => {
		const first = start(`${META}const a = await agent("a"); const b = await agent("b"); return [a, b]`);
		await first.result;
		const changed = `${META}const a = await agent("a");\nconst n = await agent("new"); const b = await agent("b"); return [a, n, b]`;
		const again = start(changed, { events: first.events.filter(ended) });
		expect(await again.result).toEqual({ status: "completed", value: ["did a", "did new", "did b"] });
		expect(again.prompts).toEqual(["new"]);
		expect(again.run.state.diverged).toMatchObject({ recorded: "b", called: "new (line 3)" });
		// And once more, from the journal as the changed script left it.
		const third = start(changed, { events: again.events.filter(ended) });
		expect(await third.result).toEqual({ status: "completed", value: ["did a", "did new", "did b"] });
		expect(third.prompts).toEqual([]);
		expect(third.run.state.spent).toBe(30);
	});

	test("an agent that was at work is handed on, and a retried one runs again", async () => {
		const first = start(`${META}return [await agent("a"), await agent("b")]`, {
			agent: (request, call) => (request.prompt === "b" ? new Promise(() => undefined) : echo(request, call)),
		});
		await expect.poll(() => first.events.filter(({ type }) => type === "launched").length).toBe(2);
		first.run.end("left");
		expect(await first.result).toEqual({ status: "stopped" });
		expect(workflowState(first.events).end).toBeUndefined();
		const previous: (string | undefined)[] = [];
		const again = start(`${META}return [await agent("a"), await agent("b")]`, {
			events: [...first.events, { type: "retried", path: "1", at: 1 }],
			agent: (request, call) => {
				previous.push(call.previous?.agentId);
				return echo(request, call);
			},
		});
		expect(await again.result).toMatchObject({ status: "completed" });
		expect(previous).toEqual(["agent-1", "agent-2"]);
	});
});

test("lines that are forged or from another version are skipped, and their calls run", async () => {
	const script = `return [await agent("a"), await agent("b")]`;
	const first = start(script);
	await first.result;
	const forged = first.events
		.filter(({ type }) => type !== "ended")
		.map((event) => {
			if (event.type === "answered") return { ...event, answer: event.path === "1" ? {} : { ok: false, error: 7 } };
			return event.type === "called" ? { ...event, kind: "agent", version: 9 } : event;
		});
	const lines = [...forged, { ...forged[0], script: "return 'another'" }, { type: "forecast", at: 1 }];
	const events = parseJournal(lines.map((line) => JSON.stringify(line)).join("\n"));
	const again = start(script, { events });
	expect(await again.result).toEqual({ status: "completed", value: ["did a", "did b"] });
	expect(again.prompts).toEqual(["a", "b"]);
	expect(again.run.state.diverged).toBeUndefined();
});

test("a journal of any lines can be read", () => {
	fc.assert(
		fc.property(
			fc.array(fc.oneof(fc.json(), fc.string(), fc.constant('{"type":"called","at":1,"path":null}'))),
			(lines) => {
				expect(() => workflowState(parseJournal(lines.join("\n")))).not.toThrow();
			},
		),
	);
});
