/** What a script cannot do, and that its clock and its dice are the journal's. */

import { handClock } from "@pi-subagents/core/testing";
import { patienceMs } from "@pi-subagents-dev/testkit/wait";
import { describe, expect, test } from "vitest";
import { resultOf, start } from "./support.ts";

describe("there is nothing but the language and the globals", () => {
	test("neither Node, nor the network, nor timers, nor code from texts", async () => {
		const tries = {
			"eval('1')": "eval cannot be used",
			"new Function('return 1')()": "Code generation from strings disallowed",
			"agent.constructor('return process')()": "Code generation from strings disallowed",
			"(async () => {}).constructor('return 1')()": "Code generation from strings disallowed",
			"import('node:fs')": "dynamic import",
			"require('fs')": "require cannot be used",
			"setTimeout(() => {}, 1)": "setTimeout cannot be used",
			"fetch('http://localhost')": "fetch cannot be used",
			"process.exit(1)": "undefined",
			"new ArrayBuffer(8)": "ArrayBuffer is not defined",
			"WebAssembly.compile()": "WebAssembly is not defined",
		};
		const code = Object.keys(tries).map((each) => `() => ${each}`);
		const script = `const said = []; for (const make of [${code.join()}]) try { await make(); said.push("nothing") } catch (error) { said.push(error.message) }
			return said`;
		const said = Object.values(tries).map((text) => expect.stringContaining(text));
		expect(await resultOf(script)).toEqual({ status: "completed", value: said });
	});

	test("what crosses over cannot be followed back to Node", async () => {
		const script = `
			const ways = [agent, args, budget, log, (await agent("a")), Date, Math.random];
			return ways.map((way) => { try { return String(Object(way).constructor.constructor("return typeof process")()) } catch (error) { return "no" } })`;
		expect(await resultOf(script, { args: { a: 1 } })).toMatchObject({ value: Array(7).fill("no") });
	});
});

describe("attacks", () => {
	test("an error that Node throws into the script leads nowhere", async () => {
		// The stack overflows in different frames, some of them on Node's side of the bridge.
		const script = `
			const tried = new Set()
			const told = (error) => { try { return String(error.constructor.constructor("return typeof process")()) } catch { return "no" } }
			const dig = () => { Math.random(); dig() }
			for (let pad = 0; pad < 60; pad++) try { ((...rest) => dig())(...Array(pad)) } catch (error) { tried.add(told(error)) }
			return [...tried]`;
		expect(await resultOf(script)).toEqual({ status: "completed", value: ["no"] });
	});

	test.each([
		["JSON.stringify = () => 'garbage'; JSON.parse = () => process.exit(); return agent('a')", "did a"],
		["Array.prototype.map = () => 1; Promise.prototype.finally = null; return agent('a')", "did a"],
		["Object.prototype.__proto__ === null && Object.freeze(Object.prototype); return agent('a')", "did a"],
		["delete globalThis.agent; return typeof agent", "undefined"],
	])("%s: only the script itself is affected", async (script, value) => {
		expect(await resultOf(script)).toEqual({ status: "completed", value });
	});

	test.each([
		["Object.prototype.toJSON = () => 1; return agent('a')", "options of a call must be an object"],
		["return () => 1", "it is a function"],
		["return { a: { b: Symbol('s') } }", "`b` is a symbol"],
		["return { n: 1n }", "`n` is a BigInt"],
		["return [0 / 0]", "`0` is NaN"],
		["return { all: parallel([() => agent('a')]) }", "`all` is a promise: await it"],
		["return { seen: new Set([1]) }", "`seen` is a Set"],
		["return { why: new Error('x') }", "`why` is an Error: take its message"],
		["const a = {}; a.a = a; return a", "is not JSON: Converting circular structure"],
		["let a = []; for (let i = 0; i < 100000; i++) a = [a]; return a", "is not JSON: Maximum call stack"],
		["return 'x'.repeat(5e6)", "What the workflow returns is too long"],
		["return agent('x'.repeat(5e6))", "What agent() is given is too long"],
		["return workflow('w', { f() {} })", "What workflow() passes on is not JSON: `f` is a function"],
		["await new Promise(() => {})", "waits forever"],
		["return { then() {} }", "waits forever"],
		["await agent('a'); await new Promise(() => {})", "waits forever"],
		["for (;;) log('again')", "may log at most 10000 lines"],
		["for (let i = 0; ; i++) phase('p' + i)", "may log at most 10000 lines"],
		["throw { get message() { throw new Error('in the getter') } }", "in the getter"],
		["throw null", "threw null"],
		["return pipeline(Array(5000).fill(1), (n) => n)", "at most 4096 items"],
		["return Promise.all(Array.from({ length: 2000 }, (_, i) => agent('a' + i)))", "may launch at most 1000 agents"],
		["/(a+)+$/.test('a'.repeat(60) + 'b')", "endless loop"],
		["let s = 'x'; for (;;) s += s + s", "Invalid string length"],
	])("%s: a clear error", async (script, says) => {
		const cpuMs = says === "endless loop" ? 2_000 : patienceMs();
		const { run, result } = start(script, { limits: { cpuMs, memoryMb: 64 } });
		expect(await result).toEqual({ status: "failed", error: expect.stringContaining(says) });
		expect(run.state.logs.length).toBeLessThanOrEqual(200);
	});

	test("a log line is cut, and what cannot be written as JSON is logged as a text", async () => {
		const { run, result } = start("const a = {}; a.a = a; log('x'.repeat(1e6)); log(a, 1n, Symbol('s')); return 1");
		expect(await result).toMatchObject({ status: "completed" });
		expect(run.state.logs.map((line) => line.slice(-40))).toEqual(["x".repeat(40), "[object Object] 1 Symbol(s)"]);
		expect(run.state.logs[0]).toHaveLength(2_000);
	});

	test("a list that grows while it is walked has the items that it had", async () => {
		const script = "const list = [1, 2]; await map(list, (n) => { list.push(n) }, { concurrency: 1 }); return list";
		expect(await resultOf(script)).toMatchObject({ value: [1, 2, 1, 2] });
	});
});

