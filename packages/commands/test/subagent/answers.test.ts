import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
/** What the commands say, as pure functions of agents and presets. */
import type { AgentRecord } from "@pi-subagents/core";
import { Manager } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import type { RunOverview } from "@pi-subagents/runs";
import { expect, test } from "vitest";
import { presetBlocks } from "../../src/subagent/agents.ts";
import { explain } from "../../src/subagent/explain.ts";
import { keptSessions, listBlocks, otherBlocks, rememberedSession } from "../../src/subagent/list.ts";
import { parseReply } from "../../src/subagent/reply.ts";
import { parseStart, startedBlocks, stopBlocks } from "../../src/subagent/start-stop.ts";
import { agentDetails, viewCommand } from "../../src/subagent/view.ts";
import { presetDetails } from "../../src/subagent/view-preset.ts";
import type { CommandDeps } from "../../src/subcommand.ts";
import { agent, NOW, preset, spec, text } from "../fixture.ts";

const completed = agent({
	id: "c0ffee00",
	status: "completed",
	completedAt: NOW - 12_000,
	outcome: { status: "completed", text: "It is heliotrope." },
});
const waiting = agent({ id: "beef0001", name: "left-door", status: "waiting", question: "Which colour?" });

const names = ["scout", "Plan", "общий", "general-purpose"];

test.each([
	["find the code", "general-purpose", "find the code"],
	["scout find the code", "scout", "find the code"],
	["scout: find the code", "scout", "find the code"],
	["SCOUT :find the code", "scout", "find the code"],
	["plan: x", "Plan", "x"],
	["Общий: x", "общий", "x"],
	["scouting is fun", "general-purpose", "scouting is fun"],
	["https://example.com is down", "general-purpose", "https://example.com is down"],
	["src/a.ts:12 is wrong", "general-purpose", "src/a.ts:12 is wrong"],
	["C:\\temp is full", "general-purpose", "C:\\temp is full"],
	["general-purpose: fix: the build", "general-purpose", "fix: the build"],
	["  scout\n1. this\n  2. that ", "scout", "1. this\n  2. that"],
	["scout", "scout", ""],
	["", "general-purpose", ""],
])("start %j is a task for %s", (typed, preset, task) => {
	expect(parseStart(typed, names)).toEqual({ preset, task });
});

test.each([
	["scuot: find the code", 'There is no preset "scuot". Did you mean "scout"?'],
	["scuot :find", 'There is no preset "scuot". Did you mean "scout"?'],
	["fix: the build", 'There is no preset "fix". /subagent agents lists the presets. If the task begins with that word'],
])("an unknown word before a colon starts nothing: %s", (typed, message) => {
	expect(() => parseStart(typed, names)).toThrow(message);
});

test("a start says what was started, with which model, and how to go on", () => {
	expect(text(startedBlocks(agent({ status: "queued" }), ["The model is not among your enabled ones."]))).toBe(
		`Queued scout as a1b2c3d4.

task   Find the launch code.
model  fake/one
cwd    /project

The model is not among your enabled ones.

The result will appear here. /subagent view a1b2c3d4 shows it, /subagent stop
a1b2c3d4 stops it.`,
	);
});

test("a list shows those at work first, then those launched last", () => {
	const failed = agent({
		id: "dead0001",
		status: "failed",
		completedAt: NOW,
		outcome: { status: "failed", error: "No key" },
	});
	const queued = agent({
		id: "0ueued01",
		status: "queued",
		type: "general-purpose",
		activity: "waiting for a slot (next)",
	});
	expect(text(listBlocks([completed, failed, queued, waiting, agent()], NOW), 100)).toBe(
		`5 agents: 1 running, 1 waiting for you, 1 queued, 1 done, 1 failed

a1b2c3d4             scout            running          1m 12s  Find the launch code
                                                               Reading notes.txt
beef0001  left-door  scout            waiting for you  1m 12s  Find the launch code
                                                               asks: Which colour?
0ueued01             general-purpose  queued           1m 12s  Find the launch code
                                                               waiting for a slot (next)
dead0001             scout            failed           1m 12s  Find the launch code
                                                               Failed: No key
c0ffee00             scout            done             1m      Find the launch code

Answer with /subagent reply <id> <text>.`,
	);
});

