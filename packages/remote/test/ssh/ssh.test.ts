/** The same runner through a real sshd on this machine, whose worker has another home and other credentials. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runnerConformance } from "@pi-subagents/core/testing";
import { callTool, createGate, piUnderTest, requireTool, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { type WorldOptions, wrapperFixture } from "../../../runners/test/fixtures/process-world.ts";
import { remoteRunner } from "../../src/index.ts";
import { type RemoteWorld, remoteWorld } from "../fixtures/remote-world.ts";
import { type Sshd, startSshd } from "../fixtures/sshd.ts";

type SshWorld = RemoteWorld & { sshd: Sshd };

async function sshWorld(reply: Parameters<typeof remoteWorld>[0], options?: WorldOptions): Promise<SshWorld> {
	const world = await remoteWorld(reply, options);
	const pi = [world.pi.command, ...world.pi.args].flatMap((word) => ["--pi", word]);
	const sshd = await startSshd(
		join(world.env.root, "sshd"),
		[process.execPath, world.program, ...pi],
		world.env.variables,
	);
	world.defined.box = sshd.machine;
	return {
		...world,
		sshd,
		spec: { ...world.spec, machine: "box" },
		async [Symbol.asyncDispose]() {
			world.machines.close();
			await sshd[Symbol.asyncDispose]();
			await world[Symbol.asyncDispose]();
		},
	};
}

/** Not on the PATH of most users. */
const hasSshd = requireTool("ssh") && (existsSync("/usr/sbin/sshd") || requireTool("sshd"));

describe.skipIf(!hasSshd)("the remote runner over ssh", () => {
	const fixture = wrapperFixture(piUnderTest(), { open: sshWorld, runner: remoteRunner });
	test.each(runnerConformance)("$name", ({ run }) => run(fixture));

	test("no variable of this machine reaches the other one", async () => {
		process.env.NEAR_ONLY_KEY = "sk-near-only";
		await using world = await sshWorld(({ messages }) =>
			messages.some(({ role }) => role === "tool") ? say("Done.") : callTool("bash", { command: "env" }),
		);
		const run = remoteRunner(world.options).start(world.spec, () => undefined);
		expect(await run.settled).toMatchObject({ status: "completed" });
		delete process.env.NEAR_ONLY_KEY;
		const conversation = await readFile(join(world.spec.artifacts, "child-session.jsonl"), "utf8");
		expect(conversation).toContain("SSH_CONNECTION=");
		expect(conversation).not.toContain("NEAR_ONLY_KEY");
	});

	test("a key that the other machine does not know is refused, with ssh's own words", async () => {
		await using world = await sshWorld(() => say("Never."));
		world.defined.box = world.sshd.stranger;
		const run = remoteRunner(world.options).start(world.spec, () => undefined);
		expect(await run.settled).toMatchObject({
			status: "failed",
			error: expect.stringMatching(/^box cannot be reached; ssh or box says: ".*Permission denied/),
		});
		expect(world.server.requests).toHaveLength(0);
	});

	test("the network goes and comes back while an agent works", async () => {
		const gate = createGate();
		await using world = await sshWorld(({ messages }) =>
			messages.some(({ role }) => role === "tool") ? say("Done.") : callTool("ls", { path: "." }, { gate }),
		);
		const run = remoteRunner(world.options).start(world.spec, () => undefined);
		await world.server.nextRequest();
		await world.sshd.stop();
		await world.sshd.start();
		gate.open();
		expect(await run.settled).toEqual({ status: "completed", text: "Done." });
	});
});
