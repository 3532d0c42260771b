/** What other extensions may ask, over the bus as they do it. */
import { connect, type RegistryRecord, replyChannel, requestChannels } from "@pi-subagents/rpc";
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
			capabilities: [
				...["consume", "status", "result", "wait", "list", "steer", "registerAgents", "cost", "workflow"],
				...["outputSchema", "verify"],
			],
		},
	});
	expect(await ask(it, "spawn", look)).toEqual({ success: false, error: "No active session" });
	await it.start();
	expect(await ask(it, "spawn", look)).toEqual({ success: true, data: { id: "a1" } });
	expect(it.manager.store.record("a1")).toMatchObject({ launchedBy: "rpc" });
});

test("a spawn is resolved like any other launch, with the names that callers use", async () => {
	const it = await open();
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
			verify: ["npm", "test"],
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
			verify: ["npm", "test"],
			verifyBy: "extension",
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
	const it = await open();
	expect(await ask(it, "spawn", { ...look, ...change })).toEqual({ success: false, error });
	expect(it.manager.store.snapshot().records).toEqual([]);
});

test("the session is told of an agent in the background, and not of any other", async () => {
	const it = await open();
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
	const it = await open();
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
	const again = await open(it.file, { firstId: 2 });
	expect(again.sent).toEqual([]);
	expect(again.manager.store.record(id)?.outcome).toMatchObject({ status: "completed" });
});

test("what nobody consumes in time is told", async () => {
	const it = await open();
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
	const it = await open();
	const parent = it.launch();
	const child = it.manager.spawn(spec, { parentAgentId: parent.id });
	const error = (text: string) => ({ success: false, error: text });
	expect(await ask(it, "stop", { agentId: "zz" })).toEqual(error("Agent not found"));
	expect(await ask(it, "stop", { agentId: child.id })).toEqual(error("Agent is owned by another agent or workflow"));
	expect(await ask(it, "steer", { agentId: child.id, message: "x" })).toEqual(
		error("Agent is owned by another agent or workflow"),
	);
	expect(await ask(it, "consume", { agentId: "zz" })).toEqual(error("Agent not found or still running"));
	expect(await ask(it, "consume", { agentId: parent.id })).toEqual(error("Agent not found or still running"));
	expect(await ask(it, "result", { agentId: parent.id })).toEqual(
		error("Agent is running: wait for it, or ask for its status"),
	);
	expect(await ask(it, "stop", { agentId: parent.id })).toEqual({ success: true });
	expect(it.manager.store.record(parent.id)?.outcome).toMatchObject({ status: "aborted", by: "parent" });
	expect(await ask(it, "stop", { agentId: parent.id })).toEqual(error("Agent is not running"));
});

test("what agents cost is told of one with those below it, and of all", async () => {
	const it = await open();
	const [parent, other] = [it.launch(), it.launch()];
	const child = it.manager.spawn(spec, { parentAgentId: parent.id });
	for (const [index, { id }] of [parent, other, child].entries()) {
		const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 1, cost: 2 ** index };
		it.run(id)?.emit({ type: "usage", usage });
	}
	expect(await ask(it, "cost", { agentId: parent.id })).toEqual({
		success: true,
		data: {
			cost: 5,
			tokens: { input: 20, output: 10, total: 32 },
			usage: expect.objectContaining({ cacheRead: 200, totalTokens: 232, cost: expect.objectContaining({ total: 5 }) }),
			agents: 2,
		},
	});
	expect(await ask(it, "cost", {})).toMatchObject({ success: true, data: { cost: 7, agents: 3 } });
	expect(await ask(it, "cost", { agentId: "zz" })).toEqual({ success: false, error: "Agent not found" });
	expect(await ask(it, "cost", { agentId: 7 })).toEqual({ success: false, error: "agentId must be a string" });
});

test("an agent is found by its name, with or without the sign before it", async () => {
	const it = await open();
	await ask(it, "spawn", { ...look, options: { name: "Finder" } });
	expect(await ask(it, "steer", { agentId: "@finder", message: "Look in src." })).toEqual({ success: true });
	expect(it.run("a1")?.steers).toEqual(["Look in src."]);
});

test("a signal stops the agent it was given for, and is not held on to", async () => {
	const it = await open();
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
	const it = await open();
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
	const it = await open();
	const subagents = await connect(it.events);
	const brief = await connect(it.events, { timeoutMs: 50 });
	const { id } = await subagents.spawn(look);
	const waiting = subagents.wait(id);
	await subagents.list();
	await it.shutdown();
	expect(await waiting).toMatchObject({ status: "aborted", by: "shutdown" });
	await expect(brief.list()).rejects.toThrow("No answer to");
});

