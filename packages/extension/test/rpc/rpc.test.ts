/** What other extensions may ask, over the bus as they do it. */
import { connect, replyChannel, requestChannels } from "@pi-subagents/rpc";
import { agentInfo } from "@pi-subagents-dev/docs";
import { expect, test } from "vitest";
import { newFile, open, spec } from "../fixtures/fake-session.ts";

type Opened = Awaited<ReturnType<typeof open>>;

/** A request by hand, as version 2 has it. */
function ask({ events }: Opened, method: keyof typeof requestChannels, payload: object): Promise<unknown> {
	const requestId = crypto.randomUUID();
	return new Promise((resolve) => {
		events.on(replyChannel(method, requestId), resolve);
		events.emit(requestChannels[method], { requestId, ...payload });
	});
}

const look = { type: "scout", prompt: "Look around." };
const inBackground = { ...look, options: { isBackground: true } };

test("a ping is answered before a session is open, a spawn only then", async () => {
	const it = await open(newFile(), { isLate: true });
	expect(await ask(it, "ping", {})).toEqual({
		success: true,
		data: {
			version: 2,
			capabilities: ["consume", "status", "result", "wait", "list", "steer", "outputSchema"],
		},
	});
	expect(await ask(it, "spawn", look)).toEqual({ success: false, error: "No active session" });
	await it.start();
	expect(await ask(it, "spawn", look)).toEqual({ success: true, data: { id: "a1" } });
	expect(it.manager.store.record("a1")).toMatchObject({ launchedBy: "rpc" });
});

test("a spawn is resolved like any other launch, with the names that callers use", async () => {
	const it = await open(newFile());
	const outputSchema = { type: "object" };
	await ask(it, "spawn", {
		...look,
		options: {
			description: "look",
			name: "Finder",
			model: { provider: "fake", id: "one" },
			maxTurns: 3,
			thinkingLevel: "low",
			isolated: true,
			isolation: "worktree",
			inheritContext: true,
			cwd: "/project",
			outputSchema,
			depth: 7,
			parentAgentId: "a9",
		},
	});
	expect(it.asked).toEqual([
		{
			preset: "scout",
			task: "Look around.",
			description: "look",
			model: "fake/one",
			maxTurns: 3,
			thinking: "low",
			isolated: true,
			isolation: "worktree",
			inheritContext: true,
			cwd: "/project",
			outputSchema,
		},
	]);
	const record = it.manager.store.record("a1");
	expect(record).toMatchObject({ name: "Finder", depth: 1, isBackground: false });
	expect(record).not.toHaveProperty("parentAgentId");
});

test.each([
	[{ type: "nobody" }, 'There is no preset "nobody".'],
	[{ options: { cwd: "src" } }, 'cwd must be an absolute path, not "src".'],
	[
		{ options: { thinkingLevel: "deep" } },
		'"deep" is not a thinking level: off, minimal, low, medium, high, xhigh, max.',
	],
	[{ options: { maxTurns: "3" } }, "maxTurns must be a whole number"],
])("%j is refused, and nothing is launched", async (change, error) => {
	const it = await open(newFile());
	expect(await ask(it, "spawn", { ...look, ...change })).toEqual({ success: false, error });
	expect(it.manager.store.snapshot().records).toEqual([]);
});

test("the session is told of an agent in the background, and not of any other", async () => {
	const it = await open(newFile());
	await ask(it, "spawn", look);
	await ask(it, "spawn", inBackground);
	for (const id of ["a1", "a2"]) await it.answer(id, `answer of ${id}`);
	it.clock.advance(1_000);
	await it.turn();
	expect(it.sent).toEqual([{ content: expect.stringContaining("answer of a2"), startsTurn: true }]);
	expect(it.sent[0]?.content).not.toContain("answer of a1");
});

test.each([
	["from inside the event", 0],
	["a little later", 150],
])("a result that is consumed %s is not told to the session, also not after a restart", async (_when, afterMs) => {
	const file = newFile();
	const it = await open(file);
	const replies: Promise<unknown>[] = [];
	it.events.on("subagents:completed", (payload) => {
		const consume = () => replies.push(ask(it, "consume", { agentId: (payload as { id: string }).id }));
		if (afterMs === 0) consume();
		else it.clock.after(afterMs, consume);
	});
	if (afterMs > 0) await ask(it, "ping", {}); // somebody who was heard before is waited for
	const { id } = it.launch();
	await it.answer(id, "Two doors.");
	it.clock.advance(afterMs);
	expect(await Promise.all(replies)).toEqual([{ success: true }]);
	it.clock.advance(60_000);
	await it.turn();
	expect(it.sent).toEqual([]);
	const again = await open(file, { firstId: 2 });
	expect(again.sent).toEqual([]);
	expect(again.manager.store.record(id)?.outcome).toMatchObject({ status: "completed" });
});

test("what nobody consumes in time is told", async () => {
	const it = await open(newFile());
	await ask(it, "spawn", inBackground);
	await it.answer("a1", "Two doors.");
	await it.turn();
	expect(it.sent).toEqual([]);
	it.clock.advance(200);
	expect(it.sent).toHaveLength(1);
	expect(await ask(it, "consume", { agentId: "a1" })).toEqual({ success: true });
	expect(it.sent).toHaveLength(1);
});

