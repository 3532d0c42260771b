/** `/subagent` as a person types it: a real manager behind it, with puppets for children. */
import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError } from "@pi-subagents/core";
import type { Launcher, Schedules } from "@pi-subagents/launch";
import { expect, test, vi } from "vitest";
import type { CommandHost } from "../../src/host.ts";
import { subagentCommand } from "../../src/subagent/subagent.ts";
import { registerNotes } from "../../src/text/note.ts";
import { preset, puppets, spec } from "../fixture.ts";

type Renderer = (entry: { data: unknown }, options: object, theme: object) => unknown;

function command({ mode = "rpc" }: { mode?: string } = {}) {
	const { runner, manager } = puppets();
	const presets = [preset(), preset({ name: "general-purpose", description: "Does it." })];
	const launcher = {
		known: () => presets,
		latest: () => ({ maxConcurrent: 8 }),
		presetReport: async () => ({
			presets,
			problems: [{ path: "/p", severity: "error", preset: "broken", message: "bad" }],
		}),
		async resolve({ preset: type, task }: { preset: string; task: string }) {
			if (type === "broken") throw new AgentError("unknown_preset", 'Preset "broken" cannot be used: bad.');
			return { preset: presets[0], spec: { ...spec, type, task } };
		},
	} as unknown as Launcher<ExtensionContext>;
	const said: { text: string; level: string }[] = [];
	const entries: { type: string; data: unknown }[] = [];
	const renderers = new Map<string, Renderer>();
	const pi = {
		registerEntryRenderer: (type: string, renderer: Renderer) => renderers.set(type, renderer),
		appendEntry: (type: string, data: unknown) => entries.push({ type, data }),
	} as unknown as ExtensionAPI;
	const ui = { notify: (text: string, level: string) => said.push({ text, level }) };
	const ctx = {
		mode,
		hasUI: mode === "rpc" || mode === "tui",
		cwd: "/project",
		ui,
	} as unknown as ExtensionCommandContext;
	registerNotes(pi);
	const { handler, getArgumentCompletions } = subagentCommand(pi, {
		host: {} as CommandHost,
		launcher,
		manager,
		schedules: {} as Schedules<ExtensionContext>,
	});
	return {
		manager,
		runner,
		entries,
		renderers,
		async type(args: string) {
			await handler(args, ctx);
			return said.at(-1) ?? { text: "", level: "" };
		},
		offers: (typed: string) => getArgumentCompletions?.(typed),
	};
}

test("start launches in the background and does not wait", async () => {
	const { type, manager, runner } = command();
	const { text } = await type("start scout: Look\n  around.");
	expect(text).toMatch(/^Started scout as agent1\./);
	expect(manager.store.record("agent1")).toMatchObject({ isBackground: true, type: "scout", task: "Look\n  around." });
	await type("start look for it");
	expect(runner.runs.map(({ spec }) => [spec.type, spec.task])).toEqual([
		["scout", "Look\n  around."],
		["general-purpose", "look for it"],
	]);
});

test("a preset that is broken is not replaced by another, and a start without a task starts nothing", async () => {
	const { type, runner } = command();
	expect(await type("start broken do it")).toEqual({ text: 'Preset "broken" cannot be used: bad.', level: "error" });
	expect((await type("start")).text).toBe("Say what the agent should do: /subagent start <task>");
	expect((await type("start scout:")).text).toBe("Say what the agent should do: /subagent start scout: <task>");
	expect(runner.runs).toEqual([]);
});

test("stop ends the only one at work, and wants an id where there are several", async () => {
	const { type, manager } = command();
	expect((await type("stop")).text).toBe("No agent is running.");
	await type("start one");
	await type("stop");
	expect(manager.store.record("agent1")?.outcome).toMatchObject({ status: "aborted", by: "user" });
	await type("start two");
	await type("start three");
	expect((await type("stop")).text).toMatch(/^Several agents match; say which\. Known: agent2 .*agent3/);
	expect((await type("stop agent3")).text).toMatch(/^general-purpose agent3: Stopped by you/);
	expect((await type("stop agent3")).text).toMatch(/^general-purpose agent3 had already ended\./);
	expect(manager.store.record("agent2")?.status).toBe("running");
});

test("reply answers as the user", async () => {
	const { type, manager } = command();
	await type("start one");
	const asked = manager.ask("agent1", { question: "Which colour?" });
	expect((await type("list")).text).toContain("asks: Which colour?");
	expect((await type("reply light blue")).text).toBe("general-purpose agent1 has your answer.");
	expect(await asked).toEqual({ by: "user", text: "light blue" });
});

