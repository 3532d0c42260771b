import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
	callTool,
	createGate,
	hang,
	type RequestView,
	requireTool,
	say,
	startTerminal,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import type { RunIdentity, RunSpec } from "../../../core/src/index.ts";
import { readResult } from "../../../runs/src/index.ts";
import { parseEvent } from "../../../runs/src/read.ts";
import { type TmuxRunnerOptions, tmuxRunner } from "../../src/tmux/index.ts";
import { type TmuxWorld, tmuxWorld } from "../fixtures/tmux-world.ts";

const hasUsedTool = ({ messages }: RequestView) => messages.some(({ role }) => role === "tool");

interface Given {
	spec?: Partial<RunSpec & RunIdentity>;
	options?: Partial<TmuxRunnerOptions>;
}

function start({ options, spec }: TmuxWorld, given: Given = {}) {
	const hints: string[] = [];
	const reports: string[] = [];
	const runner = tmuxRunner({
		...options,
		onWindow: (hint) => void hints.push(hint),
		report: (message) => void reports.push(message),
		...given.options,
	});
	return { run: runner.start({ ...spec, ...given.spec }, () => undefined), runner, hints, reports };
}

async function wrapperPid({ spec }: TmuxWorld): Promise<number> {
	return JSON.parse(await readFile(join(spec.artifacts, "wrapper.json"), "utf8")).pid;
}