const registered = () =>
	(globalThis as { [key: symbol]: unknown })[Symbol.for("pi-subagents:manager")] as
		| {
				spawn(...args: unknown[]): string;
				getRecord(id: string): RegistryRecord | undefined;
				hasRunning(): boolean;
				waitForAll(): Promise<void>;
		  }
		| undefined;

/** Sessions of other tests may still have the place. */
const openAlone: typeof open = (...how) => {
	delete (globalThis as { [key: symbol]: unknown })[Symbol.for("pi-subagents:manager")];
	return open(...how);
};

test("the first session of a process is found under the symbol, until it ends", async () => {
	const loaded = await openAlone(newFile(), { isLate: true });
	const waiting = registered();
	expect(waiting?.getRecord("a1")).toBeUndefined();
	const first = await open();
	expect(registered()).not.toBe(waiting); // it has a session, the other has none yet
	await loaded.start();
	const offered = registered();
	const second = await open();
	expect(registered()).toBe(offered);
	await second.shutdown();
	expect(registered()).toBe(offered);
	await first.shutdown();
	expect(registered()).toBeUndefined();
	const third = await open();
	expect(registered()).toBeDefined();
	await third.shutdown();
});

test("what is found there launches agents and knows them in the words of version 2", async () => {
	const it = await openAlone(newFile());
	const agents = registered();
	const invocation = { model: "one" };
	const id = agents?.spawn({}, {}, "scout", "Look around.", { depth: 9, name: "finder", invocation });
	expect(id).toBe("a1");
	const record = agents?.getRecord("a1");
	expect(record).toMatchObject({ id, status: "queued", type: "scout" });
	expect(await ask(it, "status", { agentId: "a1" })).toMatchObject({ success: true, data: { status: "running" } });
	const child = it.manager.spawn(spec, { parentAgentId: "a1" });
	expect(agents?.getRecord(child.id)).toBeUndefined();
	expect(agents?.getRecord("a1")).toBe(record);
	expect(record).toMatchObject({ id, name: "finder", status: "running", session: undefined, invocation });
	expect(agents?.hasRunning()).toBe(true);
	const all = agents?.waitForAll();
	it.manager.abort(child.id, { by: "user" });
	it.run("a1")?.answer("Two doors.");
	await all;
	expect(agents?.hasRunning()).toBe(false);
	expect(record).toMatchObject({ status: "completed", result: "Two doors.", toolUses: 0 });
	await it.shutdown();
});

test("what cannot be launched there is a failed record, and the bus says so", async () => {
	const it = await openAlone(newFile());
	const failed: unknown[] = [];
	it.events.on("subagents:failed", (payload) => failed.push(payload));
	const agents = registered();
	const ids = [agents?.spawn({}, {}, "scout", 7), agents?.spawn({}, {}, "nobody", "Look.", { description: "look" })];
	const records = ids.map((id) => agents?.getRecord(id ?? ""));
	expect(records.map((record) => record?.status)).toEqual(["queued", "queued"]);
	await agents?.waitForAll();
	expect(records).toMatchObject([
		{ status: "error", error: "prompt must be a string" },
		{ status: "error", error: 'There is no preset "nobody".', description: "look" },
	]);
	expect(await records[1]?.promise).toBe("");
	expect(failed).toMatchObject([{ id: ids[0] }, { id: ids[1], type: "nobody", status: "error" }]);
	await it.shutdown();
});

test("a live agent's conversation can be observed, steered and stopped through its record, and nothing of that throws", async () => {
	const it = await openAlone(newFile());
	const agents = registered();
	const id = agents?.spawn({}, {}, "scout", "Look around.") ?? "";
	await ask(it, "status", { agentId: id });
	const run = it.run(id);
	const listeners = new Set<(event: unknown) => unknown>();
	const subscribe = (listener: (event: unknown) => unknown) => {
		listeners.add(listener);
		return () => listeners.delete(listener);
	};
	if (run) run.session = { sessionId: "s2", messages: [{ role: "user" }], subscribe };
	const record = agents?.getRecord(id);
	const { session } = record ?? {};
	const heard: unknown[] = [];
	const stop = session?.subscribe((event) => heard.push(event));
	for (const listener of listeners) listener({ type: "turn_start" });
	stop?.();
	expect([heard, listeners.size, session?.messages]).toEqual([[{ type: "turn_start" }], 0, [{ role: "user" }]]);
	expect(JSON.parse(JSON.stringify(record)).session).toEqual({ sessionId: "s2" });
	await session?.steer("Look in src.");
	expect(run?.steers).toEqual(["Look in src."]);
	await session?.abort();
	expect(record).toMatchObject({ status: "stopped", session: undefined });
	await session?.steer("Too late."); // a rejection that nobody handles would end pi
	expect(it.told).toEqual([expect.stringContaining(`steering agent ${id}: `)]);
	await it.shutdown();
});

