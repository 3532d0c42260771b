import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { type CheckedSpawn, type Handlers, replyChannel, requestChannels, serve } from "../src/index.ts";
import { settle, testBus } from "./bus.ts";

/** A server that notes what reaches its handlers. */
function setUp(more: Partial<Handlers> = {}) {
	const bus = testBus();
	const spawned: CheckedSpawn[] = [];
	const handlers: Handlers = {
		spawn(request) {
			spawned.push(request);
			return { id: `a${spawned.length}` };
		},
		stop: () => undefined,
		...more,
	};
	const stop = serve(bus, handlers, { capabilities: ["outputSchema"] });
	const replies = () => bus.emitted.filter(({ channel }) => channel.includes(":reply:"));
	const ask = async (method: keyof typeof requestChannels, payload: unknown) => {
		bus.emit(requestChannels[method], payload);
		await settle();
		return replies().at(-1);
	};
	return { bus, spawned, stop, replies, ask };
}

test("a ping is answered with the version, and with what the server can do beyond it", async () => {
	const { ask } = setUp({ list: () => [] });
	expect(await ask("ping", { requestId: "p" })).toEqual({
		channel: "subagents:rpc:ping:reply:p",
		data: { success: true, data: { version: 2, capabilities: ["list", "outputSchema"] } },
	});
});

test("a spawn is answered with the id, and what has nothing to say with success alone", async () => {
	const { ask } = setUp();
	expect(await ask("spawn", { requestId: "s", type: "Explore", prompt: "look" })).toEqual({
		channel: "subagents:rpc:spawn:reply:s",
		data: { success: true, data: { id: "a1" } },
	});
	expect((await ask("stop", { requestId: "t", agentId: "a1" }))?.data).toEqual({ success: true });
});

test("the options of version 2 arrive, unset ones do not, and what nobody may say is ignored", async () => {
	const { ask, spawned } = setUp();
	const { signal } = new AbortController();
	await ask("spawn", {
		requestId: "s",
		type: "Explore",
		prompt: "look",
		options: {
			description: "look around",
			name: "finder",
			model: { provider: "fake", id: "one", api: "x" },
			maxTurns: 0,
			thinkingLevel: "low",
			isolated: true,
			isolation: "worktree",
			machine: "box",
			retry: "lost",
			inheritContext: false,
			isBackground: true,
			bypassQueue: true,
			cwd: null,
			signal,
			onSpawned: () => undefined,
			structuredOutput: { type: "object" },
			run_in_background: true,
			depth: 0,
			parentAgentId: "a7",
			maxSubagentDepth: 99,
			rootSessionId: "../..",
		},
	});
	expect(spawned[0]?.options).toEqual({
		description: "look around",
		name: "finder",
		model: "fake/one",
		maxTurns: 0,
		thinkingLevel: "low",
		isolated: true,
		isolation: "worktree",
		machine: "box",
		retry: "lost",
		inheritContext: false,
		isBackground: true,
		signal,
		outputSchema: { type: "object" },
	});
});

test.each([
	[{}, "type must be a non-blank string"],
	[{ type: "Explore" }, "prompt must be a non-blank string"],
	[{ type: "Explore", prompt: " " }, "prompt must be a non-blank string"],
	[{ type: 7, prompt: "look" }, "type must be a string"],
	[{ type: "Explore", prompt: "x".repeat(1_000_001) }, "prompt has 1000001 characters; at most 1000000 are allowed"],
	[{ type: "Explore", prompt: "look", options: [] }, "options must be an object"],
	[{ type: "Explore", prompt: "look", options: { maxTurns: -1 } }, "maxTurns must be a whole number"],
	[{ type: "Explore", prompt: "look", options: { isBackground: "yes" } }, "isBackground must be true or false"],
	[
		{ type: "Explore", prompt: "look", options: { model: {} } },
		'model must be "provider/id", or an object with provider and id',
	],
	[{ type: "Explore", prompt: "look", options: { retry: "twice" } }, 'retry must be "lost" or "off"'],
	[{ type: "Explore", prompt: "look", options: { isolation: "vm" } }, 'isolation must be "worktree" or "off"'],
	[{ type: "Explore", prompt: "look", options: { outputSchema: "{}" } }, "outputSchema must be an object"],
	[
		{ type: "Explore", prompt: "look", options: { outputSchema: { check: () => true } } },
		"outputSchema.check is not JSON",
	],
])("%#. a spawn that says too little or the wrong thing launches nothing: %s", async (payload, error) => {
	const { ask, spawned } = setUp();
	expect((await ask("spawn", { requestId: "s", ...payload }))?.data).toEqual({ success: false, error });
	expect(spawned).toEqual([]);
});

