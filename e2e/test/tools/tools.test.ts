/**
 * Every tool, called by a model in real pi. In the gate each tool runs in every mode and on every pi, and each mode on
 * every pi, but not all three at once; the full run has all of it.
 */
import {
	all,
	availablePis,
	callTool,
	callTools,
	converse,
	isFullRun,
	lastUserSays,
	type PiTarget,
	type ReplySource,
	type RequestView,
	type Rule,
	runJson,
	runPrint,
	say,
	startRpc,
	startTui,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isSession, type Scene, scene, unfenced } from "../../support/scene.ts";

interface Case {
	/** The tool, and what it shows. Its first word is the prompt's. */
	name: string;
	word: string;
	rules: Rule[];
	/** What the session says at last. */
	until: string;
	/** What must be seen by then. */
	shows?: RegExp;
}

const launch = (task: string, more: Record<string, unknown> = {}) =>
	callTool("Agent", { prompt: task, description: "do it", subagent_type: "repo-scout", ...more });
const session = (word: string, ...replies: readonly ReplySource[]): Rule =>
	converse(all(isSession, lastUserSays(`Please ${word}`)), ...replies);
/** A scout with this task. */
const scout = (task: string, ...replies: readonly ReplySource[]): Rule =>
	converse(all(systemPromptSays("repo scout"), lastUserSays(task)), ...replies);
const heard =
	(mark: string) =>
	({ lastToolResults }: RequestView) =>
		say(`${mark}: ${lastToolResults.map(({ text }) => unfenced(text)).join(" and ")}`);
/** What the session says when a message brings this. */
const onNews = (text: string, mark: string): Rule =>
	when(all(isSession, lastUserSays("<task-notification>"), lastUserSays(text)), ({ lastUserText }) =>
		say(`${mark} ${lastUserText.split("<task-notification>").length - 1}`),
	);
const idIn = (text = "") => /[Aa]gent ([0-9a-z]{8})/.exec(text)?.[1];

