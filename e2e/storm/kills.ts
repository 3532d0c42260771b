/**
 * The kill loop: pi ends at a moment and in a way that a seed gives, while its agents answer; the session is opened
 * again, and every answer must be there once and whole.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
	all,
	callTool,
	callTools,
	converse,
	createGate,
	createTempDir,
	type Gate,
	lastUserSays,
	offersTool,
	type PiBinary,
	type Reply,
	type RequestView,
	say,
	systemPromptSays,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { isRunning, textOf } from "../support/detached.ts";
import { watcher } from "../support/extensions/watcher.ts";
import { type Scene, scene } from "../support/scene.ts";
import { tolerantLinesOf } from "./files.ts";
import { describeKill, type KillPlan, type Kind, type MortalPlan } from "./kill-plan.ts";
import { accountOf } from "./oracle.ts";
import { createRepository } from "./repository.ts";
import { spy } from "./spy.ts";
import { StormPi } from "./storm-pi.ts";
import { answerAmong, answerIn, callResults, cutAnswer, toldResults } from "./wholeness.ts";

export interface KillReport {
	plan: KillPlan;
	violations: string[];
	/** How many runs were told as completed, and how many as ended by the end of pi. */
	completed: number;
	interrupted: number;
}

export interface Kills extends AsyncDisposable {
	run(plan: KillPlan): Promise<KillReport>;
}

const HAS: Record<Kind, string> = {
	plain: "",
	verified: 'verify: "true"',
	data: "output_schema: { type: object, required: [lines], properties: { lines: { type: array } } }",
	worktree: "isolation: worktree",
};

const preset = (name: string, runner: string, has: string) => `---
name: ${name}
description: Answers
model: fake/fake-1
tools: read,write
runner: ${runner}
${has}
---
You are mortal.
`;

/** One for each runner and kind. The user's own: a project that nobody trusts has no say in how agents run. */
const PRESETS = Object.fromEntries(
	["session", "process", "tmux"].flatMap((runner) =>
		Object.entries(HAS).map(([kind, has]) => {
			const name = `mortal-${runner}-${kind}`;
			return [`agents/${name}.md`, preset(name, runner, has)];
		}),
	),
);

const SLOW_DISK = fileURLToPath(new URL("slow-disk.cjs", import.meta.url));

/** What is held back in a round. */
interface Held {
	plan: KillPlan;
	answers: Map<string, Gate>;
	turn: Gate;
}

export interface KillsOptions {
	/** Default: the pi that the workspace depends on. */
	pi?: PiBinary | undefined;
}

export async function startKills({ pi: binary }: KillsOptions = {}): Promise<Kills> {
	const tmux = await createTempDir("kills");
	const rounds = new Map<number, Held>();
	const roundIn = (text: string): Held => {
		const held = rounds.get(Number(/\bk(\d+)(?:a\d+)?\b/.exec(text)?.[1]));
		if (!held) throw new Error(`nobody planned: ${text}`);
		return held;
	};
	const it = await scene(
		[
			when(systemPromptSays("You are mortal."), (request) => mortalSays(request, roundIn(taskIn(request)))),
			converse(
				all(offersTool("start_subagent"), lastUserSays("Begin ")),
				({ lastUserText }) => launchesOf(roundIn(lastUserText)),
				(request) => readsOf(request, roundIn(request.lastUserText)) ?? turnOf(roundIn(request.lastUserText)),
				({ lastUserText }) => turnOf(roundIn(lastUserText)),
			),
			converse(
				all(offersTool("start_subagent"), lastUserSays("Read ")),
				({ lastUserText }) => reads(lastUserText),
				say("Read."),
			),
			when(offersTool("start_subagent"), say("I see.")),
		],
		{
			files: {
				"watcher.ts": watcher,
				"spy.ts": spy,
			},
			agentFiles: { ...PRESETS, "subagents.json": JSON.stringify({ maxConcurrent: 8 }) },
			variables: { NODE_OPTIONS: `--require "${SLOW_DISK}"`, TMUX_TMPDIR: tmux.path },
		},
	);
	it.env.onCleanup(async () => {
		const end = promisify(execFile)("tmux", ["-L", "pi-subagents", "kill-server"], { env: it.env.variables });
		await end.catch(() => undefined); // there is none
		await tmux.remove();
	});
	await createRepository(it.env);
	const slowDisk = join(it.env.root, "slow-disk");
	let pi = new StormPi(it.env, { pi: binary });
	return {
		async run(plan) {
			const answers = new Map(plan.agents.map(({ key }) => [key, createGate()]));
			const held: Held = { plan, answers, turn: createGate() };
			rounds.set(plan.seed, held);
			await pi.rpc.send({ type: "new_session" });
			const file = await pi.sessionFile();
			if (plan.diskMs > 0) await writeFile(slowDisk, String(plan.diskMs));
			await play(held, { it, pi, file });
			await end(pi, plan);
			await rm(slowDisk, { force: true });
			for (const gate of [...answers.values(), held.turn]) gate.open();
			const before = accountOf(await tolerantLinesOf(file));
			pi = new StormPi(it.env, { args: ["--session", file], pi: binary });
			const report = await judge(plan, { it, pi, file }, before.settled);
			rounds.delete(plan.seed);
			it.server.forget();
			return report;
		},
		async [Symbol.asyncDispose]() {
			await pi.close();
			await it[Symbol.asyncDispose]();
		},
	};
}

