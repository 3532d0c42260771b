/**
 * Who is ended, in real pi: an agent in the sandbox of docs/sandboxes.md writes into the files of its run that a process of
 * the user is its own, and nobody touches that process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, readlink, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import {
	all,
	callTool,
	converse,
	gatePis,
	hang,
	lastUserSays,
	type PiRpc,
	type PiTarget,
	requireTool,
	say,
	startRpc,
	systemPromptSays,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { footerSays, isRunning, processesOf, wrapperOf } from "../../support/detached.ts";
import { offerSandbox } from "../../support/sandbox.ts";
import { parentSays, scene } from "../../support/scene.ts";
import { fileOf, RUNNING, tells, theRun } from "../../support/visits.ts";

const preset = `---
name: stranger
description: tries things
model: fake/fake-1
tools: bash
launcher: offline
---
You are the stranger.
`;
const asStranger = systemPromptSays("You are the stranger.");
/** What a person does in a terminal, for pi without one. */
const reloads = `export default (pi) =>
	pi.registerCommand("again", { description: "reload", handler: (_args, ctx) => ctx.reload() });`;

/** Everything in its run's directory that ever named a process. It has not seen the processes outside; it was told. */
const forge = `cd "$PI_SUBAGENTS_RUN_DIR" || exit 1
rm -f wrapper.json && cp "$OLDPWD/wrapper.json" wrapper.json || exit 1
cat "$OLDPWD/child.jsonl" >> events.jsonl || exit 1
cp "$OLDPWD/owner.json" owner-9.json && echo forged`;

/** A process of the user that has nothing to do with agents, and what its identity would look like in a file. */
async function victim(): Promise<{ process: ChildProcess; identity: object }> {
	const process = spawn("sleep", ["100000"], { detached: true, stdio: "ignore" });
	onTestFinished(() => void process.kill("SIGKILL"));
	await once(process, "spawn");
	return { process, identity: await identityOf(process.pid ?? 0) };
}

async function identityOf(pid: number): Promise<object> {
	const stat = await readFile(`/proc/${pid}/stat`, "utf8");
	const born = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
	const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
	const space = await readlink("/proc/self/ns/pid");
	return { pid, born, host: hostname(), boot, space, uid: process.getuid?.() };
}

/** A sandboxed agent that outlives its session, has forged its files, and works for ever. */
async function forged() {
	const it = await scene(
		[
			when(lastUserSays("task-notification"), say("Noted.")),
			parentSays(callTool("background_agent", { preset: "stranger", task: "Try it." }), say("It is on its way.")),
			converse(asStranger, callTool("bash", { command: forge }), hang()),
		],
		{ agentFiles: { "agents/stranger.md": preset }, files: { "again.ts": reloads } },
	);
	const sandbox = await offerSandbox(it);
	onTestFinished(sandbox.close);
	const { process, identity } = await victim();
	const put = (name: string, value: object) => writeFile(join(it.env.cwd, name), `${JSON.stringify(value)}\n`);
	await put("wrapper.json", { type: "started", at: 1, ...identity });
	await put("child.jsonl", { type: "child_started", at: Date.now(), ...identity });
	await put("owner.json", { type: "owned", at: 1, ...identity });
	return { ...it, victim: process };
}

type Forged = Awaited<ReturnType<typeof forged>>;

/** Launches it, and resolves with its run when it has forged its files. */
async function launched(it: Forged, pi: PiRpc) {
	await pi.prompt("Please delegate.");
	const file = await fileOf(pi);
	const run = await theRun(file);
	const { lastToolResults } = await it.server.nextRequest(all(asStranger, ({ turn }) => turn === 2));
	expect(lastToolResults[0]?.text).toContain("forged");
	expect(await wrapperOf(run)).toBe(it.victim.pid);
	return { file, run, wrapper: await realWrapperOf(run.artifacts) };
}

/** The process that really is the wrapper: it was given the run's directory as an argument. */
async function realWrapperOf(artifacts: string): Promise<number> {
	return until("the wrapper is among the processes", async () => {
		for (const pid of await processesOf({ artifacts })) {
			const words = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
			if (words.split("\0")[1]?.endsWith("wrapper.js")) return pid;
		}
		return undefined;
	});
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

describe.skipIf(!requireTool("bwrap")).each(await gatePis())(
	"pi $version: a process that a forged file names",
	(pi) => {
		const target = (it: Forged, more: Partial<PiTarget> = {}): PiTarget => ({
			env: it.env,
			pi,
			extensions: ["again.ts"],
			...more,
		});

		test("lives when the agent is stopped after a reload and does not obey; what really runs the agent is killed", async () => {
			await using it = await forged();
			await using rpc = startRpc(target(it));
			const { file, run, wrapper } = await launched(it, rpc);
			const from = rpc.events.length;
			await rpc.send({ type: "prompt", message: "/again" });
			await footerSays(rpc, RUNNING, { from });
			process.kill(wrapper, "SIGSTOP"); // it hears no order any more
			await rpc.send({ type: "prompt", message: "/subagent stop" });
			await run.hasEnded();
			await until("its wrapper is gone", async () => !isRunning(wrapper) || undefined);
			await until("its processes are gone", async () => (await left(it, run.artifacts)).length === 0 || undefined);
			await tells(file, { status: "aborted", preview: "" });
			expect(hasEnded(it.victim)).toBe(false);
		});

		test("lives when pi and the agent were killed and the session is opened again, and the agent counts as lost", async () => {
			await using it = await forged();
			const first = startRpc(target(it));
			const { file, run, wrapper } = await launched(it, first);
			process.kill(first.pid ?? 0, "SIGKILL");
			await first.close();
			process.kill(wrapper, "SIGKILL");
			await using second = startRpc(target(it, { args: ["--session", file] }));
			await run.hasEnded();
			await tells(file, { status: "aborted", preview: "" });
			await until("its processes are gone", async () => (await left(it, run.artifacts)).length === 0 || undefined);
			expect(await second.send({ type: "get_state" })).toMatchObject({ success: true });
			expect(hasEnded(it.victim)).toBe(false);
		});
	},
);

/** Its processes, without the one that it claims. */
async function left({ victim: { pid = 0 } }: Forged, artifacts: string): Promise<number[]> {
	return (await processesOf({ artifacts })).filter((each) => each !== pid);
}