test("view finds an agent by its id, a preset by its name, an agent by the beginning of its id", async () => {
	const { type } = command();
	await type("start scout: Look.");
	expect((await type("view agent1")).text).toMatch(/^scout agent1: /);
	expect((await type("view Scout")).text).toMatch(/^Preset scout: /);
	expect((await type("view age")).text).toMatch(/^scout agent1: /);
	expect((await type("view")).text).toMatch(/1 agent: 1 running.*view <id> shows everything/s);
	expect(await type("view nobody")).toMatchObject({
		text: expect.stringMatching(/^There is no agent and no preset "nobody"\./),
		level: "error",
	});
});

test("without a word it shows what goes on and the agents", async () => {
	const { type } = command();
	const more = "\n\n/subagent help shows all commands, /subagent list all also the agents of other sessions.";
	const list = async () => (await type("list")).text;
	expect((await type("")).text).toBe(`No agent is active.\n\n${await list()}${more}`);
	await type("start scout: Look around.");
	const shown = (await type(" ")).text;
	expect(shown).toBe(`1 agent active: 1 running. At most 8 run at once.\n\n${await list()}${more}`);
	expect(shown).toContain("agent1  scout  running");
});

test("start records that the user launched it, and an unknown word before a colon starts nothing", async () => {
	const { type, manager } = command();
	await type("start scout: Look around.");
	expect(manager.store.record("agent1")).toMatchObject({ launchedBy: "user" });
	expect(await type("start scuot: Look around.")).toEqual({
		text: expect.stringMatching(/^There is no preset "scuot"\. Did you mean "scout"\?/),
		level: "error",
	});
	expect(manager.store.snapshot().records).toHaveLength(1);
	expect(await type("list everything")).toMatchObject({
		text: 'Unknown argument "everything": use /subagent list or /subagent list all.',
		level: "error",
	});
});

test("help comes with its word, and with what was not understood for a wrong one", async () => {
	const { type } = command();
	const help = (await type("help")).text;
	const names = ["start", "list", "view", "stop", "reply", "agents", "explain", "jobs", "doctor", "help"];
	for (const name of names) expect(help).toContain(`/subagent ${name}`);
	expect((await type("HELP")).text).toBe(help);
	const { text, level } = await type("lits all");
	expect(text).toBe(`Unknown command "/subagent lits". Did you mean "/subagent list"?\n\n${help}`);
	expect(level).toBe("error");
});

test("completion offers subcommands, then presets and agents, and never what is typed already", async () => {
	const { type, offers, manager } = command();
	const values = async (typed: string) => (await offers(typed))?.map(({ value }) => value);
	expect(await values("s")).toEqual(["start", "stop"]);
	expect(await values("stop")).toEqual([]);
	expect(await values("list ")).toEqual([]);
	expect(await values("start S")).toEqual(["start scout"]);
	expect(await values("start scout")).toEqual([]);
	expect(await values("start scout l")).toEqual([]);
	expect(await values("explain gen")).toEqual(["explain general-purpose"]);
	await type("start scout: Look.");
	manager.spawn(spec, { name: "searcher" });
	expect(await offers("stop ")).toEqual([
		{ value: "stop agent2", label: "agent2 searcher", description: "running: Find the launch code" },
		{ value: "stop agent1", label: "agent1 scout", description: "running: Find the launch code" },
	]);
	expect(await values("stop sea")).toEqual(["stop agent2"]);
	expect(await values("reply ")).toEqual([]);
	expect(await values("view agent1")).toEqual([]);
	expect(await values("view ")).toEqual(["view agent2", "view agent1", "view scout", "view general-purpose"]);
});

test("in the terminal the answer is an entry that is drawn again from the session, unless somebody broke it", async () => {
	const { type, entries, renderers } = command({ mode: "tui" });
	await type("list");
	const [entry] = entries;
	expect(entry).toEqual({ type: "subagents:note", data: { blocks: [{ text: expect.stringContaining("No agent") }] } });
	const draw = renderers.get("subagents:note");
	const theme = { fg: (_: string, text: string) => text };
	expect(draw?.({ data: entry?.data }, {}, theme)).toBeDefined();
	for (const data of [undefined, null, "x", {}, { blocks: [{}] }, { blocks: [{ rows: [{ lead: "x" }] }] }])
		expect(draw?.({ data }, {}, theme)).toBeUndefined();
});

test("where pi has no screen and no client the answer is printed, with a word about agents that pi will not wait for", async () => {
	const print = vi.spyOn(console, "log").mockImplementation(() => undefined);
	try {
		await command({ mode: "print" }).type("start one");
		expect(print.mock.calls.flat().join("\n")).toMatch(
			/^Started general-purpose as agent1\..*pi exits after its last message/s,
		);
	} finally {
		print.mockRestore();
	}
});
