import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requireTool, say, startTerminal } from "@pi-subagents-dev/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { identityOf, isAlive } from "../../../core/src/signals/identity.ts";
import { readResult } from "../../../runs/src/index.ts";
import { assertTmuxRuns } from "../../src/tmux/command.ts";
import { tmuxRunner } from "../../src/tmux/index.ts";
import { hintFor, openWindow, windowName } from "../../src/tmux/window.ts";
import { hastyClock } from "../fixtures/hasty-clock.ts";
import { tmuxWorld } from "../fixtures/tmux-world.ts";

test("Windows has none, and the user reads what to do", () => {
	expect(() => assertTmuxRuns("win32")).toThrow("Run the agent without a window (`runner: process`)");
	for (const platform of ["linux", "darwin"] as const) assertTmuxRuns(platform);
});

describe("a window's name", () => {
	test.each([
		["scout: look around", "scout: look around"],
		["#(touch /tmp/x)", "touch tmp x"],
		["#{pane_pid}#[fg=red]", "pane_pid fg red"],
		["one\ntwo\x1b[31m;", "one two"],
		["Grüße, 世界", "Grüße, 世界"],
		["x".repeat(100), "x".repeat(32)],
		["#", "agent"],
	])("of %j is %j", (title, name) => {
		expect(windowName(title)).toBe(name);
	});

	test("is one short line of words, whatever the title", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), (title) => {
				expect(windowName(title)).toMatch(/^[\p{L}\p{M}\p{N}.,:_-][\p{L}\p{M}\p{N} .,:_-]{0,31}$/u);
			}),
		);
	});
});

test("a hint is one clean line", () => {
	expect(hintFor("a\nb\x1b]0;x\x07", { index: "1", session: "w\x1b[31mork" })).toBe(
		"a b runs in window 1 of your tmux session work.",
	);
});

