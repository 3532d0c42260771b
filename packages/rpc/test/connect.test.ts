import { expect, test, vi } from "vitest";
import { connect, lifecycleChannels, RpcError, replyChannel, requestChannels } from "../src/index.ts";
import { settle, testBus } from "./bus.ts";
import { fakeServer } from "./fake-server.ts";

const find = { type: "Explore", prompt: "Where is the parser?" };

test("a client finds a server that is there, launches an agent and waits for it", async () => {
	const bus = testBus();
	const server = fakeServer(bus);
	const subagents = await connect(bus, { timeoutMs: 1_000 });
	const { id } = await subagents.spawn({ ...find, description: "find it" });
	const waiting = subagents.wait(id);
	server.settle(id);
	expect(await waiting).toEqual({ status: "completed", text: "a1 is done" });
	expect(await subagents.wait(id)).toEqual({ status: "completed", text: "a1 is done" });
	expect(await subagents.result(id)).toEqual({ status: "completed", text: "a1 is done" });
});

test("a client that is there first finds the server when it is ready", async () => {
	const bus = testBus();
	const connecting = connect(bus, { timeoutMs: 5_000 });
	await settle();
	fakeServer(bus);
	bus.emit(lifecycleChannels.ready, {});
	expect((await connecting).server).toEqual({ version: 2, capabilities: expect.arrayContaining(["wait", "list"]) });
});

test("what other answers claim to be is not taken for a server", async () => {
	const bus = testBus();
	bus.on(requestChannels.ping, (request) => {
		const channel = replyChannel("ping", (request as { requestId: string }).requestId);
		for (const junk of [undefined, "pong", { success: "yes" }, { success: true, data: { version: "two" } }])
			bus.emit(channel, junk);
	});
	await expect(connect(bus, { timeoutMs: 20 })).rejects.toThrow("No sub-agent server answered");
});

test("without a server it says so in time, and leaves no listener", async () => {
	const bus = testBus();
	const error = await connect(bus, { timeoutMs: 20 }).catch((thrown: unknown) => thrown);
	expect(error).toBeInstanceOf(RpcError);
	expect(error).toMatchObject({
		code: "timeout",
		message: expect.stringContaining(
			"No sub-agent server answered on the bus within 20 ms. Is the extension installed",
		),
	});
	expect(bus.listeners()).toBe(0);
});

test("connecting can be given up, and leaves no listener", async () => {
	const bus = testBus();
	const giveUp = new AbortController();
	const connecting = connect(bus, { signal: giveUp.signal });
	giveUp.abort(new Error("enough"));
	await expect(connecting).rejects.toThrow("enough");
	await expect(connect(bus, { signal: giveUp.signal })).rejects.toThrow("enough");
	expect(bus.listeners()).toBe(0);
});

test("a bus that is gone is an error at once", async () => {
	const bus = {
		on: () => () => undefined,
		emit: () => {
			throw new Error("stale");
		},
	};
	await expect(connect(bus)).rejects.toThrow("stale");
});

test("the server's refusals reach the caller in its words", async () => {
	const bus = testBus();
	fakeServer(bus);
	const subagents = await connect(bus);
	await expect(subagents.stop("zz")).rejects.toThrow(new RpcError("refused", "Agent not found"));
	await expect(subagents.wait("zz")).rejects.toThrow("Agent zz cannot be waited for: Agent not found");
	await expect(subagents.spawn({ ...find, maxTurns: -1 })).rejects.toThrow("maxTurns must be a whole number");
});

test("agents can be listed, looked at, steered, stopped and consumed", async () => {
	const bus = testBus();
	const server = fakeServer(bus);
	const subagents = await connect(bus);
	const { id } = await subagents.spawn(find);
	await subagents.steer(id, "Look in src.");
	await subagents.stop(id);
	await subagents.consume(id);
	expect([server.steered, server.stopped, server.consumed]).toEqual([["a1: Look in src."], ["a1"], ["a1"]]);
	expect(await subagents.status(id)).toMatchObject({ id, status: "running" });
	expect(await subagents.list()).toHaveLength(1);
	expect([(await subagents.cost()).cost, (await subagents.cost(id)).cost]).toEqual([3, 1]);
});

test("a workflow is run, and waited for like an agent", async () => {
	const bus = testBus();
	const server = fakeServer(bus);
	const subagents = await connect(bus);
	const { id } = await subagents.workflow({ name: "review", args: ["a.ts"] });
	const outcome = subagents.wait(id);
	server.settle(id);
	expect([id, await outcome]).toMatchObject(["review", { status: "completed" }]);
});

