/**
 * The kill loop: pi ends at a moment and in a way that a seed gives, while its agents answer; the session is opened
 * again, and every answer must be there once and whole.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
	all,
	callTool,
	callTools,
	converse,
	createGate,
	type Gate,
	lastUserSays,
	offersTool,
	type Reply,
	type RequestView,
	say,
	systemPromptSays,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { textOf } from "../support/detached.ts";
import { watcher } from "../support/extensions/watcher.ts";
import { type Scene, scene } from "../support/scene.ts";
import { tolerantLinesOf } from "./files.ts";
import { describeKill, type KillPlan, type MortalPlan } from "./kill-plan.ts";
import { accountOf } from "./oracle.ts";
import { spy } from "./spy.ts";
import { StormPi } from "./storm-pi.ts";
import { cutAnswer, toldResults } from "./wholeness.ts";

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

const preset = (name: string, runner: string) => `---
name: ${name}
description: Answers
model: fake/fake-1
tools: read
runner: ${runner}
---
You are mortal.
`;

/** What is held back in a round. */
interface Held {
	plan: KillPlan;
	answers: Map<string, Gate>;
	turn: Gate;
}

export async function startKills(): Promise<Kills> {
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
			// The user's own: a project that nobody trusts has no say in how agents run.
			agentFiles: {
				"agents/mortal-session.md": preset("mortal-session", "session"),
				"agents/mortal-process.md": preset("mortal-process", "process"),
				"subagents.json": JSON.stringify({ maxConcurrent: 8 }),
			},
		},
	);
	let pi = new StormPi(it.env);
	return {
		async run(plan) {
			const answers = new Map(plan.agents.map(({ key }) => [key, createGate()]));
			const held: Held = { plan, answers, turn: createGate() };
			rounds.set(plan.seed, held);
			await pi.rpc.send({ type: "new_session" });
			const file = await pi.sessionFile();
			await play(held, { it, pi, file });
			await end(pi, plan.way);
			for (const gate of [...answers.values(), held.turn]) gate.open();
			const before = accountOf(await tolerantLinesOf(file));
			pi = new StormPi(it.env, { args: ["--session", file] });
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
			request.systemPrompt.includes("You are mortal.") && keyIn(request) === first.key;
		await it.server.nextRequest(isAsked);
		if (sign !== "asked") {
			for (const { key, isInTime } of agents) if (isInTime) answers.get(key)?.open();
			await it.server.nextRequest((request) => isAsked(request) && request.answered);
		}
		if (sign !== "asked" && sign !== "answered")
			await until(`${first.key} has ${sign}`, async () => (await shows(sign, first, file)) || undefined, 1);
	}
	await delay(afterMs); // the moment itself, not a wait for something
}

async function shows(sign: KillPlan["sign"], { key, answer }: MortalPlan, file: string): Promise<boolean> {
	const entries = await tolerantLinesOf(file);
	const { launched, settled, told } = accountOf(entries);
	const { runId = "", artifacts = "" } = [...launched.values()].find(({ task }) => task.includes(`[${key}]`)) ?? {};
	if (sign === "settled") return settled.has(runId);
	if (sign === "told") return told.has(runId);
	if (artifacts === "") return settled.has(runId); // a run without files has no other sign
	if (sign === "filed") return existsSync(join(artifacts, "result.json"));
	return (await textOf(join(artifacts, "events.jsonl")))?.includes(answer.slice(-20)) ?? false;
}

async function end(pi: StormPi, way: KillPlan["way"]): Promise<void> {
	if (way !== "quit" && pi.rpc.pid !== undefined) process.kill(pi.rpc.pid, way);
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
		const told = new Set(toldResults(await tolerantLinesOf(file)).map(({ runId }) => runId));
		return runs.every(({ runId }) => told.has(runId)) || undefined;
	}).catch(() => undefined); // who is missing is said below
	// A turn of its own: what would be told twice comes before or after it.
	await pi.rpc.prompt(`Read ${runs.map(({ agentId }) => agentId).join(" ")}`);
	const read = it.server.requests.findLast(
		({ lastToolResults }) => lastToolResults.length === runs.length,
	)?.lastToolResults;
	const entries = await tolerantLinesOf(file);
	const told = toldResults(entries);
	const found: string[] = [];
	let [completed, interrupted] = [0, 0];
	for (const [index, run] of runs.entries()) {
		const results = told.filter(({ runId }) => runId === run.runId);
		const answer = agentOf(run)?.answer ?? "";
		if (results.length !== 1) found.push(`${run.runId} was told ${results.length} times.`);
		if (run.runner !== agentOf(run)?.runner) found.push(`${run.runId} has the ${run.runner} runner.`);
		const [result] = results;
		if (!result) continue;
		const known = before.get(run.runId)?.[0]?.status;
		if (known !== undefined && known !== result.status)
			found.push(`${run.runId} was ${known} before, and told as ${result.status}.`);
		if (result.status !== "completed") {
			interrupted++;
			continue;
		}
		completed++;
		const cut = await cutAnswer(result, answer, entries);
		if (cut !== undefined) found.push(cut);
		if (!read?.[index]?.text.includes(answer)) found.push(`${run.runId}: get_subagent_result does not give all of it.`);
	}
	if (runs.length < plan.agents.length) found.push(`Only ${runs.length} of ${plan.agents.length} launches are known.`);
	return { plan, completed, interrupted, violations: found.map((what) => `${describeKill(plan)}: ${what}`) };
}

async function launchesIn(file: string) {
	return accountOf(await tolerantLinesOf(file)).launched;
}

function launchesOf({ plan }: Held): Reply {
	const calls = plan.agents.flatMap((agent) => launchOf(agent) ?? []);
	// pi makes the file of a session with the first whole message of its model.
	return calls.length === 0 ? callTool("read", { path: "notes.txt" }) : callTools(...calls);
}

function launchOf(agent: MortalPlan): Reply | undefined {
	const [preset, task] = [presetOf(agent), taskOf(agent)];
	switch (agent.tool) {
		case "Agent":
			return callTool("Agent", { prompt: task, description: `mortal ${agent.key}`, subagent_type: preset });
		case "start_subagent":
			return callTool("start_subagent", { role: preset, task });
		case "background_agent":
			return callTool("background_agent", { preset, task });
		case "/subagent start":
			return undefined;
	}
}

function turnOf({ plan, turn }: Held): Reply {
	return plan.isBusy ? say("Busy until the end.", { gate: turn, chunksBeforeGate: 1 }) : say("They work.");
}

function mortalSays(request: RequestView, { plan, answers }: Held): Reply {
	const key = keyIn(request);
	const { answer = "" } = plan.agents.find((agent) => agent.key === key) ?? {};
	return say(answer, { gate: answers.get(key) ?? Promise.resolve(), chunksBeforeGate: 1, chunkSize: 2_000 });
}

function reads(text: string): Reply {
	const ids = text
		.replace(/^.*Read /s, "")
		.trim()
		.split(/\s+/);
	return callTools(...ids.map((agent_id) => callTool("get_subagent_result", { agent_id })));
}

function presetOf({ runner }: MortalPlan): string {
	return `mortal-${runner}`;
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