test("a list says what each agent cost, alone and with its sub-agents, and what all cost", () => {
	const costing = (id: string, cost: number, parentAgentId?: string) => ({
		...agent({ id, ...(parentAgentId === undefined ? {} : { parentAgentId }) }),
		usage: { ...agent().usage, cost },
	});
	const shown = text(listBlocks([costing("a1", 0.012), costing("a2", 0.3, "a1"), costing("a3", 0.1, "a2")], NOW), 120);
	expect(shown).toContain("3 agents: 3 running · $0.412 in all");
	expect(shown).toContain("Reading notes.txt · $0.012, $0.412 with its 2 sub-agents");
	expect(shown).toContain("Reading notes.txt · $0.30, $0.40 with its sub-agent");
	expect(shown).toMatch(/Reading notes\.txt · \$0\.10$/m);
});

test("a list without agents says how to launch one, and a long one leaves out the oldest", () => {
	expect(text(listBlocks([], NOW))).toBe("No agent has been launched. /subagent start <task> launches one.");
	const many = Array.from({ length: 45 }, (_, index) => ({ ...completed, id: `c${index}` }));
	const shown = text(listBlocks([agent(), ...many], NOW));
	expect(shown).toContain("\na1b2c3d4");
	expect(shown).toContain("\nand 6 older ones");
	expect(shown).not.toContain("\nc5 ");
});

test("a view of an agent at work says what it does and what it took so far", async () => {
	const busy = agent({ maxTurns: 20, parentAgentId: "c0ffee00", contextPercent: 12.4, run: 2, runner: "process" });
	expect(text(await agentDetails(busy, NOW))).toBe(
		`scout a1b2c3d4: Find the launch code

status       running for 1m 12s, 2 turns of 20
task         Find the launch code.
model        fake/one
cwd          /project
runner       process
run          2
launched by  c0ffee00
usage        2 turns, 3 tool calls, 22.8k tokens, context 12% full
last         Reading notes.txt (2s ago)`,
	);
});

test("a view of a settled agent has what it said, and where the rest is", async () => {
	const long = {
		...completed,
		artifacts: "/runs/c0ffee00",
		outcome: { status: "completed" as const, text: "x".repeat(4_010) },
	};
	const shown = text(await agentDetails(long, NOW));
	expect(shown).toContain("status  Done in 1m\n");
	expect(shown).toContain("files   /runs/c0ffee00\n");
	expect(shown).toContain("(10 more characters; all of it is in /runs/c0ffee00/result.json)");
	expect(shown).not.toContain("last ");
});

test("a view of one whose check failed has the end of what the check printed", async () => {
	const verification = { ok: false, command: "npm test", tail: "not ok 3\n1 test failed" };
	const error = "Not verified: npm test exited with code 1 (2s)";
	const failed = agent({
		status: "failed",
		outcome: { status: "failed", error, partialText: "Mended.", verification },
	});
	expect(text(await agentDetails(failed, NOW))).toMatch(
		/npm test exited with code 1[\s\S]*\n\nnot ok 3\n1 test failed\n\nMended\.$/,
	);
});

test("a view of one that waits shows its question and how to answer it", async () => {
	const shown = text(await agentDetails(waiting, NOW));
	expect(shown).toContain('scout "left-door" (beef0001): Find the launch code');
	expect(shown).toContain("asks    Which colour?");
	expect(shown).toContain("Answer with /subagent reply beef0001 <text>.");
});

test("what an agent or a file says cannot control the terminal", async () => {
	const evil = "\x1b]0;owned\x07\x1b[2J\u202eevil";
	const record = agent({ description: evil, activity: evil, task: evil, name: evil, type: evil, question: evil });
	const blocks = [
		...listBlocks([record], NOW),
		...(await agentDetails(record, NOW)),
		...startedBlocks(record, [evil]),
		...presetBlocks({ presets: [preset({ description: evil, name: evil })], problems: [] }),
		...presetDetails(preset({ prompt: evil, description: evil }), []),
	];
	expect(text(blocks)).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
});

test("a stop says how it ended, and whether there is something to read", () => {
	const stopped = agent({
		status: "aborted",
		completedAt: NOW,
		outcome: { status: "aborted", by: "user", partialText: "Half." },
	});
	expect(text(stopBlocks(stopped, { wasActive: true }))).toBe(
		"scout a1b2c3d4: Stopped by you after 1m 12s.\n\nIts output until then: /subagent view a1b2c3d4",
	);
	expect(text(stopBlocks(completed, { wasActive: false }))).toBe("scout c0ffee00 had already ended. Done in 1m.");
});

const other = agent({ id: "beef0002", status: "waiting", question: "Which door?" });
const reply = (typed: string, ...agents: AgentRecord[]) => {
	const { agent: found, text } = parseReply(typed, agents);
	return [found.id, text];
};

