import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@pi-subagents-dev/testkit/wait";
import { expect, onTestFinished, test, vi } from "vitest";
import { createMachines } from "../../src/index.ts";

/** What a program called ssh is started with, in a temporary directory of its own. */
async function sshArguments(
	prepare: (sockets: string) => Promise<unknown>,
): Promise<{ words: string[]; sockets: string }> {
	const root = await mkdtemp(join(tmpdir(), "m-"));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	const log = join(root, "words");
	await writeFile(
		join(root, "ssh"),
		`#!/bin/sh\nprintf '%s\\n' "$@" > '${log}.new' && mv '${log}.new' '${log}'\nexit 255\n`,
	);
	await chmod(join(root, "ssh"), 0o755);
	vi.stubEnv("TMPDIR", root);
	vi.stubEnv("PATH", `${root}:${process.env.PATH}`);
	onTestFinished(() => void vi.unstubAllEnvs());
	const sockets = join(root, `pi-ssh-${process.getuid?.()}`);
	await prepare(sockets);
	const machines = createMachines(() => ({ box: { ssh: "me@box" } }), { agentDir: root });
	onTestFinished(() => machines.close());
	const marks = async () => ({});
	machines.linkTo("box")?.follow("key", marks, () => undefined);
	const words = await until("ssh was called", async () =>
		(await readFile(log, "utf8").catch(() => undefined))?.trim().split("\n"),
	);
	return { words, sockets };
}

test("logins are shared through a directory that only this user can enter", async () => {
	const { words, sockets } = await sshArguments(async () => undefined);
	expect(words).toContain(`ControlPath=${sockets}/%C`);
	expect((await stat(sockets)).mode & 0o777).toBe(0o700);
	expect(words.slice(-3)).toEqual(["--", "me@box", "pi-subagents-worker --stdio"]);
});

test.each([
	["others can write to", async (sockets: string) => mkdir(sockets).then(() => chmod(sockets, 0o777))],
	["is a link to elsewhere", (sockets: string) => symlink(tmpdir(), sockets)],
	["is a file", (sockets: string) => writeFile(sockets, "")],
])("a directory that %s is not used: every connection logs in", async (_what, prepare) => {
	const { words } = await sshArguments(prepare);
	expect(words.filter((word) => word.startsWith("Control"))).toEqual([]);
});
