/** One command for a newcomer: an engine and a worker, what to put in the settings, and a clean end. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { piUnderTest, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { shellPath } from "../../src/fleet/up.ts";
import { createMachines, type Machine, remoteRunner } from "../../src/index.ts";
import { hasNats } from "../fixtures/nats-engine.ts";
import { type RemoteWorld, remoteWorld } from "../fixtures/remote-world.ts";

async function started({ env, program }: RemoteWorld): Promise<{ child: ChildProcess; said: () => string }> {
	const words = piUnderTest().command.flatMap((word) => ["--pi", word]);
	const child = spawn(process.execPath, [program, "up", "--agent-dir", env.agentDir, "--slots", "2", ...words], {
		env: env.variables,
	});
	let said = "";
	const ready = Promise.withResolvers<void>();
	for (const stream of [child.stdout, child.stderr])
		stream.setEncoding("utf8").on("data", (text: string) => {
			said += text;
			if (said.includes("Ctrl+C ends it.")) ready.resolve();
		});
	child.once("exit", (code) => ready.reject(new Error(`it ended with ${code}: ${said}`)));
	await ready.promise;
	return { child, said: () => said };
}

function machinesIn(said: string): Record<string, Machine> {
	const json = said.slice(said.indexOf("  {"), said.indexOf("\n  }\n") + 5);
	return (JSON.parse(json) as { machines: Record<string, Machine> }).machines;
}

/** The processes whose command line names this directory. */
async function processesIn(dir: string): Promise<string[]> {
	const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,args="], { maxBuffer: 64 * 1024 * 1024 });
	return stdout.split("\n").filter((line) => line.includes(dir));
}

test("paths in what it says to type are words of a shell", async () => {
	const paths = ["plain/npm", "my pi/npm", "it's $HOME/npm"].map((name) => join(homedir(), name));
	const typed = `printf '%s\\n' ${paths.map(shellPath).join(" ")}`;
	const { stdout } = await promisify(execFile)("sh", ["-c", typed], { env: { ...process.env, HOME: homedir() } });
	expect(stdout).toBe(`${paths.join("\n")}\n`);
	expect(shellPath(join(homedir(), "plain/npm"))).toBe("~/plain/npm");
});

describe.skipIf(!hasNats)("pi-subagents-worker up", () => {
	test("starts a fleet, says how to use it, ends cleanly, and is the same fleet the next time", async () => {
		await using world = await remoteWorld(() => say("Done."));
		const { agentDir } = world.env;
		const first = await started(world);
		const machines = machinesIn(first.said());
		expect(machines).toEqual({
			fleet: { nats: expect.stringMatching(/^nats:\/\/127\.0\.0\.1:\d+$/), tokenFile: expect.any(String) },
		});
		const tokenFile = join(agentDir, "state", "subagents", "engine", "token");
		expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
		const token = (await readFile(tokenFile, "utf8")).trim();
		expect(first.said()).not.toContain(token);
		expect(await processesIn(token), "other users can read command lines").toEqual([]);
		expect(first.said()).toMatch(/worker {3}\S+ is ready: 2 slots, 1 model\n/);

		const reached = createMachines(() => ({ fleet: { ...machines.fleet, tokenFile } }), { agentDir });
		const runner = remoteRunner({ ...world.options, linkTo: reached.linkTo });
		const agent = runner.start({ ...world.spec, machine: "fleet" }, () => undefined);
		expect(await agent.settled).toEqual({ status: "completed", text: "Done." });
		reached.close();

		first.child.kill("SIGINT");
		const [code] = await once(first.child, "exit");
		expect(code).toBe(0);
		expect(first.said()).toMatch(/All of its processes have ended\.\n$/);
		expect(await processesIn(agentDir)).toEqual([]);

		const second = await started(world);
		expect(machinesIn(second.said())).toEqual(machines);
		expect((await readFile(tokenFile, "utf8")).trim()).toBe(token);
		for (const output of [second.child.stdout, second.child.stderr]) output?.destroy(); // its terminal is closed
		second.child.kill("SIGHUP");
		await once(second.child, "exit");
		expect(await processesIn(agentDir)).toEqual([]);
	});

	test("brings back what is killed, and refuses to start twice", async () => {
		await using world = await remoteWorld(() => say("Done."));
		const { agentDir } = world.env;
		const { child, said } = await started(world);
		await expect(started(world)).rejects.toThrow(/A fleet is already running here \(process \d+\)/);
		const before = await processesIn(agentDir);
		for (const line of before) {
			const pid = Number.parseInt(line, 10);
			if (pid !== child.pid) process.kill(pid, "SIGKILL"); // the engine and the worker
		}
		expect(before).toHaveLength(3);
		const tokenFile = join(agentDir, "state", "subagents", "engine", "token");
		const reached = createMachines(() => ({ fleet: { ...machinesIn(said()).fleet, tokenFile } }), { agentDir });
		const runner = remoteRunner({ ...world.options, linkTo: reached.linkTo });
		const agent = runner.start({ ...world.spec, machine: "fleet" }, () => undefined);
		expect(await agent.settled).toEqual({ status: "completed", text: "Done." });
		reached.close();
		expect(said()).toContain("nats-server ended");
		child.kill("SIGINT");
		await once(child, "exit");
		expect(await processesIn(agentDir)).toEqual([]);
	});
});