test("an answer goes to the agent that its first word names, by id, beginning of an id, or name", () => {
	expect(reply("beef0001 it is\nblue", waiting, other)).toEqual(["beef0001", "it is\nblue"]);
	expect(reply("BEEF0002 blue", waiting, other)).toEqual(["beef0002", "blue"]);
	expect(reply("left-door blue", waiting, other)).toEqual(["beef0001", "blue"]);
	expect(reply("beef blue", waiting, completed)).toEqual(["beef0001", "blue"]);
});

test("without such a word the answer goes to the only one that waits", () => {
	expect(reply("blue is best", waiting, completed, agent())).toEqual(["beef0001", "blue is best"]);
	expect(reply("be careful", waiting)).toEqual(["beef0001", "be careful"]);
});

test("an answer never reaches an agent that it may not have been meant for", () => {
	expect(() => reply("blue", waiting, other)).toThrow(
		'Several agents are waiting for an answer; name one: /subagent reply <id> <text>\n- scout "left-door" (beef0001) asks: Which colour?',
	);
	expect(() => reply("beef blue", waiting, other)).toThrow("Several agents are waiting for an answer");
	expect(() => reply("c0ffee00 blue", waiting, completed)).toThrow("scout c0ffee00 is done; it is not waiting");
	expect(() => reply("c0ffee blue", waiting, completed)).toThrow("it is not waiting for an answer");
	expect(() => reply("blue", completed)).toThrow("No agent is waiting for an answer.");
	expect(() => reply("beef0001", waiting)).toThrow("What is the answer? /subagent reply beef0001 <text>");
	expect(() => reply("", waiting)).toThrow("asks: Which colour?");
});

test("presets are listed with where they come from, and with a hint to the broken ones", () => {
	const builtin = preset({ name: "Explore", source: { kind: "builtin", flavour: "agents", inProject: false } });
	const problems = [1, 2].map((line) => ({ path: "/p/broken.md", line, severity: "error" as const, message: "bad" }));
	expect(text(presetBlocks({ presets: [builtin, preset({ enabled: false })], problems }))).toBe(
		`Explore  builtin  Looks around.
scout    off      Looks around.

1 file with problems; /subagent doctor lists them.`,
	);
});

test("a view of a preset is what its file says", () => {
	const origin = { path: "/p/scout.md", line: 3 };
	const shown = presetDetails(
		preset({
			...{ tools: ["read", "ls"], timeoutMs: 90_000, maxTurns: 5 },
			origins: { tools: origin, timeoutMs: origin, promptMode: "default", maxTurns: "default" },
			replaces: [{ source: { kind: "builtin", flavour: "agents", inProject: false }, path: "scout.md" }],
		}),
		[
			{ key: "tools", name: "tools" },
			{ key: "timeoutMs", name: "timeout" },
			{ key: "promptMode", name: "prompt_mode" },
		],
	);
	expect(text(shown)).toBe(
		`Preset scout: Looks around. Changes nothing.

source    project, /project/.pi/subagents/scout.md
tools     read, ls
timeout   1m 30s
replaces  builtin, scout.md

You are a scout.

/subagent explain scout shows its resolved values.`,
	);
});

test("explain tells every value with who decided it, and what it costs to begin", () => {
	const resolved = {
		...spec,
		limits: { maxTurns: 20, idleTimeoutMs: 60_000 },
		origins: { model: "call", tools: "preset", maxTurns: "settings" } as const,
		warnings: ["Something is not supported."],
	};
	const file = preset({ origins: { tools: { path: "/p", line: 5 } } });
	expect(
		text(
			explain(file, resolved, { systemPrompt: "Be good.\n".repeat(50), toolCharacters: 4_000 }, "gate (/g.ts)"),
		).slice(-820),
	).toContain(
		`Preset scout: Looks around. Changes nothing.

source        project, /project/.pi/subagents/scout.md
model         fake/one  (the call)
tools         read  (line 5 of the file)
prompt_mode   nothing to add  (default)
runner        session  (default)
isolation     off: it edits the files in its cwd  (default)
launcher      none  (default)
machine       this one  (default)
cwd           /project  (default)
max_turns     20  (agentOverrides in your settings)
idle_timeout  1m  (default)
guards        gate (/g.ts)

Something is not supported.

It starts with about 1.1k tokens: about 113 tokens of prompt and about 1k tokens
of tools.`,
	);
});