describe.skipIf(!requireTool("tmux"))("a run in a tmux window", () => {
	test("is watched by whoever follows the hint, until its end was read", async () => {
		const gate = createGate();
		await using world = await tmuxWorld((request) =>
			hasUsedTool(request) ? say("All seen.") : callTool("ls", { path: "." }, { gate }),
		);
		const { run, hints } = start(world);
		await world.server.nextRequest();
		const [program = "", ...args] = /`(.*)`/.exec(hints[0] ?? "")?.[1]?.split(" ") ?? [];
		await using terminal = startTerminal([program, ...args], { variables: world.variables });
		await terminal.waitForText("Agent a1 (scout): Look around and report.");
		gate.open();
		await terminal.waitForText("Listing .");
		await terminal.waitForText("All seen.");
		await terminal.waitForText("Press Enter to close this window.");
		expect(await run.settled).toEqual({ status: "completed", text: "All seen." });
		terminal.press("enter");
		await terminal.exit;
		expect(await world.windows()).toEqual([]);
	});

	test.each([
		["its window is closed", ["kill-window", "-t", "pi-subagents:0"]],
		["its server is ended", ["kill-server"]],
	])("is stopped by the user when %s", async (_how, command) => {
		await using world = await tmuxWorld(() => hang());
		const { run } = start(world);
		await world.server.nextRequest();
		await world.tmux(...command);
		const outcome = { status: "aborted", by: "user", reason: "its window was closed" };
		expect(await run.settled).toEqual(outcome);
		expect(await readResult(world.spec.artifacts)).toMatchObject({ writtenBy: "wrapper", outcome });
		await world.server.nextRequest(({ aborted }) => aborted);
	});

	test("is stopped by the user with Ctrl+C", async () => {
		await using world = await tmuxWorld(() => hang());
		const { run } = start(world);
		await world.server.nextRequest();
		await world.tmux("send-keys", "-t", "pi-subagents:0", "C-c");
		expect(await run.settled).toEqual({ status: "aborted", by: "user", reason: "Ctrl+C in its window" });
		await expect.poll(world.windows).toEqual([]);
	});

	test("goes on when somebody presses Ctrl+S in its window", async () => {
		const gate = createGate();
		await using world = await tmuxWorld((request) =>
			hasUsedTool(request) ? say("All seen.") : callTool("ls", { path: "." }, { gate }),
		);
		const { run } = start(world);
		await world.server.nextRequest();
		await world.tmux("send-keys", "-t", "pi-subagents:0", "C-s");
		gate.open();
		expect(await run.settled).toEqual({ status: "completed", text: "All seen." });
	});

	test("tells its result at once also when its directory cannot hold it", async () => {
		await using world = await tmuxWorld(() => hang());
		const { run } = start(world);
		await world.server.nextRequest();
		const events = (await readFile(join(world.spec.artifacts, "events.jsonl"), "utf8")).split("\n");
		await rename(world.spec.artifacts, `${world.spec.artifacts}.moved`);
		await writeFile(world.spec.artifacts, "");
		const pi = events.map((line) => parseEvent(line)).find((event) => event?.type === "child_started");
		process.kill((pi as { pid: number }).pid, "SIGKILL");
		expect(await run.settled).toMatchObject({ status: "failed", error: expect.stringContaining("ended by SIGKILL") });
		// The result is kept in pi's own directory, so the window stays for its reader as after any run.
		await world.tmux("send-keys", "-t", "pi-subagents:0", "Enter");
		await expect.poll(world.windows).toEqual([]);
	});

	test("takes its window with it when it is stopped, and the server with the last one", async () => {
		await using world = await tmuxWorld(() => hang());
		const { run } = start(world);
		await world.server.nextRequest();
		run.abort({ by: "parent" });
		expect(await run.settled).toEqual({ status: "aborted", by: "parent" });
		await expect.poll(() => world.tmux("list-sessions").catch(String)).toMatch(/no server running|connecting/);
	});

	test("is lost when its process is killed, and its pi ends", async () => {
		await using world = await tmuxWorld(() => hang());
		const { run } = start(world);
		await world.server.nextRequest();
		process.kill(await wrapperPid(world), "SIGKILL");
		expect(await run.settled).toMatchObject({ status: "aborted", by: "lost" });
		await world.server.nextRequest(({ aborted }) => aborted);
	});

	test("ends when whoever waits for it is gone", async () => {
		await using world = await tmuxWorld(() => hang());
		const { run } = start(world);
		await world.server.nextRequest();
		run.detach?.();
		await expect
			.poll(() => readResult(world.spec.artifacts))
			.toMatchObject({ outcome: { status: "aborted", by: "lost" } });
		await expect.poll(world.windows).toEqual([]);
	});

	test("that outlives its parent goes on, and can be rejoined", async () => {
		const gate = createGate();
		await using world = await tmuxWorld(() => say("Still here.", { gate }));
		const spec = { ...world.spec, outlives: true };
		const { run, runner } = start(world, { spec });
		await world.server.nextRequest();
		run.detach?.();
		const rejoined = runner.attach?.(spec, () => undefined);
		gate.open();
		expect(await rejoined?.settled).toEqual({ status: "completed", text: "Still here." });
	});

	test("runs beside others, each in its window, whoever is first", async () => {
		await using world = await tmuxWorld(({ lastUserText }) => say(`Done: ${lastUserText}`));
		const runs = ["one", "two", "three"].map((agentId) => {
			const artifacts = `${world.env.root}/runs/${agentId}`;
			return start(world, { spec: { agentId, artifacts, task: agentId, description: agentId } });
		});
		const texts = ["one", "two", "three"].map((text) => ({ status: "completed", text: `Done: ${text}` }));
		expect(await Promise.all(runs.map(({ run }) => run.settled))).toEqual(texts);
		expect((await world.windows()).sort()).toEqual(["scout: one", "scout: three", "scout: two"]);
		expect(await world.tmux("list-sessions", "-F", "#{session_name}")).toBe("pi-subagents\n");
		expect(new Set(runs.flatMap(({ hints }) => hints)).size).toBe(3);
	});

	test("has the environment of its parent, which nobody else gets to see", async () => {
		await using world = await tmuxWorld((request) =>
			hasUsedTool(request)
				? say(`It is ${request.lastToolResults[0]?.text.trim()}.`, { gate })
				: callTool("bash", { command: "printenv SECRET_KEY" }),
		);
		const gate = createGate();
		const env = { ...world.options.env, SECRET_KEY: "open sesame;\n'$HOME'" };
		const { run } = start(world, { options: { env } });
		await world.server.nextRequest(hasUsedTool);
		const { stdout: processes } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "args="]);
		expect(processes).toContain(world.spec.artifacts);
		const [global, session] = [["-g"], ["-t", "pi-subagents"]].map((of) => world.tmux("show-environment", ...of));
		for (const seen of [processes, await global, await session]) expect(seen).not.toContain("sesame");
		const [, ...behind] = processes.split(`${world.spec.artifacts} `);
		const [socket = ""] = behind.flatMap((words) => /^\/.*?\/tie\b/.exec(words) ?? []);
		expect(socket).toContain("pi-subagents-");
		expect(existsSync(socket)).toBe(false);
		gate.open();
		expect(await run.settled).toEqual({ status: "completed", text: "It is open sesame;\n'$HOME'." });
	});

	test("opens beside the window of a user who works in tmux, without getting in the way", async () => {
		await using world = await tmuxWorld(() => hang());
		const { socket, ...inTmux } = await world.openUsersTmux();
		const { run, hints } = start(world, { options: { env: { ...world.options.env, ...inTmux } } });
		await world.server.nextRequest();
		const format = "#{window_index} #{window_name} #{window_active}";
		expect(await world.tmux("-S", socket, "list-windows", "-F", format)).toBe("0 editor 1\n1 scout: look around 0\n");
		expect(hints).toEqual(["scout: look around runs in window 1 of your tmux session work."]);
		await world.tmux("-S", socket, "kill-window", "-t", "work:1");
		expect(await run.settled).toMatchObject({ status: "aborted", by: "user", reason: "its window was closed" });
		expect(await world.windows()).toEqual([]);
	});

	test("opens in a server of ours when the user's tmux is gone", async () => {
		await using world = await tmuxWorld(() => say("Done."));
		const env = { ...world.options.env, TMUX: `${world.env.root}/gone,1,0`, TMUX_PANE: "%0" };
		const { run } = start(world, { options: { env } });
		expect(await run.settled).toEqual({ status: "completed", text: "Done." });
		expect(await world.windows()).toEqual(["scout: look around"]);
	});
});