test("events are heard until one stops listening", async () => {
	const bus = testBus();
	const server = fakeServer(bus);
	const subagents = await connect(bus);
	const heard: string[] = [];
	const stop = subagents.on("completed", ({ id, status }) => heard.push(`${id} ${status}`));
	server.settle("a1");
	stop();
	server.settle("a2");
	expect(heard).toEqual(["a1 completed"]);
});

test("data that was asked for by a schema is part of the outcome", async () => {
	const bus = testBus();
	const server = fakeServer(bus);
	const subagents = await connect(bus);
	const { id } = await subagents.spawn({ ...find, outputSchema: { type: "object" } });
	const structured = { ok: true as const, data: { files: ["a.ts"] }, preview: "1 file" };
	server.settle(id, { outcome: { status: "completed", text: "{}", structured } });
	const outcome = await subagents.wait<{ files: string[] }>(id);
	expect(outcome.status === "completed" && outcome.structured?.data.files).toEqual(["a.ts"]);
});

test("nothing that ends, is given up or times out leaves a listener or a timer behind", async () => {
	vi.useFakeTimers();
	try {
		const bus = testBus();
		const server = fakeServer(bus);
		const alone = bus.listeners();
		const subagents = await connect(bus, { timeoutMs: 1_000 });
		const connected = bus.listeners();
		const { id } = await subagents.spawn(find);
		for (let round = 0; round < 100; round++) {
			const giveUp = new AbortController();
			const waits = [subagents.wait(id, { signal: giveUp.signal }), subagents.wait(id, { signal: giveUp.signal })];
			giveUp.abort(new Error("enough"));
			for (const wait of waits) await expect(wait).rejects.toThrow("enough");
			await subagents.list();
			await subagents.steer("zz", "…").catch(() => undefined);
			subagents.on("started", () => undefined)();
		}
		server.stop();
		const unheard = [subagents.list(), subagents.stop(id)].map((call) => call.catch((error: Error) => error.message));
		await vi.advanceTimersByTimeAsync(1_000);
		expect(await Promise.all(unheard)).toEqual([
			'No answer to "subagents:rpc:list" within 1000 ms.',
			'No answer to "subagents:rpc:stop" within 1000 ms.',
		]);
		expect([bus.listeners(), vi.getTimerCount()]).toEqual([connected - alone, 0]);
		subagents.close();
		expect(bus.listeners()).toBe(0);
	} finally {
		vi.useRealTimers();
	}
});

test("closing ends everything that is still open", async () => {
	const bus = testBus();
	fakeServer(bus);
	const before = bus.listeners();
	const subagents = await connect(bus);
	const { id } = await subagents.spawn(find);
	subagents.on("completed", () => undefined);
	const open = [subagents.wait(id), subagents.list()].map((call) => call.catch((error: Error) => error.message));
	subagents.close();
	expect(await Promise.all(open)).toEqual(["The connection was closed.", "The connection was closed."]);
	await expect(subagents.spawn(find)).rejects.toThrow("The connection was closed.");
	await expect(subagents.wait(id)).rejects.toThrow("The connection was closed.");
	expect(bus.listeners()).toBe(before);
});

test("the first answer counts, and a flood of others is not heard", async () => {
	const bus = testBus();
	fakeServer(bus);
	const subagents = await connect(bus);
	bus.on(requestChannels.list, (request) => {
		const { requestId } = request as { requestId: string };
		for (let i = 0; i < 1_000; i++) bus.emit(replyChannel("list", requestId), { success: false, error: `no ${i}` });
	});
	await expect(subagents.list()).rejects.toThrow("no 0");
	expect(bus.thrown).toEqual([]);
});

/** A client that waits for an agent whose server is gone. */
async function leftAlone() {
	const bus = testBus();
	const first = fakeServer(bus);
	const subagents = await connect(bus);
	const { id } = await subagents.spawn(find);
	const waiting = subagents.wait(id);
	await settle();
	first.stop();
	return { bus, id, waiting };
}

test("a wait survives a server that is replaced and knows the agent still", async () => {
	const { bus, id, waiting } = await leftAlone();
	const second = fakeServer(bus);
	await connect(bus).then((other) => other.spawn(find)); // it has an agent of the same id
	bus.emit(lifecycleChannels.ready, {});
	await settle();
	second.settle(id, { status: "stopped", outcome: { status: "aborted", by: "shutdown" } });
	expect(await waiting).toEqual({ status: "aborted", by: "shutdown" });
});

test("a wait for an agent that the next server does not know ends with an error that says so", async () => {
	const { bus, waiting } = await leftAlone();
	fakeServer(bus, { prefix: "b" });
	bus.emit(lifecycleChannels.ready, {});
	await expect(waiting).rejects.toThrow("Agent a1 cannot be waited for: Agent not found");
});
