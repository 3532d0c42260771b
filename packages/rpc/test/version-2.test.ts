/** A server that only knows version 2: no capabilities, and no way to ask about an agent. */
import { expect, test } from "vitest";
import { connect, lifecycleChannels } from "../src/index.ts";
import { settle, testBus } from "./bus.ts";
import { fakeServer } from "./fake-server.ts";

const find = { type: "Explore", prompt: "Where is the parser?" };

async function setUp() {
	const bus = testBus();
	const server = fakeServer(bus, { isV2: true });
	const subagents = await connect(bus);
	return { bus, server, subagents };
}

test.each([
	[
		{ status: "completed", result: "here" },
		{ status: "completed", text: "here" },
	],
	[
		{ status: "steered", result: "here" },
		{ status: "completed", text: "here", wrappedUp: true },
	],
	[
		{ status: "error", error: "no key", result: "half" },
		{ status: "failed", error: "no key", partialText: "half" },
	],
	[
		{ status: "stopped", result: "half" },
		{ status: "aborted", by: "unknown", partialText: "half" },
	],
	[
		{ status: "aborted", result: "half" },
		{ status: "aborted", by: "turns", partialText: "half" },
	],
] as const)("%j is heard as an event, and is %j", async (how, outcome) => {
	const { server, subagents } = await setUp();
	const { id } = await subagents.spawn(find);
	const waiting = subagents.wait(id);
	server.settle(id, how);
	expect(await waiting).toEqual(outcome);
});

test("an agent that settled before somebody waits is remembered, until it is started again", async () => {
	const { bus, server, subagents } = await setUp();
	const { id } = await subagents.spawn(find);
	server.settle(id);
	expect(await subagents.wait(id)).toMatchObject({ status: "completed" });
	bus.emit(lifecycleChannels.started, { id, type: "Explore", description: "look" });
	const waiting = subagents.wait(id);
	server.settle(id, { result: "again" });
	expect(await waiting).toEqual({ status: "completed", text: "again" });
});

test("what is no news of an agent is not taken for one", async () => {
	const { bus, server, subagents } = await setUp();
	const { id } = await subagents.spawn(find);
	const waiting = subagents.wait(id);
	const { proxy, revoke } = Proxy.revocable({}, {});
	revoke();
	for (const junk of [undefined, null, "a1", { id }, { id: 7, status: "completed" }, proxy])
		bus.emit(lifecycleChannels.completed, junk);
	server.settle(id);
	expect(await waiting).toMatchObject({ text: "a1 is done" });
	expect(bus.thrown).toEqual([]);
});

test("what such a server cannot do is said at once", async () => {
	const { subagents } = await setUp();
	for (const call of [
		subagents.list(),
		subagents.status("a1"),
		subagents.result("a1"),
		subagents.steer("a1", "look elsewhere"),
		subagents.cost(),
		subagents.workflow({ name: "review" }),
	])
		await expect(call).rejects.toThrow(
			/^The server \(version 2\) does not offer "(list|status|result|steer|cost|workflow)"\.$/,
		);
});

test("agents of a server that was replaced are lost, and whoever waits for them hears that", async () => {
	const { bus, server, subagents } = await setUp();
	const { id } = await subagents.spawn(find);
	const waiting = subagents.wait(id);
	server.stop();
	fakeServer(bus, { isV2: true });
	bus.emit(lifecycleChannels.ready, {});
	expect(await waiting).toMatchObject({ status: "aborted", by: "lost" });
});

test("a server that can do more takes over, and back", async () => {
	const { bus, server, subagents } = await setUp();
	const listeners = bus.listeners();
	server.stop();
	const newer = fakeServer(bus);
	bus.emit(lifecycleChannels.ready, {});
	await settle();
	const { id } = await subagents.spawn(find);
	newer.settle(id);
	expect(await subagents.wait(id)).toMatchObject({ status: "completed" });
	const { id: second } = await subagents.spawn(find);
	const waiting = subagents.wait(second).catch((error: Error) => error.message);
	await settle();
	newer.stop();
	fakeServer(bus, { isV2: true, prefix: "c" });
	bus.emit(lifecycleChannels.ready, {});
	expect(await waiting).toBe("The server that ran agent a2 has been replaced.");
	expect(bus.listeners()).toBe(listeners);
});

test("only the latest thousand are remembered, and closing leaves no listener", async () => {
	const { bus, server, subagents } = await setUp();
	for (let i = 0; i < 1_100; i++) server.settle(`x${i}`);
	expect(await subagents.wait("x1099")).toMatchObject({ text: "x1099 is done" });
	const waiting = subagents.wait("x0").catch((error: Error) => error.message);
	subagents.close();
	expect(await waiting).toBe("The connection was closed.");
	server.stop();
	expect(bus.listeners()).toBe(0);
});
