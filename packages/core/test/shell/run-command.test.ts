import { spawn } from "node:child_process";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { patienceMs, until } from "@pi-subagents-dev/testkit/wait";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { type CommandOptions, commandText, runCommand } from "../../src/shell/run-command.ts";
import { handClock } from "../../src/testing/index.ts";

async function place() {
	const cwd = await realpath(await mkdtemp(join(tmpdir(), "command-")));
	onTestFinished(() => rm(cwd, { recursive: true, force: true, maxRetries: 5 }));
	const run = (command: CommandOptions["command"], more: Partial<CommandOptions> = {}) =>
		runCommand({ command, cwd, clock: systemClock, ...more });
	const pid = async (name: string) => Number(await readFile(join(cwd, name), "utf8").catch(() => "")) || undefined;
	return { cwd, run, pid };
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}

describe("a command", () => {
	test("runs in its directory, as text for the shell or as a program with its arguments", async () => {
		const { cwd, run } = await place();
		expect(await run("pwd; echo to stderr >&2; exit 3")).toMatchObject({
			how: "exited",
			code: 3,
			stdout: `${cwd}\n`,
			tail: expect.stringContaining("to stderr"),
		});
		const argv = [process.execPath, "-e", "console.log(process.argv[1])", "$HOME `id` ; x"];
		expect(await run(argv)).toMatchObject({ how: "exited", code: 0, stdout: "$HOME `id` ; x\n" });
		expect(commandText(argv.slice(1))).toBe("-e 'console.log(process.argv[1])' '$HOME `id` ; x'");
		expect(commandText("cd a\n  make\n")).toBe("cd a; make");
	});

	test("that does not exist, or is killed, says so", async () => {
		const { run } = await place();
		expect(await run(["no-such-program"])).toMatchObject({
			how: "exited",
			code: 127,
			tail: expect.stringMatching(/not found/),
		});
		expect(await run("kill -9 $$")).toMatchObject({ how: "killed", why: "SIGKILL" });
		expect(await run("true", { cwd: "/no/such/place" })).toMatchObject({ how: "not_started" });
	});

	test("may delete its own directory, and the next one says that it is gone", async () => {
		const { cwd, run } = await place();
		expect(await run('rm -rf "$PWD"; echo gone')).toMatchObject({ how: "exited", code: 0, tail: "gone" });
		expect(await run("true")).toMatchObject({ how: "not_started", why: `the directory ${cwd} is gone` });
	});

	test("may print without end: the tail is kept, and only so much of the output", async () => {
		const { run } = await place();
		const end = await run("yes 0123456789 | head -c 3000000; printf '\\033[31mlast\\a words'");
		expect(end).toMatchObject({ code: 0, stdout: undefined });
		expect(end.tail.length).toBeLessThanOrEqual(4_000);
		expect(end.tail).toMatch(/last words$/);
	});

	test("that takes too long ends with everything in its group, even if it does not want to", async () => {
		const { run, pid } = await place();
		const command =
			"sh -c 'trap \"\" TERM; echo $$ > stubborn; while :; do sleep 0.05; done' & trap '' TERM; wait; wait";
		const clock = handClock();
		const running = run(command, { timeoutMs: 300, clock });
		const stubborn = await until("it has begun", () => pid("stubborn"));
		clock.advance(300);
		clock.advance(10_000); // it does not end by itself
		const letGo = setInterval(() => clock.advance(1_000), 10); // nor does it let go of the output
		onTestFinished(() => clearInterval(letGo));
		expect(await running).toMatchObject({ how: "timed_out" });
		await expect.poll(() => isAlive(stubborn)).toBe(false);
	});

	test("has ended when it ends, even if a process that left its group holds the output open", async () => {
		const { run, pid } = await place();
		const daemon = `const { spawn } = require("node:child_process");
			const stdio = ["ignore", "inherit", "inherit"];
			const { pid } = spawn(process.execPath, ["-e", "setInterval(() => undefined, 60_000)"], { detached: true, stdio });
			require("node:fs").writeFileSync("daemon", String(pid));
			console.log("started");
			process.exit(0);`;
		const end = await run([process.execPath, "-e", daemon], { timeoutMs: patienceMs() });
		process.kill((await pid("daemon")) ?? 0, "SIGKILL");
		expect(end).toMatchObject({ how: "exited", code: 0, stdout: "started\n" });
	});

	test("that is stopped ends, and one that was stopped before it began does, too", async () => {
		const { run, pid } = await place();
		const stopping = new AbortController();
		const running = run("echo $$ > it; sleep 1000", { signal: stopping.signal });
		const it = await until("it has begun", () => pid("it"));
		stopping.abort();
		expect(await running).toMatchObject({ how: "stopped" });
		expect(isAlive(it)).toBe(false);
		expect(await run("sleep 1000", { signal: stopping.signal })).toMatchObject({ how: "stopped" });
	});

	test("leaves nothing in the background when it has ended", async () => {
		const { run, pid } = await place();
		expect(await run("sleep 1000 & echo $! > left")).toMatchObject({ how: "exited", code: 0 });
		const left = await pid("left");
		await expect.poll(() => isAlive(left ?? 0)).toBe(false);
	});

	test("ends when the process that runs it is killed", async () => {
		const { cwd, pid } = await place();
		const parent = spawn(
			process.execPath,
			[
				"--conditions=@pi-subagents/source",
				"--no-warnings",
				"--input-type=module",
				"-e",
				`import { runCommand } from ${JSON.stringify(import.meta.resolve("../../src/shell/run-command.ts"))};
				import { systemClock } from ${JSON.stringify(import.meta.resolve("../../src/base/clock.ts"))};
				await runCommand({ command: "trap '' TERM HUP; echo $$ > it; sleep 1000; sleep 1000", cwd: ${JSON.stringify(cwd)}, clock: systemClock });`,
			],
			{ stdio: "inherit" },
		);
		const it = await until("it has begun", () => pid("it"));
		parent.kill("SIGKILL");
		await expect.poll(() => isAlive(it)).toBe(false);
	});
});

test("on Windows no command is started, and it says why", async () => {
	const { platform } = process;
	onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
	const { run } = await place();
	Object.defineProperty(process, "platform", { value: "win32" });
	expect(await run("exit 0")).toMatchObject({ how: "not_started", why: "commands cannot be run on Windows; use WSL" });
});