describe.skipIf(!requireTool("tmux"))("with a real tmux", () => {
	test.each([
		"#(touch owned)",
		"#{l:x}#[fg=red]#(touch owned)",
		"; run-shell 'touch owned' ;",
		"$(touch owned)`touch owned`",
		"\\; run-shell 'touch owned'\n",
	])("%j in a title, a directory or an argument is text", async (word) => {
		await using world = await tmuxWorld(() => say("Done."));
		const cwd = join(world.env.root, word);
		await mkdir(cwd);
		const script = "fs.writeFileSync('args', JSON.stringify(process.argv.slice(1))); setInterval(() => {}, 1e6)";
		const words = [word, `${word};`, `${word}\\;`, "", "~", "%0", "{"];
		const argv = [process.execPath, "-e", script, "--", ...words];
		await openWindow({ argv, cwd, env: world.variables, title: word });
		// Only for somebody who looks does tmux draw the names of its windows.
		await using terminal = startTerminal(["tmux", "-L", "pi-subagents", "attach"], { variables: world.variables });
		await terminal.waitForText(`0:${windowName(word)}`);
		await expect.poll(() => readdir(cwd)).toEqual(["args"]);
		await expect.poll(async () => JSON.parse(await readFile(join(cwd, "args"), "utf8"))).toEqual(words);
		expect((await readdir(world.env.root, { recursive: true })).filter((path) => path.endsWith("owned"))).toEqual([]);
	});

	test("windows that many open at once are all in one session", async () => {
		await using world = await tmuxWorld(() => say("Done."));
		const order = { argv: ["sleep", "1000"], cwd: world.env.cwd, env: world.variables };
		await Promise.all(Array.from({ length: 12 }, (_, index) => openWindow({ ...order, title: `w${index}` })));
		expect(await world.windows()).toHaveLength(12);
		expect(await world.tmux("list-sessions", "-F", "#{session_name}")).toBe("pi-subagents\n");
	});

	test("a wrapper that hears nothing is killed, and its window is gone", async () => {
		await using world = await tmuxWorld(() => say("Done."));
		const wrapper = join(world.env.root, "deaf.mjs");
		await writeFile(
			wrapper,
			`import { connect } from "node:net";
			for (const signal of ["SIGHUP", "SIGTERM", "SIGINT"]) process.on(signal, () => {});
			import { writeFileSync } from "node:fs";
			connect(process.argv[3]).once("data", () => writeFileSync("tied", "")).resume();
			setInterval(() => {}, 1e6);`,
		);
		const reports: string[] = [];
		const report = (message: string) => void reports.push(message);
		const options = { ...world.options, wrapper, report, clock: hastyClock };
		const run = tmuxRunner(options).start(world.spec, () => undefined);
		await expect.poll(() => readdir(world.env.cwd)).toContain("tied");
		run.abort({ by: "parent" });
		expect(await run.settled).toEqual({ status: "aborted", by: "parent" });
		expect(reports).toEqual([expect.stringContaining("did not stop")]);
		await expect.poll(world.windows).toEqual([]);
	});

	test("a run that is stopped while its window opens is stopped at once, and nothing is left of it", async () => {
		await using world = await tmuxWorld(() => say("Done."));
		const wrapper = join(world.env.root, "slow.mjs");
		const script = `import fs from "node:fs";
			process.on("SIGHUP", () => {});
			fs.writeFileSync("pid", String(process.pid));
			setInterval(() => {}, 1e6);`;
		await writeFile(wrapper, script);
		const reports: string[] = [];
		const report = (message: string) => void reports.push(message);
		const run = tmuxRunner({ ...world.options, wrapper, report }).start(world.spec, () => undefined);
		await expect.poll(() => readdir(world.env.cwd)).toContain("pid");
		const slow = await identityOf(Number(await readFile(join(world.env.cwd, "pid"), "utf8")));
		run.abort({ by: "user" });
		expect(await run.settled).toEqual({ status: "aborted", by: "user" });
		expect(await readResult(world.spec.artifacts)).toMatchObject({ outcome: { status: "aborted", by: "user" } });
		expect(reports).toEqual([]);
		expect(await world.windows()).toEqual([]);
		expect(await isAlive(slow)).toBe(false);
	});

	test("a wrapper that cannot start has failed, and nothing is left of it", async () => {
		await using world = await tmuxWorld(() => say("Done."));
		const runner = tmuxRunner({ ...world.options, wrapper: "/nowhere/wrapper.js" });
		const outcome = { status: "failed", error: "The agent's window was closed before the agent had started." };
		expect(await runner.start(world.spec, () => undefined).settled).toEqual(outcome);
		expect(await readResult(world.spec.artifacts)).toMatchObject({ outcome });
		await expect.poll(world.windows).toEqual([]);
	});
});

test("without tmux a run fails, and says what to do", async () => {
	await using world = await tmuxWorld(() => say("Done."));
	const env = { ...world.options.env, PATH: world.env.home };
	const outcome = await tmuxRunner({ ...world.options, env }).start(world.spec, () => undefined).settled;
	expect(outcome).toEqual({
		status: "failed",
		error: expect.stringMatching(/not installed.*Install it.*runner: process/),
	});
});

test("what a tmux that refuses says is why the run failed", async () => {
	await using world = await tmuxWorld(() => say("Done."));
	const tmux = join(world.env.home, "tmux");
	await writeFile(tmux, "#!/bin/sh\necho 'no space\tfor a new window' >&2\nexit 1\n");
	await chmod(tmux, 0o755);
	const env = { ...world.options.env, PATH: world.env.home, TMUX: "/x,1,0", TMUX_PANE: "%1" };
	const outcome = await tmuxRunner({ ...world.options, env }).start(world.spec, () => undefined).settled;
	expect(outcome).toEqual({ status: "failed", error: "tmux opened no window: no space for a new window" });
});

test("a directory that is gone is not taken for a missing tmux", async () => {
	await using world = await tmuxWorld(() => say("Done."));
	const cwd = join(world.env.root, "gone");
	const outcome = await tmuxRunner(world.options).start({ ...world.spec, cwd }, () => undefined).settled;
	expect(outcome).toEqual({ status: "failed", error: `The agent's directory is gone: ${cwd}` });
});