interface Stage {
	it: Scene;
	pi: StormPi;
	file: string;
}

/** Up to the moment at which pi is to end. */
async function play({ plan, answers }: Held, stage: Stage): Promise<void> {
	const { it, pi, file } = stage;
	const { agents, sign, afterMs } = plan;
	const [first] = agents;
	if (!first) throw new Error("a round without agents");
	await pi.command(`Begin k${plan.seed}.`);
	if (first.tool === "/subagent start") {
		await until("there is a session file", async () => existsSync(file) || undefined, 1);
		for (const agent of agents) await pi.command(`/subagent start ${presetOf(agent)}: ${taskOf(agent)}`);
	}
	await until(
		`all of k${plan.seed} are launched`,
		async () => (await launchesIn(file)).size >= agents.length || undefined,
		1,
	);
	if (sign !== "launched") {
		const isAsked = (request: RequestView) =>
			request.systemPrompt.includes("You are mortal.") && keyIn(request) === first.key && !mustWrite(first, request);
		await it.server.nextRequest(isAsked);
		if (sign !== "asked") {
			for (const { key, isInTime } of agents) if (isInTime) answers.get(key)?.open();
			await it.server.nextRequest((request) => isAsked(request) && request.answered);
		}
		if (sign !== "asked" && sign !== "answered")
			await until(`${first.key} has ${sign}`, async () => (await shows(sign, first, file)) || undefined, 1);
	}
	await delay(afterMs); // real time: the moment itself, not a wait for something
}

async function shows(sign: KillPlan["sign"], { key }: MortalPlan, file: string): Promise<boolean> {
	const entries = await tolerantLinesOf(file);
	const { launched, settled, told, closed } = accountOf(entries);
	const run = [...launched.values()].find(({ task }) => task.includes(`[${key}]`));
	const { runId = "", artifacts = "", isBackground = true, callId = "" } = run ?? {};
	if (sign === "settled") return settled.has(runId);
	if (sign === "told") return isBackground ? told.has(runId) || closed.has(runId) : callResults(entries).has(callId);
	if (artifacts === "") return settled.has(runId); // a run without files has no other sign
	if (sign === "filed") return existsSync(join(artifacts, "result.json"));
	return (await textOf(join(artifacts, "events.jsonl")))?.includes(`That is all of ${key}.`) ?? false;
}

/** A pi that gets a signal ends by itself; one whose input is closed as well ends at once. */
async function end(pi: StormPi, { way, isHurried }: KillPlan): Promise<void> {
	const { pid } = pi.rpc;
	if (way !== "quit" && pid !== undefined) {
		process.kill(pid, way);
		if (!isHurried) await until("pi has ended", () => !isRunning(pid) || undefined);
	}
	await pi.close();
}

async function judge(
	plan: KillPlan,
	{ it, pi, file }: Stage,
	before: ReadonlyMap<string, readonly { status: string }[]>,
): Promise<KillReport> {
	const runs = [...(await launchesIn(file)).values()];
	const agentOf = ({ task }: { task: string }) => plan.agents.find(({ key }) => task.includes(`[${key}]`));
	await until(`all of k${plan.seed} are told`, async () => {
		const account = accountOf(await tolerantLinesOf(file));
		return runs.every((run) => isAccountedFor(run, account)) || undefined;
	}).catch(() => undefined); // who is missing is said below
	// A turn of its own: what would be told twice comes before or after it.
	await pi.rpc.prompt(`Read ${runs.map(({ agentId }) => agentId).join(" ")}`);
	const read = it.server.requests.findLast(
		({ lastToolResults }) => lastToolResults.length === runs.length,
	)?.lastToolResults;
	const entries = await tolerantLinesOf(file);
	const account = accountOf(entries);
	const told = toldResults(entries);
	const results = callResults(entries);
	const found: string[] = [];
	let [completed, interrupted] = [0, 0];
	for (const [index, run] of runs.entries()) {
		const { runId, runner, isBackground, artifacts, callId = "" } = run;
		const { answer = "", runner: planned } = agentOf(run) ?? {};
		const say = (what: string) => void found.push(`${runId} ${what}`);
		if (runner !== planned) say(`has the ${runner} runner.`);
		const messages = told.filter((result) => result.runId === runId);
		const [message] = messages;
		const status = account.settled.get(runId)?.[0]?.status ?? message?.status;
		const known = before.get(runId)?.[0]?.status;
		if (known !== undefined && known !== status) say(`was ${known} before, and is ${status} now.`);
		if (message && message.status !== status) say(`is ${status}, and told as ${message.status}.`);
		const result = isBackground ? undefined : results.get(callId);
		const isClosed = account.closed.has(runId);
		// A stop is no result of a run that a call waits for.
		const isOwed = isBackground || status !== "aborted";
		const times = messages.length + (result || isClosed ? 1 : 0);
		if (times !== 1 && (isOwed || times > 0)) say(`is ${status}, and was told ${times} times.`);
		if (status !== "completed") {
			interrupted++;
			if (result && !result.isError) say(`is ${status}, but its call has an answer.`);
			continue;
		}
		completed++;
		const cut = message && (await cutAnswer(message, answer, entries));
		if (cut !== undefined) found.push(cut);
		if (result && !begins(result.text, answer)) say("is completed without its answer in the result of its call.");
		if (!begins(read?.[index]?.text ?? "", answer))
			say("is completed, and get_subagent_result does not give all of it.");
		if (answer.length > REPORT_CHARACTERS && answerAmong(entries, runId) !== answer)
			if ((await answerIn(`${artifacts}/result.json`)) !== answer)
				say("is completed, and nothing holds all of its answer.");
	}
	if (runs.length < plan.agents.length) found.push(`Only ${runs.length} of ${plan.agents.length} launches are known.`);
	return { plan, completed, interrupted, violations: found.map((what) => `${describeKill(plan)}: ${what}`) };
}

