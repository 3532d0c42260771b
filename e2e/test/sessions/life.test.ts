/** Agents through the life of a session: while the user types, over reloads, and when pi would end before they do. */
import { join } from "node:path";
import {
	all,
	assistantTexts,
	callTool,
	converse,
	createGate,
	gateCases,
	gatePis,
	hang,
	isFullRun,
	lastUserSays,
	type PiRpc,
	type PiTarget,
	type Reply,
	runJson,
	runPrint,
	say,
	startRpc,
	startTui,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { linesOf, toldIn } from "../../support/detached.ts";
import { sessionIn } from "../../support/digs.ts";
import { type Watched, watcher } from "../../support/extensions/watcher.ts";
import { enter, untilAsked } from "../../support/keys.ts";
import { isScout, isSession, scene } from "../../support/scene.ts";

const launch = (more: Record<string, unknown> = {}) =>
	callTool("Agent", { prompt: "Dig.", description: "dig", subagent_type: "repo-scout", ...more });
const launches = converse(all(isSession, lastUserSays("Please dig.")), launch({ name: "digger" }), say("It digs."));
const isNews = all(isSession, lastUserSays("<task-notification>"));
const passOn = ({ lastUserText }: { lastUserText: string }) =>
	say(
		`News: ${/Found \w+|I was told.*/.exec(lastUserText)?.[0] ?? /<summary>(.*)<\/summary>/.exec(lastUserText)?.[1]}`,
	);
const passesOn = when(isNews, passOn);

describe.each(await gatePis())("pi $version", (pi) => {
	test("a result that comes while the user types leaves their text and their cursor alone", async () => {
		const gate = createGate();
		await using it = await scene([
			launches,
			passesOn,
			when(lastUserSays("half a sentence"), ({ lastUserText }) => say(`Read: ${lastUserText}`)),
			when(isScout, { ...say("Found gold."), gate }),
		]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 50 });
		enter(tui, "Please dig.");
		await tui.waitForText("It digs.");
		tui.type("half sentence");
		tui.press(...Array.from({ length: "sentence".length }, () => "left" as const));
		await tui.waitForText("half sentence");
		gate.open();
		await tui.waitForText("News: ");
		tui.type("a ");
		await tui.waitForText("half a sentence");
		expect(it.server.requests.some(({ lastUserText }) => lastUserText.includes("half"))).toBe(false);
		tui.press("enter");
		await tui.waitForText("Read: half a sentence");
	});

	const asks = converse(isScout, callTool("ask_main_session", { question: "How deep?" }), ({ lastToolResults }) =>
		say(`I was told: ${lastToolResults[0]?.text}`),
	);
	const isAsked = all(isSession, lastUserSays("<subagent-question"));

	test("an agent that asks goes on with what the user replies, by its name", async () => {
		const gate = createGate();
		await using it = await scene([launches, when(isAsked, { ...say("I do not know."), gate }), passesOn, asks]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 50 });
		enter(tui, "Please dig.");
		await it.server.nextRequest(isAsked);
		enter(tui, "/subagent reply digger to the bottom");
		await tui.waitForText("has your answer.");
		gate.open();
		await tui.waitForText("News: I was told: Answer from the user: to the bottom");
	});

	test("a question that the model does not answer in its turn is a dialog for the user", async () => {
		await using it = await scene([launches, when(isAsked, say("I do not know. What do you say?")), passesOn, asks]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 50 });
		enter(tui, "Please dig.");
		await untilAsked(tui, "esc: it decides by itself");
		await tui.waitForText("waiting for you");
		enter(tui, "to the bottom");
		await tui.waitForText("News: I was told: Answer from the user: to the bottom");
	});

	test("/reload ends an agent inside pi: that is told once, starts no turn, and the next agent works", async () => {
		const gate = createGate();
		await using it = await scene([
			launches,
			passesOn,
			when(lastUserSays("Anything else?"), say("That is all.")),
			when(isScout, { ...say("Found gold."), gate }),
		]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 60 });
		enter(tui, "Please dig.");
		await tui.waitForText("It digs.");
		await it.server.nextRequest(isScout);
		enter(tui, "/reload");
		await tui.waitForText("Reloaded");
		await it.server.nextRequest((request) => isScout(request) && request.aborted);
		await tui.waitForText(/■ repo-scout dig .*\n +Stopped after .*: interrupted by reload/);
		gate.open();
		enter(tui, "Please dig.");
		await tui.waitForText("News: Found gold");
		enter(tui, "/reload");
		await tui.waitForText(/News: Found gold.*Reloaded/s);
		enter(tui, "Anything else?");
		await tui.waitForText("That is all.");
		const told = it.server.requests.at(-1)?.messages.filter(({ text }) => text.includes("nterrupted by reload"));
		expect(told).toHaveLength(1);
		expect(it.server.requests.filter(isNews)).toHaveLength(1);
		expect(tui.scrollback()).not.toMatch(/stale|extension error/i);
	});

	test("many reloads with running agents leave nothing behind, and each agent is reported once", async () => {
		await using it = await scene([when(isScout, hang())], { files: { "watcher.ts": watcher } });
		await using rpc = startRpc({ env: it.env, pi, extensions: ["watcher.ts"] });
		const reports: Watched[] = [];
		const [first, rounds] = isFullRun ? [10, 50] : [4, 9];
		for (let round = 1; round <= rounds; round++) {
			await notice(rpc, "/subagent start repo-scout: Dig here.");
			await notice(rpc, "/subagent start repo-scout: Dig there.");
			await rpc.send({ type: "prompt", message: "/again" });
			if (round === first || round === rounds) reports.push(JSON.parse(await notice(rpc, "/report")));
		}
		const [early, late] = reports as [Watched, Watched];
		expect(late).toMatchObject({ reloads: rounds, left: [], errors: [], listeners: early.listeners });
		expect(late.timers).toBeGreaterThan(early.timers); // it sees ours
		expect(late.heapMegabytes - early.heapMegabytes).toBeLessThan(8);
		expect(rpc.events.filter(({ type }) => type === "extension_error")).toEqual([]);
		const runs = await toldRuns(rpc);
		expect({ told: runs.length, agents: new Set(runs).size }).toEqual({ told: 2 * rounds, agents: 2 * rounds });
	});

	if (isFullRun)
		test("new sessions, of which pi tells twice over RPC, leave nothing behind either", async () => {
			await using it = await scene([when(isScout, hang())], { files: { "watcher.ts": watcher } });
			await using rpc = startRpc({ env: it.env, pi, extensions: ["watcher.ts"] });
			for (let round = 1; round <= 5; round++) {
				await notice(rpc, "/subagent start repo-scout: Dig here.");
				await rpc.send({ type: "new_session" });
			}
			expect(JSON.parse(await notice(rpc, "/report"))).toMatchObject({ reloads: 5, left: [], errors: [] });
		});

	test("when pi is killed, what an agent inside it had done is not lost", async () => {
		await using it = await scene([
			launches,
			converse(isScout, { ...callTool("read", { path: "notes.txt" }), text: "I have seen the mine." }, hang()),
		]);
		const args = ["--session-dir", join(it.env.root, "sessions")];
		const first = startRpc({ env: it.env, pi, args });
		await first.prompt("Please dig.");
		await it.server.nextRequest((request) => isScout(request) && request.turn === 2);
		const session = await until("its first step is in its log", async () => {
			const file = (await sessionIn(args[1] ?? "")) ?? "";
			const launch = (await linesOf(file)).find(({ customType }) => customType === "subagents:record");
			const { artifacts = "" } = (launch?.data ?? {}) as { artifacts?: string };
			const log = await linesOf(join(artifacts, "events.jsonl"));
			return log.some(({ type }) => type === "turn") ? file : undefined;
		});
		process.kill(first.pid ?? 0, "SIGKILL");
		await first.close();
		await using _again = startRpc({ env: it.env, pi, args: [...args, "--continue"] });
		const told = await until("the session is told", async () => (await toldIn(session))[0]);
		expect(told).toMatchObject({ status: "aborted", preview: "I have seen the mine.", toolUses: 1 });
	});

	describe.each(gateCases(modes, 0))("%s", (_mode, run) => {
		const digs = async (reply: Reply, settings: object, onNews = passesOn) => {
			await using it = await scene([launches, onNews, when(isScout, reply)], {
				agentFiles: { "subagents.json": JSON.stringify(settings) },
			});
			return await run({ env: it.env, pi }, "Please dig.");
		};

		test("it waits for an agent in the background, and its result is in the output", async () => {
			expect(await digs(say("Found gold."), {})).toEqual({ said: "News: Found gold", stderr: "", code: 0 });
		});

		if (isFullRun)
			test("an agent that fails does not go unsaid", async () => {
				expect(await digs({ error: "out of credit" }, {})).toEqual({
					said: expect.stringMatching(/News: .*"dig": Failed after .*out of credit/),
					stderr: "",
					code: 0,
				});
			});

		test("one that never ends is waited for so long, then it is said who is missing", async () => {
			const triesAgain = converse(isNews, launch(), passOn);
			expect(await digs(hang(), { drainSeconds: 0.3 }, triesAgain)).toEqual({
				said: expect.stringMatching(/News: .*"dig": Timed out after .*: <cause-\w+>pi waited 0\.3s for it</),
				stderr: expect.stringMatching(/^pi-subagents: Agent \w+ \(repo-scout, "dig"\) was stopped: .*drainSeconds/),
				code: 0,
			});
		});
	});
});