const cases: Case[] = [
	{
		name: "subagent waits for several, each with its own report, and tells which one failed",
		word: "wait",
		rules: [
			session(
				"wait",
				callTool("subagent", { tasks: ["Look well.", "Break."].map((task) => ({ preset: "repo-scout", task })) }),
				heard("Both came back"),
			),
			scout("Look well.", say("All is well.")),
			scout("Break.", { error: "out of credit" }),
		],
		until: "Both came back",
		shows: /1 of 2 completed\.[\s\S]*1\. repo-scout: Completed[\s\S]*2\. repo-scout: Failed[\s\S]*out of credit/,
	},
	{
		name: "Agent goes on in the background, and two of one message are told together, in a new turn",
		word: "keep working",
		rules: [
			session("keep working", callTools(launch("Bring bread."), launch("Bring wine.")), heard("They are off")),
			scout("Bring bread.", say("Here is bread.")),
			scout("Bring wine.", say("Here is wine.")),
			onNews("Here is wine.", "Courses:"),
		],
		until: "Courses: 2",
	},
	{
		name: "Agent in the foreground, resumed: it knows what was said",
		word: "resume",
		rules: [
			session(
				"resume",
				launch("Say a word.", { run_in_background: false, name: "speaker" }),
				launch("Which word was it?", { run_in_background: false, resume: "speaker" }),
				heard("It remembers"),
			),
			scout("Say a word.", say("heliotrope")),
			scout("Which word was it?", ({ messages }) =>
				say(messages.some(({ text }) => text === "heliotrope") ? "It was heliotrope." : "I do not know."),
			),
		],
		until: "It remembers",
		shows: /It was heliotrope\./,
	},
	{
		name: "start_subagent hands the turn back, and a message brings the result",
		word: "start",
		rules: [
			session(
				"start",
				callTool("start_subagent", { task: "Begin slowly.", role: "repo-scout" }),
				say("Asked once too often."),
			),
			scout("Begin slowly.", say("I have begun.")),
			onNews("I have begun.", "Begun:"),
		],
		until: "Begun: 1",
	},
	{
		name: "background_agent returns at once",
		word: "outlive",
		rules: [
			session(
				"outlive",
				callTool("background_agent", { preset: "repo-scout", task: "Live long." }),
				heard("On its own"),
			),
			scout("Live long.", say("I lived.")),
		],
		until: "On its own",
		shows: /Background run [0-9a-z]{8} \(repo-scout\) is running/,
	},
	{
		name: "background_agent_status counts and lists",
		word: "count",
		rules: [
			session(
				"count",
				callTool("background_agent", { preset: "repo-scout", task: "Be counted." }),
				callTool("background_agent_status", { includeCompleted: true }),
				heard("The count"),
			),
			scout("Be counted.", say("I count.")),
		],
		until: "The count",
		shows: /\d running, \d completed, 0 failed, 0 aborted, \d in all[\s\S]*Be counted\./,
	},
	{
		name: "get_subagent_result waits, and what was read is not told again",
		word: "read",
		rules: [
			session(
				"read",
				launch("Write a line."),
				({ lastToolResults }) =>
					callTool("get_subagent_result", { agent_id: idIn(lastToolResults[0]?.text), wait: true, verbose: true }),
				heard("The line reads"),
			),
			scout("Write a line.", say("A fine line.")),
			onNews("A fine line.", "Told again:"),
		],
		until: "The line reads",
		shows: /A fine line\.[\s\S]*Model: fake\/fake-1/,
	},
	{
		name: "get_subagent_result peeks at the log",
		word: "peek",
		rules: [
			session(
				"peek",
				launch("Use a tool.", { name: "user" }),
				callTool("get_subagent_result", { agent_id: "user", wait: true }),
				callTool("get_subagent_result", { agent_id: "user", peek: { regex: "^Reading" } }),
				heard("The log says"),
			),
			scout("Use a tool.", callTool("read", { path: "notes.txt" }), say("Used.")),
		],
		until: "The log says",
		shows: /Reading notes\.txt/,
	},
	{
		name: "steer_subagent reaches an agent at work",
		word: "steer",
		rules: [
			session(
				"steer",
				launch("Go straight on.", { name: "driver" }),
				callTool("steer_subagent", { agent_id: "driver", message: "Mind the gap." }),
				callTool("get_subagent_result", { agent_id: "driver", wait: true }),
				heard("The ride"),
			),
			when(all(systemPromptSays("repo scout"), lastUserSays("Mind the gap.")), say("I minded the gap.")),
			scout("Go straight on.", ...Array.from({ length: 20 }, () => callTool("read", { path: "notes.txt" }))),
		],
		until: "The ride",
		shows: /I minded the gap\./,
	},
	{
		name: "stop_subagent ends an agent",
		word: "stop",
		rules: [
			session(
				"stop",
				launch("Never end.", { name: "endless" }),
				callTool("stop_subagent", { id: "endless", reason: "not needed" }),
				heard("It ended"),
			),
			scout("Never end.", { ...say("never"), gate: new Promise(() => undefined) }),
		],
		until: "It ended",
		shows: /Stopped by its parent[\s\S]*not needed/,
	},
	{
		name: "reply_subagent answers what an agent in the background asks (ask_main_session)",
		word: "answer",
		rules: [
			session("answer", launch("Choose a door."), heard("It is off")),
			converse(
				all(isSession, lastUserSays("<subagent-question"), lastUserSays("Which door?")),
				callTool("reply_subagent", { feedback: "the left one" }),
				heard("Answered"),
			),
			scout("Choose a door.", callTool("ask_main_session", { question: "Which door?" }), ({ lastToolResults }) =>
				say(`Told: ${unfenced(lastToolResults[0]?.text).replace("\n", " ")}`),
			),
			onNews("Told: Answer from the main session: the left one", "Doors:"),
		],
		until: "Doors: 1",
	},
	{
		name: "list_models tells what model accepts",
		word: "choose",
		rules: [session("choose", callTool("list_models", {}), heard("On offer"))],
		until: "On offer",
		shows: /fake\/fake-1/,
	},
];

/** A pi in this mode: one for each prompt, or one for all. */
type Open = (target: PiTarget) => Promise<AsyncDisposable & { ask(prompt: string, until: string): Promise<string> }>;
const nothing = { [Symbol.asyncDispose]: async () => undefined };

