/** What a careless or hostile extension may put on the bus: an error in reply or nothing, never a throw, never a launch. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	type CheckedSpawn,
	connect,
	lifecycleChannels,
	type Method,
	replyChannel,
	requestChannels,
	serve,
} from "../src/index.ts";
import { settle, type TestBus, testBus } from "./bus.ts";

const methods = Object.keys(requestChannels) as (keyof typeof requestChannels)[];

function setUp() {
	const bus = testBus();
	const spawned: CheckedSpawn[] = [];
	const calls: unknown[] = [];
	const note = (request: unknown) => void calls.push(request);
	serve(bus, {
		spawn(request) {
			spawned.push(request);
			return { id: "a1" };
		},
		stop: note as () => undefined,
		consume: note as () => undefined,
		steer: note as () => undefined,
		workflow(request) {
			calls.push(request);
			return { id: "w1" };
		},
		registerAgents: ({ agents }) => ({ count: agents.length, exclusive: false }),
		wait: () => new Promise(() => undefined),
		result: () => ({ id: "a1", type: "t", description: "d", status: "completed", toolUses: 0, durationMs: 0 }),
	});
	const replies = () => bus.emitted.filter(({ channel }) => channel.includes(":reply:"));
	return { bus, spawned, calls, replies };
}

const cyclic = () => {
	const it: Record<string, unknown> = {};
	it.self = it;
	return it;
};
const throwing = (key: string) =>
	Object.defineProperty({ requestId: "r", type: "Explore", prompt: "look" }, key, {
		enumerable: true,
		get() {
			throw new Error("gotcha");
		},
	});
const endless = new Proxy([], { get: (_, key) => (key === "length" ? 2 ** 32 - 1 : "x") });
const trap = new Proxy(
	{ a: 1 },
	{
		get: () => {
			throw new Error("gotcha");
		},
		getOwnPropertyDescriptor: () => {
			throw new Error("gotcha");
		},
		has: () => {
			throw new Error("gotcha");
		},
	},
);
const spawnWith = (options: unknown) => ({ requestId: "r", type: "Explore", prompt: "look", options });

test.each([
	["a getter that throws", throwing("prompt")],
	["options whose getter throws", spawnWith(throwing("cwd"))],
	["a schema that holds itself", spawnWith({ outputSchema: cyclic() })],
	["a schema without end", spawnWith({ outputSchema: { enum: endless } })],
	["a schema that is too large", spawnWith({ outputSchema: { description: "x".repeat(2_000_000) } })],
	["a schema with too many parts", spawnWith({ outputSchema: { enum: Array.from({ length: 30_000 }, (_, i) => i) } })],
	["a proxy for options", spawnWith(trap)],
	["a proxy for a schema", spawnWith({ outputSchema: trap, model: "a/b" })],
	["a model that throws", spawnWith({ model: trap })],
	["a boxed string", { requestId: "r", type: new String("Explore"), prompt: "look" }],
	["prototype pollution", { requestId: "r", ...JSON.parse('{"__proto__":{"type":"Explore","prompt":"look"}}') }],
])("%s: one error, and nothing is launched", async (_what, payload) => {
	const { bus, spawned, replies } = setUp();
	bus.emit(requestChannels.spawn, payload);
	await settle();
	expect(spawned).toEqual([]);
	expect(bus.thrown).toEqual([]);
	expect(replies()).toEqual([
		{ channel: "subagents:rpc:spawn:reply:r", data: { success: false, error: expect.stringMatching(/\S/) } },
	]);
});

test.each([
	["no source", {}],
	["two sources", { script: "x", name: "y" }],
	["a blank script", { script: " " }],
	["a script that is no text", { script: ["x"] }],
	["a script that is too long", { script: "x".repeat(1_000_001) }],
	["a path that throws", throwing("path")],
	["args that hold themselves", { name: "w", args: cyclic() }],
	["args without end", { name: "w", args: endless }],
	["args with a function", { name: "w", args: { run() {} } }],
	["a proxy for args", { name: "w", args: trap }],
	["a name from a prototype", { ...JSON.parse('{"__proto__":{"name":"w"}}') }],
	["a wrong flag", { name: "w", isBackground: "yes" }],
])("a workflow with %s: one error, and nothing is run", async (_what, payload) => {
	const { bus, calls, replies } = setUp();
	const request = Object.defineProperties({ requestId: "r" }, Object.getOwnPropertyDescriptors(payload));
	bus.emit(requestChannels.workflow, request);
	await settle();
	expect([calls, bus.thrown]).toEqual([[], []]);
	expect(replies()).toEqual([
		{ channel: "subagents:rpc:workflow:reply:r", data: { success: false, error: expect.stringMatching(/\S/) } },
	]);
});

test("a workflow with what it may have is passed on, and its args are a copy", async () => {
	const { bus, calls, replies } = setUp();
	const args = { files: ["a.ts"] };
	const { signal } = new AbortController();
	bus.emit(requestChannels.workflow, {
		requestId: "r",
		name: "w",
		script: null,
		args,
		isBackground: true,
		signal,
		more: 1,
	});
	args.files.push("b.ts");
	await settle();
	expect(calls).toEqual([{ name: "w", args: { files: ["a.ts"] }, isBackground: true, signal }]);
	expect(replies()).toMatchObject([{ data: { success: true, data: { id: "w1" } } }]);
});

test.each([
	["a proxy that throws", trap],
	["a revoked proxy", revoked()],
	["a function", () => undefined],
	["a symbol", Symbol("x")],
	["nothing", undefined],
	["a requestId whose getter throws", throwing("requestId")],
])("%s as the whole request: nothing at all", async (_what, payload) => {
	const { bus, spawned, calls, replies } = setUp();
	for (const method of methods) bus.emit(requestChannels[method], payload);
	await settle();
	expect([spawned, calls, replies(), bus.thrown]).toEqual([[], [], [], []]);
});

function revoked(): unknown {
	const { proxy, revoke } = Proxy.revocable({}, {});
	revoke();
	return proxy;
}

test("any message on any channel gets one reply if possible, and never throws", async () => {
	const requestId = fc.string({ minLength: 1, maxLength: 20 });
	const options = fc.record(
		{
			description: fc.anything(),
			model: fc.anything(),
			maxTurns: fc.anything(),
			cwd: fc.anything(),
			isBackground: fc.anything(),
			outputSchema: fc.anything({ withBigInt: true, withMap: true, withDate: true }),
			signal: fc.anything(),
		},
		{ requiredKeys: [] },
	);
	const payload = fc.record(
		{ type: fc.anything(), prompt: fc.anything(), agentId: fc.anything(), message: fc.anything(), options },
		{ requiredKeys: [] },
	);
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...methods), requestId, payload, async (method, id, rest) => {
			const { bus, spawned, replies } = setUp();
			bus.emit(requestChannels[method], { ...rest, requestId: id });
			await settle();
			expect(bus.thrown).toEqual([]);
			const isServed = !["status", "list", "cost"].includes(method);
			const isOpen = method === "wait" && typeof rest.agentId === "string" && rest.agentId.trim() !== "";
			expect(replies()).toHaveLength(isServed && !isOpen ? 1 : 0);
			for (const { type, prompt } of spawned) expect([typeof type, typeof prompt]).toEqual(["string", "string"]);
			expect(() => JSON.stringify(spawned.map(({ options: { signal: _, ...plain } }) => plain))).not.toThrow();
		}),
		{ numRuns: 300 },
	);
});

test("thousands of requests at once get as many replies, each on its own channel", async () => {
	const { bus, replies } = setUp();
	const before = bus.listeners();
	for (let i = 0; i < 5_000; i++)
		bus.emit(requestChannels.spawn, { requestId: `r${i}`, type: i % 2 ? "Explore" : 7, prompt: "look" });
	await settle();
	expect(new Set(replies().map(({ channel }) => channel)).size).toBe(5_000);
	expect(replies()).toHaveLength(5_000);
	expect(bus.listeners()).toBe(before);
});

describe("answers and news that are none", () => {
	const throwing = (field: string) =>
		Object.defineProperty({ id: "a1", status: "completed", version: 2 }, field, {
			enumerable: true,
			get() {
				throw new Error("boo");
			},
		});
	/** Answers every request on the bus with the same. */
	const answering = (bus: TestBus, data: Partial<Record<Method, unknown>>) => {
		for (const [method, answer] of Object.entries(data) as [Method, unknown][])
			bus.on(requestChannels[method], (request) => {
				const { requestId } = request as { requestId: string };
				bus.emit(replyChannel(method, requestId), { success: true, data: answer });
			});
	};

	test.each([null, undefined, 7, {}, { id: 7, status: "completed" }, throwing("outcome"), throwing("status")])(
		"to who waits: it is told so, and nothing is thrown (%#)",
		async (answer) => {
			const bus = testBus();
			answering(bus, { ping: { version: 2, capabilities: ["wait", "result"] }, wait: answer, result: answer });
			const subagents = await connect(bus);
			await expect(subagents.wait("a1")).rejects.toThrow(/does not contain the outcome of agent a1/);
			await expect(subagents.result("a1")).rejects.toThrow(/does not contain the outcome of agent a1/);
			expect(bus.thrown).toEqual([]);
		},
	);

	test("to a client of a server of version 2: they are passed over, and so is an outcome that is none", async () => {
		const bus = testBus();
		answering(bus, { ping: { version: 2 } });
		const subagents = await connect(bus);
		const waiting = subagents.wait("a1");
		for (const field of ["id", "status", "outcome", "result", "error"])
			for (const event of ["completed", "failed", "started"] as const)
				bus.emit(lifecycleChannels[event], throwing(field));
		bus.emit(lifecycleChannels.completed, {
			id: "a1",
			status: "completed",
			result: 7,
			outcome: { status: "completed" },
		});
		expect(await waiting).toEqual({ status: "completed", text: "" });
		expect(bus.thrown).toEqual([]);
	});

	test.each([throwing("version"), throwing("capabilities"), { version: "2" }])(
		"to a ping: nobody is there (%#)",
		async (answer) => {
			const bus = testBus();
			answering(bus, { ping: answer });
			await expect(connect(bus, { timeoutMs: 20 })).rejects.toThrow(/No sub-agent server answered/);
			expect(bus.thrown).toEqual([]);
		},
	);

	test("a server whose capabilities are no list has none", async () => {
		const bus = testBus();
		answering(bus, { ping: { version: 2, capabilities: "wait" } });
		await expect((await connect(bus)).list()).rejects.toThrow(/does not offer "list"/);
	});
});