test("print: an agent that outlives pi starts no turn, even if it has ended before pi", async () => {
	const gate = createGate();
	await using it = await scene([
		converse(
			all(isSession, lastUserSays("Please dig.")),
			callTool("background_agent", { preset: "repo-scout", task: "Dig." }),
			{ ...say("It digs."), gate },
		),
		passesOn,
		when(isScout, say("Found gold.")),
	]);
	const sessions = join(it.env.root, "sessions");
	const printed = runPrint({ env: it.env, args: ["--session-dir", sessions] }, "Please dig.");
	await until("pi knows that it has ended", async () => {
		const file = await sessionIn(sessions);
		const entries = file === undefined ? [] : await linesOf(file);
		return entries.some(({ customType }) => customType === "pi-subagents:bg-update") || undefined;
	});
	gate.open();
	expect(await printed).toMatchObject({ stdout: "It digs.\n", code: 0 });
	expect(it.server.requests.some(isNews)).toBe(false);
});

/** What pi says last, in the modes that end by themselves. */
type Run = (target: PiTarget, prompt: string) => Promise<{ said: string; stderr: string; code: number | null }>;

const modes: [string, Run][] = [
	[
		"print",
		async (target, prompt) => {
			const { stdout, stderr, code } = await runPrint(target, prompt);
			return { said: stdout.trim(), stderr, code };
		},
	],
	[
		"json",
		async (target, prompt) => {
			const { events, stderr, code } = await runJson(target, prompt);
			return { said: assistantTexts(events).at(-1) ?? "", stderr, code };
		},
	],
];

/** The next notice after a command. */
async function notice(rpc: PiRpc, message: string): Promise<string> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message });
	const event = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "notify", { from });
	return event.type === "extension_ui_request" && event.method === "notify" ? event.message : "";
}

/** The runs that the session was told of. */
async function toldRuns(rpc: PiRpc): Promise<string[]> {
	const response = await rpc.send({ type: "get_messages" });
	if (!response.success || response.command !== "get_messages") throw new Error("pi does not tell its messages");
	return response.data.messages.flatMap((message) =>
		message.role === "custom" && message.customType === "subagent-notification"
			? (message.details as { runIds: string[] }).runIds
			: [],
	);
}