const modes: [string, Open][] = [
	["print", async (target) => ({ ...nothing, ask: async (prompt) => (await runPrint(target, prompt)).stdout })],
	[
		"json",
		async (target) => ({
			...nothing,
			ask: async (prompt) => said((await runJson(target, prompt)).events.filter(({ type }) => type === "message_end")),
		}),
	],
	[
		"rpc",
		async (target) => {
			const rpc = startRpc(target);
			return {
				async ask(prompt, until) {
					const from = rpc.events.length;
					await rpc.send({ type: "prompt", message: prompt });
					const isSaid = (event: object) => said([event]).includes(until);
					const end = await rpc.waitFor((event) => event.type === "message_end" && isSaid(event), { from });
					await rpc.waitFor((event) => event.type === "agent_settled", { from: rpc.events.indexOf(end) });
					return said([end]);
				},
				[Symbol.asyncDispose]: async () => void (await rpc.close()),
			};
		},
	],
	[
		"interactive",
		async (target) => {
			const tui = await startTui(target, { cols: 120, rows: 50 });
			return {
				async ask(prompt, until) {
					tui.submit(prompt);
					await tui.waitForText(until);
					return tui.screen().join("\n");
				},
				[Symbol.asyncDispose]: () => tui[Symbol.asyncDispose](),
			};
		},
	],
];

/** What the assistant says in these events. */
function said(events: readonly object[]): string {
	return events
		.map((event) => ("message" in event ? (event.message as { role?: string; content?: unknown }) : {}))
		.filter(({ role }) => role === "assistant")
		.flatMap(({ content }) => (Array.isArray(content) ? content : []))
		.map((part: { text?: string }) => part.text ?? "")
		.join("\n");
}

/**
 * Every tool over RPC, which needs one pi for all of them. In modes that end with each answer, some, and others in the next
 * mode; on a second pi, none.
 */
const inGate = (piIndex: number, mode: string, place: number) =>
	isFullRun || mode === "rpc" || (piIndex === 0 && place % 4 === 0);

describe.each((await availablePis()).map((pi, piIndex) => ({ pi, piIndex, version: pi.version })))(
	"pi $version",
	({ pi, piIndex }) => {
		describe.each(
			modes
				.map(([mode, open], modeIndex) => ({ mode, open, modeIndex }))
				.filter(({ mode }) => inGate(piIndex, mode, 0)),
		)("$mode", ({ mode, open, modeIndex }) => {
			let it: Scene;
			let opened: Awaited<ReturnType<Open>>;
			beforeAll(async () => {
				it = await scene(cases.flatMap(({ rules }) => rules));
				opened = await open({ env: it.env, pi });
			});
			afterAll(async () => {
				await opened[Symbol.asyncDispose]();
				await it[Symbol.asyncDispose]();
			});

			test.each(cases.filter((_case, index) => inGate(piIndex, mode, modeIndex + index)))(
				"$name",
				async ({ word, until, shows = /./ }) => {
					const seen = await opened.ask(`Please ${word}.`, until);
					expect(seen).toContain(until);
					expect(seen).toMatch(shows);
					const everything = it.server.requests.flatMap(({ messages }) => messages.map(({ text }) => text)).join("\n");
					expect(everything).not.toMatch(/Asked once too often|Told again/);
				},
			);
		});
	},
);

test("start_subagent and other tools do not share a turn, whichever comes first", async () => {
	const start = callTool("start_subagent", { task: "Begin slowly.", role: "repo-scout" });
	const read = callTool("read", { path: "notes.txt" });
	for (const [calls, refusal] of [
		[[start, read], "start_subagent was called in this turn"],
		[[read, start], "start_subagent must be alone in its turn"],
	] as const) {
		await using it = await scene([
			session("start", callTools(...calls), heard("Together")),
			scout("Begin slowly.", say("I have begun.")),
			onNews("I have begun.", "Begun:"),
		]);
		const { stdout } = await runPrint({ env: it.env }, "Please start.");
		expect(stdout).toMatch(/Together|Begun/);
		const results = it.server.requests.flatMap(({ lastToolResults }) =>
			lastToolResults.map(({ text }) => unfenced(text)),
		);
		expect(results.filter((text) => text.includes(refusal))).not.toEqual([]);
	}
});
