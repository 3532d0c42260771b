/**
 * Two network namespaces with different file trees: the far one has its own loopback and network, sees nothing of the near
 * project or of the near pi's directory, and is reached only through ssh over a virtual cable. Needs root and Linux.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { callTool, createTempDir, isFullRun, piUnderTest, requireTool, say } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { remoteRunner } from "../../src/index.ts";
import { remoteWorld } from "../fixtures/remote-world.ts";
import { startSshd } from "../fixtures/sshd.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const canTry =
	isFullRun &&
	isRoot &&
	existsSync("/usr/sbin/sshd") &&
	requireTool("ssh") &&
	requireTool("ip") &&
	requireTool("unshare");
if (isFullRun && !isRoot) process.stderr.write("\nSKIPPING: network namespaces need root\n");

test.skipIf(!canTry)(
	"an agent on a machine with another network and another file tree edits a repository that exists only here",
	async () => {
		await using world = await remoteWorld(({ messages }) =>
			messages.some(({ role }) => role === "tool")
				? say("Done.")
				: callTool("bash", {
						command: `ls ${JSON.stringify(near)} > seen.txt 2>&1; hostname -I >> seen.txt; cat README.md >> seen.txt`,
					}),
		);
		const near = join(world.env.root, "near-only");
		const far = await createTempDir("pi-far-");
		const name = `pi-far-${process.pid}`;
		const processes: ChildProcess[] = [];
		try {
			const git = async (...args: string[]) =>
				(await run("git", ["-C", near, "-c", "user.name=A", "-c", "user.email=a@b", ...args])).stdout.trim();
			await mkdir(near);
			await git("init", "-q", "-b", "main");
			await writeFile(join(near, "README.md"), "only here\n");
			await git("add", "-A");
			await git("commit", "-qm", "first");

			await run("ip", ["netns", "add", name]);
			await run("ip", ["link", "add", "pi-near0", "type", "veth", "peer", "name", "pi-far0", "netns", name]);
			await run("ip", ["addr", "add", "10.231.7.1/30", "dev", "pi-near0"]);
			await run("ip", ["link", "set", "pi-near0", "up"]);
			for (const args of [
				["addr", "add", "10.231.7.2/30", "dev", "pi-far0"],
				["link", "set", "pi-far0", "up"],
				["link", "set", "lo", "up"],
			])
				await run("ip", ["-n", name, ...args]);

			// The far machine has its own pi directory, with its own credentials. Its model answers on its own loopback.
			const agentDir = join(far.path, "agent");
			await cp(world.env.agentDir, agentDir, { recursive: true });
			const port = Number(new URL(world.server.baseUrl).port);
			const socket = join(far.path, "model.sock");
			const bridge = createServer((client) => {
				const model = connect(port, "127.0.0.1");
				client.pipe(model).pipe(client);
				for (const end of [client, model]) end.on("error", () => undefined);
			}).listen(socket);
			const inFar = `const net = require("node:net"); net.createServer((c) => { const m = net.connect(${JSON.stringify(socket)}); c.pipe(m).pipe(c); for (const e of [c, m]) e.on("error", () => {}); }).listen(${port}, "127.0.0.1")`;
			processes.push(spawn("ip", ["netns", "exec", name, process.execPath, "-e", inFar], { stdio: "ignore" }));

			const variables = { ...world.env.variables, HOME: far.path, PI_CODING_AGENT_DIR: agentDir };
			const pi = piUnderTest().command.flatMap((word) => ["--pi", word]);
			const hidden = `mount -t tmpfs none ${near} && mount -t tmpfs none ${world.env.agentDir} && exec "$@"`;
			await using sshd = await startSshd(join(far.path, "sshd"), [process.execPath, world.program, ...pi], variables, {
				address: "10.231.7.2",
				prefix: [
					"ip",
					"netns",
					"exec",
					name,
					"unshare",
					"--mount",
					"--propagation",
					"private",
					"sh",
					"-c",
					hidden,
					"sh",
				],
			});
			world.defined.box = sshd.machine;
			const child = remoteRunner(world.options).start(
				{ ...world.spec, machine: "box", cwd: near, tools: ["bash"] },
				() => undefined,
			);
			expect(await child.settled).toMatchObject({ status: "completed", worktree: { branch: "pi/a1", files: 1 } });
			const seen = await git("show", "pi/a1:seen.txt");
			expect(seen).toBe("10.231.7.2 \nonly here"); // the near directory is empty there
			world.machines.close();
			bridge.close();
		} finally {
			for (const each of processes) each.kill("SIGKILL");
			await run("ip", ["netns", "del", name]).catch(() => undefined);
			await far.remove();
		}
	},
);