test("without a place for the answer nothing is done", async () => {
	const { bus, spawned, replies } = setUp();
	for (const requestId of [undefined, null, "", {}, [], Number.NaN, "x".repeat(257), () => "s"])
		bus.emit(requestChannels.spawn, { requestId, type: "Explore", prompt: "look" });
	bus.emit(requestChannels.spawn, Object.create({ requestId: "s", type: "Explore", prompt: "look" }));
	await settle();
	expect([spawned, replies()]).toEqual([[], []]);
});

test("a number does for a request id", async () => {
	const { ask } = setUp();
	expect((await ask("ping", { requestId: 42 }))?.channel).toBe(replyChannel("ping", "42"));
});

test.each([
	[new Error("Agent not found"), "Agent not found"],
	["just text", "just text"],
	[undefined, "undefined"],
	[Object.create(null), "It failed."],
	[
		Object.defineProperty(new Error("x"), "message", {
			get() {
				throw new Error("ha");
			},
		}),
		"It failed.",
	],
	[new Error("x".repeat(10_000)), "x".repeat(4_000)],
])("%#. whatever a handler throws is an error in the reply", async (thrown, error) => {
	const { ask } = setUp({
		stop: () => {
			throw thrown;
		},
	});
	expect((await ask("stop", { requestId: "t", agentId: "a1" }))?.data).toEqual({ success: false, error });
});

test("a request is read when it is sent, and handled when whoever sent it has gone on", async () => {
	const { bus, spawned } = setUp();
	const payload = { requestId: "s", type: "Explore", prompt: "look" };
	bus.emit(requestChannels.spawn, payload);
	expect(spawned).toEqual([]);
	payload.prompt = "something else";
	await settle();
	expect(spawned[0]?.prompt).toBe("look");
});

test("what was asked before the server stopped is still answered, and nothing afterwards", async () => {
	const { promise, resolve } = Promise.withResolvers<undefined>();
	const { bus, stop, replies, ask } = setUp({ stop: () => promise });
	bus.emit(requestChannels.stop, { requestId: "t", agentId: "a1" });
	await settle();
	stop();
	stop();
	expect(bus.listeners()).toBe(0);
	resolve(undefined);
	await settle();
	expect(replies()).toHaveLength(1);
	await ask("ping", { requestId: "p" });
	expect(replies()).toHaveLength(1);
});

test("a method without a handler is not answered at all, as from a server that does not know it", async () => {
	const { ask, replies } = setUp();
	await ask("list", { requestId: "l" });
	await ask("consume", { requestId: "c", agentId: "a1" });
	expect(replies()).toEqual([]);
});

test("a bus that refuses the answer is reported, not thrown", async () => {
	const bus = testBus();
	const problems: string[] = [];
	const handlers = { spawn: () => ({ id: "a1" }), stop: () => undefined };
	const refusing = {
		...bus,
		emit: () => {
			throw new Error("stale");
		},
	};
	serve(refusing, handlers, { report: (problem) => problems.push(problem) });
	bus.emit(requestChannels.ping, { requestId: "p" });
	await settle();
	expect(problems).toEqual(["The reply to a ping request could not be sent: stale"]);
});

test("Node's own emitter is a bus, too", async () => {
	const bus = new EventEmitter();
	const stop = serve(bus, { spawn: () => ({ id: "a1" }), stop: () => undefined });
	const replies: unknown[] = [];
	bus.on(replyChannel("ping", "p"), (reply) => replies.push(reply));
	bus.emit(requestChannels.ping, { requestId: "p" });
	await settle();
	expect(replies).toHaveLength(1);
	stop();
	expect(bus.eventNames()).toEqual([replyChannel("ping", "p")]);
});