describe("bounds", () => {
	test("an endless loop ends with an error, with or without awaits in it", async () => {
		const limits = { cpuMs: 300 };
		const says = expect.stringContaining("endless loop");
		expect(await resultOf("for (;;) {}", { limits })).toEqual({ status: "failed", error: says });
		expect(await resultOf("await agent('a'); for (;;) await null", { limits })).toEqual({
			status: "failed",
			error: says,
		});
	});

	test("an agent may take longer than the script may compute", async () => {
		const clock = handClock();
		const agent = async () => {
			await expect.poll(() => clock.waiting()).toBe(0);
			clock.advance(1_500);
			return { status: "completed" as const, text: "late", tokens: 0 };
		};
		const result = await resultOf("return agent('a')", { agent, clock, limits: { cpuMs: 1_000 } });
		expect(result).toMatchObject({ value: "late" });
	});

	test("a memory bomb ends with an error", async () => {
		const bomb = "const all = []; for (;;) all.push(Array.from({ length: 10000 }, (_, i) => ({ i })))";
		const result = await resultOf(bomb, { limits: { memoryMb: 32, cpuMs: patienceMs() } });
		expect(result).toEqual({ status: "failed", error: "The script used more than 32 MB of memory." });
	});

	test("agents and items are counted", async () => {
		const many = `for (let i = 0; ; i++) await agent("a" + i)`;
		expect(await resultOf(many, { limits: { maxAgents: 5 } })).toMatchObject({
			error: expect.stringContaining("may launch at most 5 agents"),
		});
		const wide = `return map(Array(11).fill(1), () => 1)`;
		expect(await resultOf(wide, { limits: { maxItems: 10 } })).toMatchObject({
			error: expect.stringContaining("at most 10 items"),
		});
	});

	test("what fails without being awaited fails the run", async () => {
		// The parenthesis would call `meta` if a script were only joined together.
		const script = `(async () => { throw new Error("quietly") })(); await agent("a"); return 1`;
		expect(await resultOf(script)).toMatchObject({ status: "failed", error: expect.stringContaining("quietly") });
	});
});

test("the clock moves with answers, and clock and dice are the same in every run", async () => {
	const script = `
		const draw = async (n) => { const before = Math.random(); await agent("a" + n); return [before, Math.random(), Date.now(), new Date().getTime()] }
		const first = Date.now()
		const drawn = await Promise.all([draw(1), draw(2), draw(3)])
		const begun = Date.now()
		await parallel([() => pipeline([4], (n) => agent("a" + n)), () => agent("a1")])
		return { first, passed: Date.now() - begun >= 25, same: first === Date.now(), drawn, fixed: new Date(0).getTime(), text: typeof Date(), is: new Date() instanceof Date }`;
	const agent = async ({ prompt }: { prompt: string }) => {
		await new Promise((go) => setTimeout(go, prompt === "a1" ? 30 : 1)); // real time: it is what the script's clock shows
		return { status: "completed" as const, text: "", tokens: 0 };
	};
	const { result, events } = start(script, { agent });
	const first = await result;
	expect(first).toMatchObject({ status: "completed", value: { passed: true, fixed: 0, text: "string", is: true } });
	expect(
		new Set((first as { value: { drawn: number[][] } }).value.drawn.flatMap((each) => each.slice(0, 2))).size,
	).toBe(6);
	const again = start(script, { agent, events: events.filter(({ type }) => type !== "ended") });
	expect(await again.result).toEqual(first);
	expect(again.prompts).toEqual([]);
});
