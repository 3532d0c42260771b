/** What a script can do, with agents that a function answers. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { AgentResult } from "@pi-subagents/workflow";
import { describe, expect, test, vi } from "vitest";
import { echo, resultOf, start } from "./support.ts";

const completed = (value: unknown) => ({ status: "completed", value });

describe("calls", () => {
	test("agent() gives the text, an object for a schema, and null for a failure", async () => {
		const agent = ({ prompt, schema }: { prompt: string; schema?: unknown }): AgentResult => {
			if (prompt === "fail") return { status: "failed", error: "no luck", tokens: 1 };
			return { status: "completed", text: prompt, tokens: 1, ...(schema ? { data: { got: prompt } } : {}) };
		};
		const script = `return [await agent("a"), await agent("b", { schema: { type: "object" } }), await agent("fail")]`;
		expect(await resultOf(script, { agent })).toEqual(completed(["a", { got: "b" }, null]));
	});

	test("onError: throw gives AgentFailed with the outcome", async () => {
		const agent = (): AgentResult => ({ status: "aborted", error: "stopped by you", tokens: 0 });
		const script = `
			try { await agent("a", { onError: "throw" }) }
			catch (error) { return [error instanceof AgentFailed, error.name, error.message, error.outcome.status] }`;
		expect(await resultOf(script, { agent })).toEqual(completed([true, "AgentFailed", "stopped by you", "aborted"]));
		const whole = `export const meta = { name: "t", description: "d", onError: "throw" }\nawait agent("a")`;
		expect(await resultOf(whole, { agent })).toMatchObject({
			status: "failed",
			error: expect.stringContaining("AgentFailed"),
		});
	});

	test("mistakes are named, and no fan-out hides them", async () => {
		const mistakes = {
			"agent('x', { agentTyp: 'a' })": "does not know the option `agentTyp`",
			"agent('x', { verify: 'npm test', gate: 'npm test' })": "`verify` and `gate` of agent() are the same",
			"agent('x', { gate: 7 })": "`verify` of agent() must be a command",
			"agent('  ')": "takes a prompt",
			"agent('x', { isolation: 'vm' })": "`isolation`",
			"agent('x', { retry: 'always' })": '`retry` of agent() must be "lost"',
			"agent('x', { machine: 7 })": "`machine`",
			"agent('x', { schema: 'object' })": "`schema`",
			"ask('x', { defualt: 1 })": "does not know the option `defualt`",
			"map([1], (x) => x, { concurency: 2 })": "does not know the option concurency",
			"parallel([agent('y')])": "takes functions",
			"pipeline('abc', (x) => x)": "takes a list",
		};
		const tries = Object.keys(mistakes).map((call) => `() => ${call}`);
		const script = `const said = []; for (const make of [${tries.join()}]) try { await make(); said.push("nothing") } catch (error) { said.push(error.message) }
			return said`;
		const result = await resultOf(`${script.replace("return said", "await agent('z'); return said")}`);
		// The agent that was made for parallel() is not awaited either.
		expect(result).toMatchObject({ status: "failed", error: expect.stringContaining("not awaited") });
		const said = await resultOf(script.replace("parallel([agent('y')])", "parallel([1])"));
		expect(said).toEqual(completed(Object.values(mistakes).map((text) => expect.stringContaining(text))));
		const inside = await resultOf(`return parallel([() => pipeline([1], () => agent("x", { agentTyp: "a" }))])`);
		expect(inside).toEqual({ status: "failed", error: expect.stringContaining("agentTyp") });
	});

	test("a launch that is refused is the script's mistake", async () => {
		const agent = () => Promise.reject(new Error('There is no preset "x".'));
		expect(await resultOf(`return agent("a")`, { agent })).toMatchObject({
			status: "failed",
			error: expect.stringContaining('no preset "x"'),
		});
	});

	test("an agent() that is not awaited fails the run, finished or not", async () => {
		const says = expect.stringContaining("not awaited (line 2)");
		expect(await resultOf(`agent("a")\nreturn 1`)).toEqual({ status: "failed", error: says });
		for (const script of [
			`agent("a")\nawait agent("b"); await agent("c"); return 1`,
			`try { return await agent("a") } finally { agent("b") }`,
			`parallel([() => agent("a")])\nreturn 1`,
			`map([1], () => agent("a"))\nawait agent("b"); return 1`,
		])
			expect(await resultOf(script)).toEqual({ status: "failed", error: says });
	});

	test("an agent that lost a race is stopped", async () => {
		let stopped = false;
		const agent = ({ prompt }: { prompt: string }, { signal }: { signal: AbortSignal }) =>
			prompt === "slow"
				? new Promise<AgentResult>(() =>
						signal.addEventListener("abort", () => {
							stopped = true;
						}),
					)
				: echo({ prompt }, {} as never);
		expect(await resultOf(`return Promise.race([agent("slow"), agent("fast")])`, { agent })).toEqual(
			completed("did fast"),
		);
		expect(stopped).toBe(true);
	});
});

describe("many", () => {
	test("parallel() waits for all and gives null for what throws", async () => {
		const script = `return parallel([() => agent("a"), async () => { throw new Error("x") }, () => 3])`;
		const { result, events } = start(script);
		expect(await result).toEqual(completed(["did a", null, 3]));
		expect(events).toContainEqual(
			expect.objectContaining({ type: "log", text: expect.stringContaining("item 2 failed: Error: x") }),
		);
	});

	test("in a pipeline a fast item overtakes a slow one, and a failed one skips the rest", async () => {
		const slow = Promise.withResolvers<void>();
		const { result, prompts } = start(
			`return pipeline(["slow", "fast", "bad"],
				(item) => { if (item === "bad") throw new Error("bad"); return agent("first " + item) },
				(previous, item, index) => agent("second " + item + " " + index + " " + previous))`,
			{
				agent: async (request, call) => {
					if (request.prompt === "first slow") await slow.promise;
					if (request.prompt.startsWith("second fast")) slow.resolve();
					return echo(request, call);
				},
			},
		);
		expect(await result).toEqual(
			completed(["did second slow 0 did first slow", "did second fast 1 did first fast", null]),
		);
		expect(prompts).toEqual([
			"first slow",
			"first fast",
			"second fast 1 did first fast",
			"second slow 0 did first slow",
		]);
	});

	test("map() keeps its concurrency, and the engine its own", async () => {
		let now = 0;
		let most = 0;
		const agent = async (...given: Parameters<typeof echo>) => {
			most = Math.max(most, ++now);
			await new Promise((go) => setImmediate(go));
			now--;
			return echo(...given);
		};
		const script = `return (await map(Array.from({ length: 200 }, (_, i) => i), (i) => agent("item " + i), { concurrency: 8 })).length`;
		expect(await resultOf(script, { agent })).toEqual(completed(200));
		expect(most).toBe(8);
		most = 0;
		const all = `return (await parallel(Array.from({ length: 50 }, (_, i) => () => agent("item " + i)))).length`;
		expect(await resultOf(all, { agent, limits: { concurrency: 4 } })).toEqual(completed(50));
		expect(most).toBe(4);
	});
});

describe("the rest", () => {
	test("args, phase, log, ask and budget", async () => {
		const { result, events, run } = start(
			`phase("Find"); log("looking at", args.files.length)
			 const found = await agent("find", { label: "finder" })
			 phase("Fix")
			 const answer = await ask("Fix it?", { default: "no" })
			 await agent("fix", { phase: "Repair" })
			 return { answer, found, spent: budget.spent(), left: budget.remaining(), total: budget.total }`,
			{
				args: { files: ["a"] },
				budget: 100,
				ask: async ({ question, default: fallback }) => `${question} ${fallback}`,
			},
		);
		expect(await result).toEqual(
			completed({ answer: "Fix it? no", found: "did find", spent: 20, left: 80, total: 100 }),
		);
		expect(run.state.phases).toEqual(["Find", "Fix"]);
		expect(events.flatMap((event) => (event.type === "called" ? [[event.label, event.phase]] : []))).toEqual([
			["finder", "Find"],
			["Fix it?", "Fix"],
			["fix", "Repair"],
		]);
		expect(events).toContainEqual(expect.objectContaining({ type: "log", text: "looking at 1" }));
	});

	test("without a person, ask() gives its default or null", async () => {
		expect(await resultOf(`return [await ask("a?")]`)).toEqual(completed([null]));
	});

	test("a used-up budget stops launches, and the script can return what it has", async () => {
		const script = `const done = []; try { for (;;) done.push(await agent("again")) } catch (error) { return [done.length, error.message] }`;
		expect(await resultOf(script, { budget: 25 })).toEqual(
			completed([3, expect.stringContaining("budget is used up: 30 of 25")]),
		);
		const swallowed = `return parallel([1, 2, 3, 4].map((n) => async () => { await agent("a" + n); return agent("b" + n) }))`;
		expect(await resultOf(swallowed, { budget: 10 })).toMatchObject({
			status: "failed",
			error: expect.stringContaining("budget is used up"),
		});
	});

	test("workflow() runs a saved one, one level deep", async () => {
		const saved: Record<string, string> = {
			inner: `export const meta = { name: "inner", description: "d" }\nreturn { got: await agent("inner " + args.n) }`,
			deep: `export const meta = { name: "deep", description: "d" }\nreturn workflow("inner", { n: 1 })`,
		};
		const load = async (name: string) => saved[name] ?? Promise.reject(new Error(`There is no workflow "${name}".`));
		expect(await resultOf(`return workflow("inner", { n: 7 })`, { load })).toEqual(completed({ got: "did inner 7" }));
		expect(await resultOf(`return workflow("deep")`, { load })).toMatchObject({
			status: "failed",
			error: expect.stringContaining("one level"),
		});
		expect(await resultOf(`return workflow("none")`, { load })).toMatchObject({
			status: "failed",
			error: expect.stringContaining('no workflow "none"'),
		});
	});

	test("resume continues an agent by its label", async () => {
		const { result, events } = start(`await agent("a", { label: "one" }); return agent("b", { resume: "one" })`, {
			agent: ({ prompt }, { resumed }) => ({ status: "completed", text: `${prompt} ${resumed?.agentId}`, tokens: 0 }),
		});
		expect(await result).toEqual(completed("b agent-1"));
		expect(events.some((event) => event.type === "launched")).toBe(true);
	});

	test("a thread that can end itself is not cut off: V8 would write into the output of its process", async () => {
		const exits: Promise<unknown>[] = [];
		const note = (message: unknown) => exits.push(once((message as { worker: Worker }).worker, "exit"));
		const cutOff = vi.spyOn(Worker.prototype, "terminate");
		subscribe("worker_threads", note);
		try {
			start(`return agent("one")`).run.end("stopped"); // before it has its context
			const { result, run } = start(`return agent("two")`);
			run.end("left");
			await result;
			await Promise.all(exits);
			expect(exits).toHaveLength(2);
			expect(cutOff).not.toHaveBeenCalled();
		} finally {
			unsubscribe("worker_threads", note);
			cutOff.mockRestore();
		}
	});

	test("pause holds launches, skip gives null, retry launches another, stop ends it", async () => {
		const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
		let calls = 0;
		const { run, result, prompts } = start(`return [await agent("a"), await agent("b"), await agent("c")]`, {
			agent: async (request, call) => {
				const nth = calls++;
				gates[nth]?.resolve();
				if (nth >= 2) return echo(request, call);
				return new Promise((_resolve, reject) =>
					call.signal.addEventListener("abort", () => reject(new Error("stopped"))),
				);
			},
		});
		await gates[0]?.promise;
		expect(run.retry("1")).toBe(true);
		await gates[1]?.promise;
		expect(run.skip("1")).toBe(true);
		expect(run.skip("9")).toBe(false);
		expect(await result).toEqual(completed([null, "did b", "did c"]));
		expect(prompts).toEqual(["a", "a", "b", "c"]);

		const held = start(`return agent("a")`);
		held.run.pause();
		held.run.pause();
		await expect.poll(() => held.events.map(({ type }) => type)).toContain("called");
		await new Promise(setImmediate);
		expect(held.prompts).toEqual([]);
		held.run.continue();
		expect(await held.result).toEqual(completed("did a"));

		const endless = start(`return agent("a")`, { agent: () => new Promise(() => undefined) });
		endless.run.end("stopped");
		expect(await endless.result).toEqual({ status: "stopped" });
		expect(endless.events.at(-1)).toMatchObject({ type: "ended", status: "stopped" });
	});
});