/** A report holds no more than that, and says where the rest is. */
const REPORT_CHARACTERS = 49_000;

function begins(text: string, answer: string): boolean {
	return text.includes(answer.slice(0, REPORT_CHARACTERS));
}

/** Whether the session knows how it ended, and the model does if it has to. */
function isAccountedFor(
	{ runId, isBackground, callId = "" }: { runId: string; isBackground: boolean; callId?: string },
	{ settled, told, closed, unanswered }: ReturnType<typeof accountOf>,
): boolean {
	if (told.has(runId) || closed.has(runId)) return true;
	const end = settled.get(runId)?.[0];
	return !isBackground && end !== undefined && (!unanswered.has(callId) || end.status === "aborted");
}

async function launchesIn(file: string) {
	return accountOf(await tolerantLinesOf(file)).launched;
}

function launchesOf({ plan }: Held): Reply {
	const isRead = plan.agents.some(({ tool }) => tool === "read");
	const calls = (isRead ? plan.agents.slice(0, 1) : plan.agents).flatMap((agent) => launchOf(agent) ?? []);
	// pi makes the file of a session with the first whole message of its model.
	return calls.length === 0 ? callTool("read", { path: "notes.txt" }) : callTools(...calls);
}

function launchOf(agent: MortalPlan): Reply | undefined {
	const [preset, task] = [presetOf(agent), taskOf(agent)];
	switch (agent.tool) {
		case "subagent":
			return callTool("subagent", { preset, task });
		case "Agent":
		case "read":
			return callTool("Agent", { prompt: task, description: `mortal ${agent.key}`, subagent_type: preset });
		case "start_subagent":
			return callTool("start_subagent", { role: preset, task });
		case "background_agent":
			return callTool("background_agent", { preset, task });
		case "/subagent start":
			return undefined;
	}
}

/** One call reads the result of the first agent, and another one of the same message waits for the second. */
function readsOf({ lastToolResults }: RequestView, { plan }: Held): Reply | undefined {
	const [first, second] = plan.agents;
	if (first?.tool !== "read" || !second) return undefined;
	const agent_id = /\bAgent (\S+)/.exec(lastToolResults[0]?.text ?? "")?.[1] ?? "";
	return callTools(callTool("get_subagent_result", { agent_id, wait: true }), launchOf(second) ?? say("?"));
}

function turnOf({ plan, turn }: Held): Reply {
	return plan.isBusy ? say("Busy until the end.", { gate: turn, chunksBeforeGate: 1 }) : say("They work.");
}

function mortalSays(request: RequestView, { plan, answers }: Held): Reply {
	const key = keyIn(request);
	const agent = plan.agents.find((each) => each.key === key);
	if (agent && mustWrite(agent, request)) return callTool("write", { path: `${key}.txt`, content: "I was here.\n" });
	const { answer = "" } = agent ?? {};
	const chunkSize = Math.max(2_000, Math.ceil(answer.length / 100));
	return say(answer, { gate: answers.get(key) ?? Promise.resolve(), chunksBeforeGate: 1, chunkSize });
}

/** One with its own checkout first changes something there. */
function mustWrite({ kind }: MortalPlan, { messages }: RequestView): boolean {
	return kind === "worktree" && !messages.some(({ role }) => role === "tool");
}

function reads(text: string): Reply {
	const ids = text
		.replace(/^.*Read /s, "")
		.trim()
		.split(/\s+/);
	return callTools(...ids.map((agent_id) => callTool("get_subagent_result", { agent_id })));
}

function presetOf({ runner, kind }: MortalPlan): string {
	return `mortal-${runner}-${kind}`;
}

function taskOf({ key }: MortalPlan): string {
	return `Answer at length. [${key}]`;
}

function taskIn({ messages }: RequestView): string {
	return messages.find(({ role, text }) => role === "user" && /\[k\d+a\d+\]/.test(text))?.text ?? "";
}

function keyIn(request: RequestView): string {
	return /\[(k\d+a\d+)\]/.exec(taskIn(request))?.[1] ?? "";
}
