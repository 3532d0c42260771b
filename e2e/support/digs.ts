/**
 * Detached runs that can be held at a known point of their life: a parent that launches a digger for each name it is
 * given, and diggers that stream, run a tool or have just answered for as long as the test wants.
 */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	callTool,
	callTools,
	converse,
	createGate,
	type Gate,
	lastUserSays,
	offersTool,
	type PiRpc,
	type RequestView,
	say,
	startRpc,
	startTui,
	systemPromptSays,
	until,
} from "@pi-subagents-dev/testkit";
import { answerOf } from "../storm/kill-plan.ts";
import { type childOf, isRunning, type Launched, launchesIn, textOf, wrapperOf } from "./detached.ts";
import { type Scene, scene } from "./scene.ts";

/** Where a run is held. One that is held at its launch goes on by itself. */
export type Phase = "launch" | "stream" | "tool" | "settle";

export interface Dig {
	name: string;
	phase: Phase;
	answer: string;
	gate: Gate;
}

export interface Digs extends Scene {
	/** Says what the run of this name will do. */
	plan(name: string, phase: Phase): Dig;
	/** A pi of its own, with a session directory of its own. */
	parent(session: string, options?: { mode?: "rpc" | "tui" }): Promise<Parent>;
	/** Resolves when the run is where it is to be held. */
	reach(dig: Dig, run: Launched): Promise<void>;
	/** Lets it go on to its end. */
	release(dig: Dig, run: Launched): Promise<void>;
	/** Whether the model was ever asked on behalf of the run. */
	hasAsked(dig: Dig): boolean;
}

interface Parent {
	pid: number;
	/** Says something to it, without waiting for what comes of it. */
	say(text: string): Promise<void>;
	/** The run of this name, as soon as the session's file knows of it. */
	launched(dig: Dig): Promise<Launched>;
	/** Resolves when its process is gone. */
	gone(): Promise<void>;
}

/** What a digger says before its first tool. */
export const FIRST_WORDS = "Looking around.";

const preset = `---
name: digger
description: Digs
model: fake/fake-1
tools: read,bash
---
You are the digger.
`;

/** Something short, or more than a preview, a message or an entry of the session holds: by the name, and always the same. */
function foundAt(name: string, phase: Phase): string {
	// Who settles has a wrapper that reads nothing: more than a pipe holds would keep it from answering.
	const lengths = phase === "settle" ? [60] : [60, 2_000, 10_000, 40_000];
	const sum = [...name].reduce((total, letter) => total + letter.charCodeAt(0), 0);
	return answerOf(name, lengths[sum % lengths.length] ?? 60);
}

export async function digs(): Promise<Digs> {
	const planned = new Map<string, Dig>();
	const digOf = ({ lastUserText }: RequestView): Dig => {
		const dig = planned.get(/Dig at (\w+)/.exec(lastUserText)?.[1] ?? "");
		if (!dig) throw new Error(`nobody planned: ${lastUserText}`);
		return dig;
	};
	const launches = ({ lastUserText }: RequestView) => {
		const names = [...planned.keys()].filter((name) => lastUserText.split(/\W/).includes(name));
		return callTools(
			...names.map((name) => callTool("background_agent", { preset: "digger", task: `Dig at ${name}` })),
		);
	};
	const it = await scene(
		[
			converse(all(offersTool("background_agent"), lastUserSays("delegate")), launches, say("They dig.")),
			converse(
				systemPromptSays("You are the digger."),
				(request) => begins(digOf(request)),
				(request) => ends(digOf(request)),
			),
		],
		{ files: { ".pi/subagents/digger.md": preset } },
	);
	const stopped = new Set<number>();
	it.env.onCleanup(async () => {
		for (const pid of stopped) if (isRunning(pid)) process.kill(pid, "SIGCONT"); // or it would stay for ever
	});
	const isAsking = (dig: Dig) => (request: RequestView) =>
		request.systemPrompt.includes("You are the digger.") && digOf(request) === dig;
	return {
		...it,
		plan(name, phase) {
			const dig = {
				name,
				phase,
				gate: createGate(),
				answer: foundAt(name, phase),
			};
			planned.set(name, dig);
			return dig;
		},
		parent: (session, { mode = "rpc" } = {}) => startParent(it, session, mode),
		async reach(dig, run) {
			if (dig.phase === "tool")
				await until(`${dig.name} runs its tool`, () => textOf(join(it.env.cwd, `began-${dig.name}`)));
			if (dig.phase !== "stream" && dig.phase !== "settle") return;
			await it.server.nextRequest((request) => isAsking(dig)(request) && request.turn === 2);
			if (dig.phase === "stream") return;
			// Without the wrapper a child that has answered can do nothing.
			const wrapper = await pidOf(run, wrapperOf);
			process.kill(wrapper, "SIGSTOP");
			stopped.add(wrapper);
			dig.gate.open();
			const conversation = join(run.artifacts, "child-session.jsonl");
			await until(
				`${dig.name} has answered`,
				async () => (await textOf(conversation))?.includes(JSON.stringify(dig.answer).slice(1, -1)) || undefined,
			);
		},
		async release(dig, run) {
			if (dig.phase === "tool") await writeFile(join(it.env.cwd, `go-${dig.name}`), "");
			if (dig.phase === "stream") dig.gate.open();
			if (dig.phase === "settle") process.kill(await pidOf(run, wrapperOf), "SIGCONT");
		},
		hasAsked: (dig) => it.server.requests.some(isAsking(dig)),
	};
}

function begins(dig: Dig) {
	if (dig.phase === "launch") return say(dig.answer);
	// Should nobody end it, it does so itself.
	const wait = `touch began-${dig.name}; for i in $(seq 900); do [ -e go-${dig.name} ] && break; sleep 0.1; done`;
	const tool = dig.phase === "tool" ? callTool("bash", { command: wait }) : callTool("read", { path: "notes.txt" });
	return { ...tool, text: FIRST_WORDS };
}

function ends(dig: Dig) {
	return dig.phase === "tool" ? say(dig.answer) : say(dig.answer, { gate: dig.gate, chunksBeforeGate: 1 });
}

async function startParent({ env }: Scene, name: string, mode: "rpc" | "tui"): Promise<Parent> {
	const sessions = join(env.root, "sessions", name);
	const target = { env, args: ["--session-dir", sessions] };
	const launched = (dig: Dig) =>
		until(
			`the session knows of ${dig.name}`,
			async () => {
				const file = await sessionIn(sessions);
				const runs = file === undefined ? [] : await launchesIn(file);
				return runs.find(({ task }) => task === `Dig at ${dig.name}`);
			},
			1,
		);
	if (mode === "rpc") {
		const rpc = startRpc(target);
		return {
			pid: numberOf(rpc),
			say: async (message) => void (await rpc.send({ type: "prompt", message })),
			launched,
			gone: async () => void (await rpc.close()),
		};
	}
	const tui = await startTui(target);
	return {
		pid: tui.pid,
		async say(message) {
			tui.submit(message);
		},
		launched,
		gone: async () => void (await tui.exit),
	};
}

/** The one session in a directory, if it is there yet. */
export async function sessionIn(dir: string): Promise<string | undefined> {
	const [name] = await readdir(dir).catch(() => []);
	return name === undefined ? undefined : join(dir, name);
}

/** A process that is needed now, and there soon. */
export function pidOf(run: Launched, find: typeof wrapperOf | typeof childOf): Promise<number> {
	return until(`a process of run ${run.runId} is there`, () => find(run), 5);
}

function numberOf({ pid }: PiRpc): number {
	if (pid === undefined) throw new Error("pi could not be started");
	return pid;
}
