/** The registry over agents in the hands of a test: whatever state they are in, whoever reads a record gets no error. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createRegistry, type RegistryPort, type RegistryRecord, type RegistryState } from "../src/index.ts";
import { settle } from "./bus.ts";

function setUp({ refuses = () => undefined }: { refuses?: (type: string) => string | undefined } = {}) {
	const agents = new Map<string, RegistryState>();
	const ends = new Map<string, PromiseWithResolvers<string>>();
	const refused: unknown[] = [];
	let ids = 0;
	const port: RegistryPort = {
		newId: () => `a${++ids}`,
		now: () => 1_000,
		async launch(id, { type }) {
			await settle();
			const error = refuses(type);
			if (error) throw new Error(error);
			agents.set(id, running(id, type));
			ends.set(id, Promise.withResolvers());
		},
		read: (id) => agents.get(id),
		session: () => undefined,
		wait: (id) => ends.get(id)?.promise ?? Promise.reject(new Error("unknown")),
		active: () => [...agents.values()].filter(({ status }) => status === "running").map(({ id }) => id),
		refused: (agent) => refused.push(agent),
	};
	const end = (id: string, change: Partial<RegistryState>) => {
		agents.set(id, { ...(agents.get(id) as RegistryState), ...change });
		ends.get(id)?.resolve(`all of ${change.result}`);
	};
	return { ...createRegistry(port), agents, ends, end, refused };
}

const running = (id: string, type: string): RegistryState => ({
	id,
	type,
	description: "look",
	status: "running",
	depth: 1,
	isBackground: false,
	turns: 0,
	toolUses: 0,
	tokens: { input: 0, output: 0, total: 0 },
	queuedAt: 1_000,
	startedAt: 1_000,
	lifetimeUsage: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost: 0 },
});

/** As panels do it. */
function readAll(record: RegistryRecord | undefined) {
	const { session, ...copy } = { ...record };
	return [
		session,
		Object.keys(record ?? {}).length,
		JSON.stringify(record).length,
		inspect(record, { getters: true }),
		copy.status,
	];
}

test("an id is returned at once, and its record follows the agent", async () => {
	const it = setUp();
	const { registry } = it;
	const id = registry.spawn(undefined, undefined, "Explore", "Look.", { description: "look" });
	const record = registry.getRecord(id);
	expect(record).toMatchObject({ id: "a1", status: "queued", startedAt: 1_000, description: "look" });
	const { promise } = record ?? {};
	await it.decided(id);
	expect(record).toMatchObject({ status: "running", lifetimeUsage: { output: 2 } });
	expect(record?.promise).toBe(promise);
	const all = registry.waitForAll();
	it.end(id, { status: "completed", result: "gold", completedAt: 2_000 });
	expect(await promise).toBe("all of gold");
	await all;
	expect(record).toMatchObject({ status: "completed", result: "gold", completedAt: 2_000 });
	expect(registry.hasRunning()).toBe(false);
});

test("every field can be read in every state", async () => {
	const it = setUp({ refuses: (type) => (type === "nobody" ? "There is none." : undefined) });
	const { registry } = it;
	const record = registry.getRecord(registry.spawn({}, {}, "Explore", "Look."));
	const unknown = registry.getRecord(registry.spawn({}, {}, "nobody", "Look."));
	const states = [readAll(record).at(-1), readAll(unknown).at(-1)];
	await it.decided("a1");
	await it.decided("a2");
	states.push(readAll(record).at(-1), readAll(unknown).at(-1));
	for (const status of ["steered", "error", "stopped", "aborted"] as const) {
		it.end("a1", { status, error: "no" });
		states.push(readAll(record).at(-1));
	}
	it.agents.clear(); // the session was closed
	states.push(readAll(record).at(-1));
	expect(states).toEqual(["queued", "queued", "running", "error", "steered", "error", "stopped", "aborted", "aborted"]);
	expect(await unknown?.promise).toBe("");
	expect(it.refused).toMatchObject([{ id: "a2", status: "error", error: "There is none." }]);
});

test.each([
	["a wrong prompt", ["Explore", 7]],
	["a wrong option", ["Explore", "Look.", { maxTurns: "3" }]],
	["no type", []],
	[
		"options that throw",
		[
			"Explore",
			"Look.",
			Object.defineProperty({}, "description", {
				get() {
					throw new Error("gotcha");
				},
			}),
		],
	],
])("%s is a failed record, never an error", async (_what, [type, prompt, options]: unknown[]) => {
	const { registry, decided } = setUp();
	const id = registry.spawn({}, {}, type as string, prompt as string, options as object);
	await decided(id);
	expect(registry.getRecord(id)).toMatchObject({ status: "error", error: expect.any(String) });
	expect(registry.getRecord(7 as unknown as string)).toBeUndefined();
});

test("an agent that cannot be waited for any more ends the wait for all", async () => {
	const it = setUp();
	const id = it.registry.spawn({}, {}, "Explore", "Look.");
	await it.decided(id);
	it.ends.get(id)?.reject(new Error("detached"));
	await it.registry.waitForAll();
	expect(await it.registry.getRecord(id)?.promise).toBe("");
});
