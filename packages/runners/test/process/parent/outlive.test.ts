import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { callTool, createGate, say } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { ChildEvent } from "../../../../core/src/index.ts";
import type { ProcessIdentity } from "../../../../core/src/signals/identity.ts";
import { identityOf, isAlive } from "../../../../core/src/signals/identity.ts";
import { claimRun, RUN_FILES, readResult } from "../../../../runs/src/index.ts";
import { parseEvent } from "../../../../runs/src/read.ts";
import { processRunner } from "../../../src/process/index.ts";
import { type ProcessWorld, processWorld } from "../../fixtures/process-world.ts";

/** Another process that starts the world's run. */
function parentOf({ options, spec }: ProcessWorld, { detaches = false } = {}) {
	const script = fileURLToPath(new URL("./launching-parent.ts", import.meta.url));
	const { isProjectTrusted: _, ...plain } = options;
	const child = spawn(
		process.execPath,
		[
			"--conditions=@pi-subagents/source",
			"--disable-warning=ExperimentalWarning",
			script,
			JSON.stringify({ options: plain, spec: { ...spec, outlives: true }, detaches }),
		],
		{ stdio: ["pipe", "pipe", "inherit"] },
	);
	const exited = once(child, "exit");
	onTestFinished(() => void child.kill("SIGKILL"));
	return { child, exited };
}

async function eventsIn(dir: string) {
	const lines = (await readFile(join(dir, RUN_FILES.events), "utf8")).split("\n");
	return lines.flatMap((line) => parseEvent(line) ?? []);
}

async function childIn(dir: string): Promise<ProcessIdentity> {
	const started = (await eventsIn(dir)).find((event) => event.type === "child_started");
	if (!started) throw new Error("pi was not started");
	return started as unknown as ProcessIdentity;
}

async function childEventsIn(dir: string): Promise<ChildEvent[]> {
	const isOfWrapper = /^(?:agent_.*|child_started|question|question_over|checkpoint|notice)$/;
	return (await eventsIn(dir))
		.filter(({ type }) => !isOfWrapper.test(type))
		.map(({ at: _at, seq: _order, ...event }) => event as ChildEvent);
}

const placeOf = ({ options, spec }: ProcessWorld) => ({ agentDir: options.agentDir, runDir: spec.artifacts });

function rejoin({ options, spec }: ProcessWorld) {
	const events: ChildEvent[] = [];
	const run = processRunner(options).attach?.({ ...spec, outlives: true }, (event) => void events.push(event));
	if (!run) throw new Error("cannot attach");
	return { run, events };
}

/** Looks around when told to, then answers. */
async function working() {
	const gate = createGate();
	const world = await processWorld(({ messages }) =>
		messages.some(({ role }) => role === "tool") ? say("All done.", { gate }) : callTool("ls", { path: "." }),
	);
	onTestFinished(() => world[Symbol.asyncDispose]());
	return { world, gate };
}

test("a run outlives a parent that is killed, and whoever claims it hears everything", async () => {
	const { world, gate } = await working();
	const parent = parentOf(world);
	await world.server.nextRequest(({ number }) => number === 2);
	expect(await claimRun(placeOf(world))).toMatchObject({ isOurs: false, owner: { pid: parent.child.pid } });
	parent.child.kill("SIGKILL");
	await parent.exited;
	expect(await claimRun(placeOf(world), { sessionId: "next" })).toEqual({ isOurs: true });
	const { run, events } = rejoin(world);
	await expect.poll(() => events.map(({ type }) => type)).toContain("tool_result");
	gate.open();
	expect(await run.settled).toEqual({ status: "completed", text: "All done." });
	expect(events).toEqual(await childEventsIn(world.spec.artifacts));
	expect(events.at(-1)).toEqual({ type: "idle" });
	expect(await isAlive(await childIn(world.spec.artifacts))).toBe(false);
});

test("a run that was let go of does not keep its parent, ends by itself, and tells how when it is rejoined", async () => {
	const { world, gate } = await working();
	const parent = parentOf(world, { detaches: true });
	await world.server.nextRequest(({ number }) => number === 2);
	parent.child.stdin.write("let go");
	expect(await parent.exited).toEqual([0, null]);
	const child = await childIn(world.spec.artifacts);
	expect(await isAlive(child)).toBe(true);
	gate.open();
	await expect.poll(() => readResult(world.spec.artifacts)).toBeDefined();
	expect(await claimRun(placeOf(world))).toEqual({ isOurs: true });
	const { run, events } = rejoin(world);
	expect(await run.settled).toEqual({ status: "completed", text: "All done." });
	expect(events).toEqual(await childEventsIn(world.spec.artifacts));
	expect(await isAlive(child)).toBe(false);
});

test("a run whose wrapper is killed is lost with what it had said, and nothing of it is left", async () => {
	const command = "echo $$ > pid; exec sleep 1000";
	const world = await processWorld(() => ({ ...callTool("bash", { command }), text: "I wait." }));
	onTestFinished(() => world[Symbol.asyncDispose]());
	const run = processRunner(world.options).start(world.spec, () => undefined);
	const tool = await expect
		.poll(() => readFile(join(world.spec.cwd, "pid"), "utf8").catch(() => ""))
		.not.toBe("")
		.then(async () => identityOf(Number(await readFile(join(world.spec.cwd, "pid"), "utf8"))));
	const left = [await childIn(world.spec.artifacts), tool];
	expect(await Promise.all(left.map(isAlive))).toEqual([true, true]);
	const wrapper = JSON.parse(await readFile(join(world.spec.artifacts, RUN_FILES.wrapper), "utf8"));
	process.kill(wrapper.pid, "SIGKILL");
	expect(await run.settled).toEqual({
		status: "aborted",
		by: "lost",
		reason: "it was killed by SIGKILL",
		partialText: "I wait.",
	});
	expect(await Promise.all(left.map(isAlive))).toEqual([false, false]);
});