test("explain says where an agent works: its worktree, its launcher and its machine, and who decided each", () => {
	const resolved = {
		...spec,
		isolation: { kind: "worktree", base: "dirty" } as const,
		launcher: "jail",
		machine: "box",
		origins: { launcher: "settings", machine: "preset" } as const,
	};
	const file = preset({
		isolation: "worktree",
		machine: "box",
		origins: { isolation: { path: "/p", line: 4 }, machine: { path: "/p", line: 6 } },
	});
	const shown = text(explain(file, resolved, { systemPrompt: "", toolCharacters: 0 }, "none"), 120);
	expect(shown).toContain(`
isolation    worktree: its own checkout, made from the working tree  (line 4 of the file)
launcher     jail  (agentOverrides in your settings)
machine      box  (line 6 of the file)
`);
	const { isolation: _, ...there } = resolved;
	expect(text(explain(preset({}), there, { systemPrompt: "", toolCharacters: 0 }, "none"), 120)).toContain(
		"isolation    its own checkout there, made from the working tree  (default)",
	);
});

test("a view of an agent with relatives begins with its place among them", async () => {
	let ids = 0;
	const manager = new Manager({
		runners: { session: fakeRunner() },
		clock: handClock(),
		newId: () => `agent-${++ids}`,
	});
	const parent = manager.spawn({ ...spec, subagents: "*" });
	const child = manager.scope(parent.id).spawn(spec);
	const view = viewCommand({ manager, launcher: { known: () => [] } } as unknown as CommandDeps);
	const [place] = await view.run(child.id, {} as ExtensionCommandContext);
	const text = place && "text" in place ? place.text : "";
	expect(text.split("\n").map((line) => line.trimEnd())).toEqual([
		expect.stringContaining("Agents 2 total"),
		expect.stringMatching(/^└─ . scout Find the launch code/),
		expect.stringMatching(/^ {3}└─ . scout Find the launch code/),
	]);
	const alone = manager.spawn(spec);
	const [head] = await view.run(alone.id, {} as ExtensionCommandContext);
	expect(head && "text" in head ? head.text : "").toContain(alone.id);
});

test("agents of earlier sessions are listed by session; one without a recorded end is not said to run", () => {
	const startedAt = "2026-11-17T02:40:00.000Z";
	const one = agent({ id: "a1", description: "look around" });
	const ended = agent({
		...one,
		status: "completed",
		queuedAt: NOW,
		startedAt: NOW,
		completedAt: NOW,
		outcome: { status: "completed", text: "Two doors." },
	});
	const sessions = [
		{ id: "bbbb", startedAt, agents: [one] },
		{ id: "aaaa", startedAt, agents: [ended, { ...one, id: "a2" }] },
	];
	expect(text(otherBlocks(sessions.map(rememberedSession)), 100)).toBe(`Other sessions of this project:

Session bbbb of 2026-11-17 02:40 UTC

a1  scout  no end    look around
                     no end recorded: it is running in another pi, or ended with it

Session aaaa of 2026-11-17 02:40 UTC

a2  scout  no end      look around
                       no end recorded: it is running in another pi, or ended with it
a1  scout  done    0s  look around

/resume opens a session, and its agents with it; /agents › Everywhere has all runs.`);
	expect(text(otherBlocks([]))).toBe("Other sessions of this project launched no agents.");
});

test("runs of sessions that pi did not keep are listed by session, too, and not too many", () => {
	const createdAt = Date.parse("2026-11-17T02:40:00.000Z");
	const run = (agentId: string, fields: Partial<RunOverview>): RunOverview => ({
		...{ runId: agentId, agentId, run: 1, preset: "sc\x1b[2Jout", description: "look around", task: "Look around." },
		...{ dir: `/runs/${agentId}`, project: "/project", cwd: "/project", runner: "session", hasOwnProcess: false },
		...{ model: "fake/one", createdAt, state: { group: "done", status: "lost" } },
		...fields,
	});
	const runs = [
		run("a1", { sessionId: "0195-first-session", state: { group: "working", status: "running" }, activity: "Reading" }),
		run("a2", {}),
		run("a3", { sessionId: "0195-first-session" }),
	];
	const now = createdAt + 72_000;
	expect(text(otherBlocks(keptSessions(runs, now)), 100)).toBe(`Other sessions of this project:

Session 0195-first-se of 2026-11-17 02:40 UTC

a1  scout  running  1m 12s  look around
                            Reading
a3  scout  stopped  1m 12s  look around
                            Its process ended without a result.

Without a session, 2026-11-17 02:40 UTC

a2  scout  stopped  1m 12s  look around
                            Its process ended without a result.

/resume opens a session, and its agents with it; /agents › Everywhere has all runs.`);
	const many = Array.from({ length: 50 }, (_, at) => run(`b${at}`, { sessionId: `s${at % 3}` }));
	const shown = text(otherBlocks(keptSessions(many, now)), 100);
	expect(shown.match(/^b\d+ /gm)).toHaveLength(40);
	expect(shown).toContain("\nand 10 older ones\n");
});