test("the errors of version 2 keep their words", async () => {
	const it = await open(newFile());
	const parent = it.launch();
	const child = it.manager.spawn(spec, { parentAgentId: parent.id });
	const error = (text: string) => ({ success: false, error: text });
	expect(await ask(it, "stop", { agentId: "zz" })).toEqual(error("Agent not found"));
	expect(await ask(it, "stop", { agentId: child.id })).toEqual(error("Agent is owned by another agent"));
	expect(await ask(it, "steer", { agentId: child.id, message: "x" })).toEqual(error("Agent is owned by another agent"));
	expect(await ask(it, "consume", { agentId: "zz" })).toEqual(error("Agent not found or still running"));
	expect(await ask(it, "consume", { agentId: parent.id })).toEqual(error("Agent not found or still running"));
	expect(await ask(it, "result", { agentId: parent.id })).toEqual(
		error("Agent is running: wait for it, or ask for its status"),
	);
	expect(await ask(it, "stop", { agentId: parent.id })).toEqual({ success: true });
	expect(it.manager.store.record(parent.id)?.outcome).toMatchObject({ status: "aborted", by: "parent" });
	expect(await ask(it, "stop", { agentId: parent.id })).toEqual(error("Agent is not running"));
});

test("an agent is found by its name, with or without the sign before it", async () => {
	const it = await open(newFile());
	await ask(it, "spawn", { ...look, options: { name: "Finder" } });
	expect(await ask(it, "steer", { agentId: "@finder", message: "Look in src." })).toEqual({ success: true });
	expect(it.run("a1")?.steers).toEqual(["Look in src."]);
});

test("a signal stops the agent it was given for, and is not held on to", async () => {
	const it = await open(newFile());
	const give = new AbortController();
	await ask(it, "spawn", { ...look, options: { signal: give.signal } });
	await ask(it, "spawn", { ...look, options: { signal: give.signal } });
	await it.answer("a1", "Two doors.");
	give.abort();
	expect(it.manager.store.record("a1")?.outcome).toMatchObject({ status: "completed" });
	expect(it.manager.store.record("a2")?.outcome).toMatchObject({ status: "aborted", by: "parent" });
	expect(await ask(it, "spawn", { ...look, options: { signal: give.signal } })).toMatchObject({ success: false });
	expect(it.manager.store.snapshot().records).toHaveLength(2);
});

test("the typed client launches, looks, waits and gets the answer as data", async () => {
	const it = await open(newFile());
	const subagents = await connect(it.events);
	const { id } = await subagents.spawn({ ...look, outputSchema: { type: "object" } });
	const info = await subagents.status(id);
	expect(info).toMatchObject({ id, type: "scout", status: "running", depth: 1 });
	expect(Object.keys(agentInfo)).toEqual(expect.arrayContaining(Object.keys(info)));
	expect(await subagents.list()).toEqual([info]);
	const waiting = subagents.wait<{ doors: number }>(id);
	const structured = { ok: true as const, data: { doors: 2 }, preview: "2 doors" };
	it.run(id)?.settle({ status: "completed", text: "{}", structured });
	expect(await waiting).toEqual({ status: "completed", text: "{}", structured });
	expect(await subagents.result(id)).toEqual({ status: "completed", text: "{}", structured });
	subagents.close();
});

test("whoever waits when the session ends hears how it ended, and nobody is served any more", async () => {
	const it = await open(newFile());
	const subagents = await connect(it.events, { timeoutMs: 50 });
	const { id } = await subagents.spawn(look);
	const waiting = subagents.wait(id);
	await subagents.list();
	await it.shutdown();
	expect(await waiting).toMatchObject({ status: "aborted", by: "shutdown" });
	await expect(subagents.list()).rejects.toThrow("No answer to");
});

const registered = () =>
	(globalThis as { [key: symbol]: unknown })[Symbol.for("pi-subagents:manager")] as
		| {
				spawn(...args: unknown[]): Promise<string>;
				getRecord(id: string): Record<string, unknown> | undefined;
				hasRunning(): boolean;
				waitForAll(): Promise<void>;
		  }
		| undefined;

test("the first session of a process is found under the symbol, until it ends", async () => {
	for (const left of [registered()]) expect(left === undefined || typeof left.spawn === "function").toBe(true);
	delete (globalThis as { [key: symbol]: unknown })[Symbol.for("pi-subagents:manager")];
	const first = await open(newFile());
	const offered = registered();
	const second = await open(newFile());
	expect(registered()).toBe(offered);
	await second.shutdown();
	expect(registered()).toBe(offered);
	await first.shutdown();
	expect(registered()).toBeUndefined();
	const third = await open(newFile());
	expect(registered()).toBeDefined();
	await third.shutdown();
});

test("what is found there launches agents and knows them in the words of version 2", async () => {
	const it = await open(newFile());
	const agents = registered();
	const id = await agents?.spawn({}, {}, "scout", "Look around.", { depth: 9, name: "finder" });
	expect(id).toBe("a1");
	const child = it.manager.spawn(spec, { parentAgentId: "a1" });
	expect(agents?.getRecord(child.id)).toBeUndefined();
	expect(agents?.getRecord("a1")).toMatchObject({ id, name: "finder", status: "running" });
	expect(agents?.hasRunning()).toBe(true);
	const all = agents?.waitForAll();
	it.manager.abort(child.id, { by: "user" });
	it.run("a1")?.answer("Two doors.");
	await all;
	expect(agents?.hasRunning()).toBe(false);
	expect(agents?.getRecord("a1")).toMatchObject({ status: "completed", result: "Two doors.", toolUses: 0 });
	await expect(agents?.spawn({}, {}, "scout", 7)).rejects.toThrow("prompt must be a string");
	await it.shutdown();
});