test("a result can be consumed by its agent's name for as long as the session is busy", async () => {
	const it = await open();
	await ask(it, "spawn", { ...look, options: { isBackground: true, name: "Finder" } });
	await it.turn(async () => {
		await it.answer("a1", "Two doors.");
		it.clock.advance(30_000);
		expect(await ask(it, "consume", { agentId: "@finder" })).toEqual({ success: true });
	});
	it.clock.advance(60_000);
	await it.turn();
	expect(it.sent).toEqual([]);
});

test("presets of other extensions are registered all or none, replaced by their owner, and refused by name", async () => {
	const it = await open();
	const names = () => it.runtimePresets.current().results.map(({ preset }) => preset?.name);
	const role = (name: string, more: object = {}) => ({ name, systemPrompt: "Help.", ...more });
	const register = (request: object) => ask(it, "registerAgents", request);
	expect(await register({ agents: [role("a"), role("b")] })).toEqual({
		success: true,
		data: { count: 2, exclusive: false },
	});
	expect(await register({ agents: [role("c"), role("d", { toolz: "read" })] })).toEqual({
		success: false,
		error: expect.stringContaining('agents[1] "d": unknown field "toolz" looks like a limit'),
	});
	expect(await register({ agents: [role("e"), role("E")] })).toMatchObject({ error: expect.stringContaining("twice") });
	expect(names()).toEqual(["a", "b"]);
	await register({ agents: [role("b")], exclusive: true }); // the same owner again: it shares a name
	expect([names(), it.runtimePresets.current().isExclusive]).toEqual([["b"], true]);
	const subagents = await connect(it.events);
	const { dispose, ...reply } = await subagents.registerAgents([role("mine")]);
	expect([reply, names()]).toEqual([{ count: 1, exclusive: false }, ["b", "mine"]]);
	await dispose();
	expect(names()).toEqual(["b"]);
});

test("one preset can be registered by an event, which is answered at once", async () => {
	const it = await open();
	const names = () => it.runtimePresets.current().results.map(({ preset }) => preset?.name);
	const emit = (request: object) => {
		it.events.emit("pi-subagents:runtime-agent-register:v1", request);
		return (request as { result?: { ok: boolean; error?: Error; registration?: { dispose(): void } } }).result;
	};
	const definition = { description: "Looks.", systemPrompt: "Look.", tools: ["read"] };
	const first = emit({ version: 1, name: "looker", definition });
	const second = emit({ version: 1, name: "looker", definition: { ...definition, description: "Looks again." } });
	expect([first?.ok, names()]).toEqual([true, ["looker"]]);
	first?.registration?.dispose();
	expect(names()).toEqual(["looker"]); // what replaced it stays
	second?.registration?.dispose();
	second?.registration?.dispose();
	expect(names()).toEqual([]);
	expect(emit({ version: 2, name: "x", definition })?.error?.message).toBe("version must be 1, not 2");
	expect(emit({ version: 1, name: "../x", definition })?.error?.message).toContain("is not allowed");
	expect(emit({ version: 1, name: "x", definition: { ...definition, systemPrompt: 7 } })?.ok).toBe(false);
	expect(emit({ version: 1, name: "x", definition, result: { ok: true } })).toEqual({ ok: true });
	expect(() => emit(Object.freeze({ version: 1, name: "x", definition }))).not.toThrow();
	await it.shutdown();
	expect(emit({ version: 1, name: "late", definition })).toBeUndefined();
});

test("a workflow is launched for the caller, who waits for it and can stop it", async () => {
	const it = await open();
	const cancel = new AbortController();
	const { data } = (await ask(it, "workflow", { name: "review", signal: cancel.signal })) as { data: { id: string } };
	expect(it.manager.store.record(data.id)).toMatchObject({
		type: "workflow",
		task: "review",
		launchedBy: "rpc",
		isBackground: false,
	});
	const waiting = ask(it, "wait", { agentId: data.id });
	cancel.abort();
	expect(await waiting).toMatchObject({ success: true, data: { id: data.id, status: "stopped" } });
	expect(await ask(it, "workflow", {})).toEqual({ success: false, error: "give exactly one of script, path and name" });
});
