/** Users of the contracts of other sub-agent extensions, unmodified, beside ours in real pi: one for each kind. */
import { join } from "node:path";
import {
	callTool,
	converse,
	createGate,
	fail,
	type Gate,
	gateCases,
	gatePis,
	hang,
	lastUserSays,
	offersTool,
	type PiRpc,
	runJson,
	runPrint,
	say,
	startRpc,
	systemPromptSays,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { linesOf } from "../../support/detached.ts";
import { rowConsumers } from "../../support/extensions/row-consumers.ts";
import { extensionDir, type Scene, scene } from "../../support/scene.ts";

const preset = (fields: string, body: string) => `---\ndescription: d\n${fields}\n---\n${body}\n`;
const roles = [
	{ name: "guest", displayName: "Guest", description: "Visits.", systemPrompt: "You are a guest.", tools: ["read"] },
	{ name: "mine", systemPrompt: "You are an impostor." },
];
const files = {
	"research.ts": rowConsumers.research,
	"panel.ts": rowConsumers.panel,
	"roles.ts": rowConsumers.roles({ agents: roles }),
	"only.ts": rowConsumers.roles({ agents: roles, exclusive: true }),
	"role.ts": rowConsumers.role("visitor", { description: "Visits.", systemPrompt: "You are a visitor." }),
	"walks.ts": rowConsumers.walksAway,
	".pi/agents/mute.md": preset("", "You are mute."),
	".pi/agents/mine.md": preset("", "You are mine."),
};
/** The user's own: a project that nobody trusts does not choose where agents run. */
const apart = { "agents/apart.md": preset("runner: process", "You dig apart.") };

const rules = (gate?: Gate) => [
	converse(lastUserSays("Walk away."), callTool("delegate", {}), say("Then not.")),
	when(lastUserSays("task-notification"), say("So it was stopped.")),
	converse(
		offersTool("Agent"),
		({ lastUserText }) =>
			callTool("Agent", {
				subagent_type: lastUserText.trim(),
				prompt: "Who are you?",
				description: "ask it",
				run_in_background: false,
			}),
		({ lastToolResults }) => say(`It says: ${lastToolResults[0]?.text}`),
	),
	when(lastUserSays("Dig."), gate ? { ...say("Found gold."), gate } : say("Found gold.")),
	when(lastUserSays("Hang."), hang()),
	when(systemPromptSays("You are mute."), fail("no voice")),
	converse(lastUserSays("Who are you?"), ({ systemPrompt }) =>
		say(/You are (?:a |an )?\w+\./.exec(systemPrompt)?.[0] ?? "?"),
	),
];

const orders = gateCases<["before" | "after"]>([["before"], ["after"]], 1);

const world = (
	order: "before" | "after",
	names: readonly (keyof typeof files)[],
	gate?: Gate,
	agentFiles = {},
): Promise<Scene> =>
	scene(rules(gate), {
		files,
		extensions: order === "before" ? [...names, extensionDir] : [extensionDir, ...names],
		agentFiles: { ...apart, ...agentFiles },
	});

type Note = Record<string, unknown>;

const notesOf = (it: Scene, who: string, count: number): Promise<Note[]> =>
	until(`${count} notes of ${who}`, async () => {
		const own = (await linesOf(join(it.env.cwd, "log.jsonl"))).filter((each) => each.who === who);
		return own.length >= count ? own.map(({ who: _, ...rest }) => rest) : undefined;
	});

const command = (pi: PiRpc, name: string) => pi.send({ type: "prompt", message: `/${name}` });
const agentTool = (it: Scene) => it.server.requests.at(0)?.tools.find(({ name }) => name === "Agent")?.description;

describe.each(await gatePis())("pi $version", (pi) => {
	test.each(orders)("the registry serves research and panels that are loaded %s us", async (order) => {
		const gate = createGate();
		await using it = await world(order, ["research.ts", "panel.ts"], gate);
		await using rpc = startRpc({ env: it.env, pi });
		expect(await notesOf(it, "research", 1)).toEqual([{ found: "function" }]);
		const researching = command(rpc, "research");
		expect((await notesOf(it, "research", 3)).slice(1)).toEqual([
			{ ids: ["string", "string", "string", "string"], statuses: ["queued", "queued", "queued", "queued"] },
			{ watches: true, apart: "undefined" },
		]);
		gate.open();
		await researching;
		const [told] = (await notesOf(it, "research", 4)).slice(3);
		const found = { status: "completed", result: "Found gold.", took: true, output: true };
		const refused = { status: "error", took: true, output: false };
		expect(told).toMatchObject({
			texts: ["Found gold.", "", "", "Found gold."],
			seen: expect.arrayContaining(["message_update", "agent_end"]),
			records: [
				found,
				{ ...refused, error: expect.stringContaining('There is no preset "nobody".') },
				{ ...refused, error: expect.stringContaining("no/such") },
				found,
			],
		});
		await command(rpc, "cancel");
		expect(await notesOf(it, "cancel", 1)).toEqual([{ text: "", status: "stopped" }]);
		await command(rpc, "states");
		const [last, ...others] = (await notesOf(it, "panel", 1)).reverse();
		expect(others).toEqual([]);
		expect(last).toEqual({ states: ["completed", "error", "queued", "running", "stopped"] });
	});

	test("after a reload, and in a second session, the registry is the new session's", async () => {
		await using it = await world("before", ["research.ts", "panel.ts"]);
		await using rpc = startRpc({ env: it.env, pi });
		await notesOf(it, "research", 1);
		await command(rpc, "again");
		await notesOf(it, "research", 2);
		await rpc.send({ type: "new_session" });
		expect(new Set((await notesOf(it, "research", 3)).map(({ found }) => found))).toEqual(new Set(["function"]));
		await command(rpc, "cancel");
		expect(await notesOf(it, "cancel", 1)).toEqual([{ text: "", status: "stopped" }]);
	});

	test.each(orders)(
		"presets that extensions loaded %s us register can be called, until they are removed",
		async (order) => {
			await using it = await world(order, ["roles.ts", "role.ts"]);
			await using rpc = startRpc({ env: it.env, pi });
			const replies = await notesOf(it, "roles", 2); // at its own start, and when we are ready
			expect(replies).toEqual(Array(2).fill({ reply: { success: true, data: { count: 2, exclusive: false } } }));
			expect(await notesOf(it, "role", 1)).toEqual([{ ok: true }]);
			const ask = async (name: string) => JSON.stringify((await rpc.prompt(name)).at(-2) ?? {});
			expect(await ask("guest")).toContain("You are a guest.");
			expect(agentTool(it)).toMatch(/- guest: Visits\.[\s\S]*- visitor: Visits\./);
			expect(await ask("visitor")).toContain("You are a visitor.");
			expect(await ask("mine")).toContain("You are mine.");
			await command(rpc, "dispose");
			expect(await ask("visitor")).toContain('There is no preset \\"visitor\\"');
			it.server.forget();
			expect(await ask("guest")).toContain("You are a guest.");
			expect(agentTool(it)).not.toContain("visitor");
			await rpc.send({ type: "new_session" }); // brings them along again
			expect(await ask("visitor")).toContain("You are a visitor.");
		},
	);
});

test("exclusive roles hide the user's files, and commands show where they are from", async () => {
	await using it = await world("before", ["only.ts"]);
	const { stdout } = await runPrint({ env: it.env, args: ["--no-session"] }, "mine");
	expect(stdout).toContain("You are an impostor.");
	expect((await runPrint({ env: it.env, args: ["--no-session"] }, "apart")).stdout).toContain(
		"Preset files are not used",
	);
	await using rpc = startRpc({ env: it.env });
	await notesOf(it, "roles", 6);
	for (const [name, shown] of [
		["agents", /guest +runtime +Visits\./],
		["doctor", /2 runtime[\s\S]*Preset files are not used in this session/],
	] as const) {
		await command(rpc, `subagent ${name}`);
		await rpc.waitFor((event) => shown.test(JSON.stringify(event)));
	}
});

test("the details of a call are where readers of session files look for them", async () => {
	await using it = await world("after", []);
	const { events } = await runJson({ env: it.env, args: ["--no-session"] }, "mine");
	const calls = (events as readonly Call[]).filter(({ toolName }) => toolName === "Agent");
	expect(calls.find(({ type }) => type === "tool_execution_end")?.result?.details).toEqual({
		agentId: expect.any(String),
		description: "ask it",
		subagentType: "mine",
		status: "completed",
		agents: [expect.objectContaining({ preset: "mine", status: "completed" })],
	});
	const failed = await runJson({ env: it.env, args: ["--no-session"] }, "mute");
	const ends = (failed.events as readonly Call[]).filter(({ type }) => type === "tool_execution_end");
	expect(ends.map(({ result }) => result?.details)).toEqual([
		expect.objectContaining({
			subagentType: "mute",
			description: "ask it",
			status: "error",
			agentId: expect.any(String),
		}),
	]);
	const during = calls.flatMap(({ partialResult }) => partialResult?.details?.status ?? []);
	expect(new Set(during)).toEqual(new Set(["running"]));
});

interface Call {
	type: string;
	toolName?: string;
	result?: { details?: unknown };
	partialResult?: { details?: { status?: string } };
}

test("an agent whose client is gone holds pi no longer than drainSeconds", async () => {
	const agentFiles = { "subagents.json": JSON.stringify({ drainSeconds: 1 }) };
	await using it = await world("before", ["walks.ts"], undefined, agentFiles);
	const { stdout, stderr } = await runPrint({ env: it.env, args: ["--no-session"] }, "Walk away.");
	expect(await notesOf(it, "walks", 1)).toEqual([{ ok: true }]);
	expect(stdout).toContain("So it was stopped.");
	expect(stderr).toContain("pi waited 1s for it (setting drainSeconds)");
});
