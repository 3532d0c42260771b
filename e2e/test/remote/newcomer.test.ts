/** The set-up of docs/remote.md as a newcomer does it: the packed worker on another machine, found on the PATH of a login. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { callTool, createTempDir, isFullRun, piUnderTest, requireTool, runPrint, say } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { startSshd } from "../../../packages/remote/test/fixtures/sshd.ts";
import { packAll } from "../../support/packages/packed.ts";
import { asRepository } from "../../support/repository.ts";
import { parentSays, scene, scoutReadsNotes, unfenced } from "../../support/scene.ts";

const run = promisify(execFile);

if (isFullRun && requireTool("ssh") && existsSync("/usr/sbin/sshd"))
	test("a newcomer installs the worker there, defines the machine here, and an agent runs on it", async () => {
		await using it = await scene(
			[
				parentSays(
					callTool("subagent", { preset: "repo-scout", task: "Find the launch code.", machine: "box" }),
					({ lastToolResults }) => say(`My scout reports: ${unfenced(lastToolResults[0]?.text)}`),
				),
				scoutReadsNotes,
			],
			{ agentFiles: {} },
		);
		await using far = await createTempDir("pi-newcomer-");
		// There: npm install -g @pi-subagents/remote, and a pi that is logged in.
		const tarballs = await packAll(join(far.path, "packed"));
		const global = [
			"install",
			"-g",
			"--prefix",
			far.path,
			"--offline",
			"--legacy-peer-deps",
			"--no-audit",
			"--no-fund",
		];
		const needed = ["progress", "core", "runs", "worktree", "runners", "remote"] as const;
		await run("npm", [...global, ...needed.map((name) => tarballs[name])]);
		const pi = piUnderTest()
			.command.map((word) => `"${word}"`)
			.join(" ");
		await writeFile(join(far.path, "bin", "pi"), `#!/bin/sh\nexec ${pi} "$@"\n`, { mode: 0o755 });
		const PATH = `${join(far.path, "bin")}:${process.env.PATH}`;
		await using sshd = await startSshd(join(far.path, "sshd"), [], {}, { login: { ...it.env.variables, PATH } });
		// Here: the machine. The worker's name is the default.
		const { ssh = "", sshOptions = [] } = sshd.machine;
		const machines = { box: { ssh, sshOptions } };
		await writeFile(join(it.env.agentDir, "subagents.json"), JSON.stringify({ machines }));
		const login = ["-o", "BatchMode=yes", ...sshOptions, "--", ssh];
		expect((await run("ssh", [...login, "pi-subagents-worker", "--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
		await asRepository(it);
		const { stdout } = await runPrint({ env: it.env }, "Please delegate.");
		expect(stdout).toContain("My scout reports: The notes say: The launch code is heliotrope.");
		expect(await readdir(join(it.env.agentDir, "state", "subagents", "worker"))).toContain("runs");
	});
