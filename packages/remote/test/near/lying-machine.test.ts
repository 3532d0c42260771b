/** A machine that says what it likes: nothing that it names is ended, opened or moved here, and a stop does not wait for it. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { RunIdentity, RunSpec } from "@pi-subagents/core";
import { identityOf, isAlive } from "@pi-subagents/core/internal/signals";
import { handClock, sampleSpec } from "@pi-subagents/core/testing";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { type RemoteRunnerOptions, remoteRunner } from "../../src/index.ts";
import type { ControlMessage, Link, Piece } from "../../src/link/link.ts";

/** A process of the user that has nothing to do with agents. */
async function bystander() {
	const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
	onTestFinished(() => void child.kill("SIGKILL"));
	await once(child, "spawn");
	return identityOf(child.pid ?? 0);
}

async function world() {
	const temp = await createTempDir();
	onTestFinished(temp.remove);
	const clock = handClock(1_000);
	const sent: { key: string; message: ControlMessage }[] = [];
	let tell: (piece: Piece) => void = () => undefined;
	const followed = Promise.withResolvers<void>();
	const link: Link = {
		submit: async () => undefined,
		follow(_key, _marks, hear) {
			tell = hear;
			followed.resolve();
			return () => undefined;
		},
		control: async (key, message) => void sent.push({ key, message }),
		blobs: { offer: () => () => undefined, fetch: async () => undefined },
		onBeat(listener) {
			listener(true);
			return () => undefined;
		},
	};
	const options: RemoteRunnerOptions = {
		agentDir: join(temp.path, "agent"),
		linkTo: (machine) => (machine === "box" ? link : undefined),
		isProjectTrusted: () => false,
		clock,
	};
	const artifacts = join(temp.path, "runs", "a1");
	const spec: RunSpec & RunIdentity & { artifacts: string } = {
		...sampleSpec,
		...{ runner: "remote", machine: "box", cwd: temp.path, agentId: "a1", run: 1, artifacts },
	};
	return {
		path: temp.path,
		clock,
		link,
		options,
		spec,
		artifacts,
		sent,
		followed: followed.promise,
		tell: (piece: Piece) => tell(piece),
	};
}

/** Lets time pass until it has happened. */
async function hurried<Value>(clock: ReturnType<typeof handClock>, work: Promise<Value>): Promise<Value> {
	const timer = setInterval(() => clock.advance(500), 5);
	return work.finally(() => clearInterval(timer));
}

const bytes = (value: object): Piece => {
	const data = Buffer.from(`${JSON.stringify(value)}\n`).toString("base64");
	return { type: "bytes", file: "events", at: 0, data };
};

test.each<[string, Piece | undefined]>([
	["says nothing more", undefined],
	["says that the run is lost", { type: "gone", why: "it fell over", isOver: true }],
])("a process here that it calls its own lives, also when a stop is not obeyed and it %s", async (_how, last) => {
	const it = await world();
	const victim = await bystander();
	const run = remoteRunner(it.options).start(it.spec, () => undefined);
	await it.followed;
	it.tell({ type: "wrapper", text: JSON.stringify({ type: "started", at: 1, ...victim }) });
	it.tell(bytes({ type: "child_started", at: 1, ...victim }));
	await expect
		.poll(() => readFile(join(it.artifacts, "events.jsonl"), "utf8").catch(() => ""))
		.toContain("child_started");
	run.abort({ by: "user" });
	if (last) it.tell(last);
	expect(await hurried(it.clock, run.settled)).toEqual({ status: "aborted", by: "user" });
	expect(await isAlive(victim)).toBe(true);
});

test("a run that it loses ends no process here", async () => {
	const it = await world();
	const victim = await bystander();
	const run = remoteRunner(it.options).start(it.spec, () => undefined);
	await it.followed;
	it.tell({ type: "wrapper", text: JSON.stringify({ type: "started", at: 1, ...victim, pid: 1 }) });
	it.tell(bytes({ type: "child_started", at: 1, ...victim }));
	it.tell({ type: "gone", why: "it fell over" });
	expect(await hurried(it.clock, run.settled)).toMatchObject({ status: "aborted", by: "lost" });
	expect(await isAlive(victim)).toBe(true);
});

test.each<[string, object]>([
	["another run's key", { machine: "box", key: "b2-0123456789ab" }],
	["a key that begins like this run's", { machine: "box", key: "a1-2-0123456789ab" }],
	["a key that leads elsewhere", { machine: "box", key: "a1-../../b2" }],
	["another machine", { machine: "other", key: "a1-0123456789ab" }],
])("a run whose file has %s is not rejoined: nothing is asked of any machine", async (_what, file) => {
	const it = await world();
	await mkdir(it.artifacts, { recursive: true });
	await writeFile(join(it.artifacts, "remote.json"), JSON.stringify({ format: 1, ...file }));
	const run = remoteRunner(it.options).attach?.(it.spec, () => undefined);
	run?.abort({ by: "user" });
	await run?.settled;
	expect(it.sent).toEqual([]);
});

async function git(cwd: string, ...args: string[]): Promise<string> {
	const who = ["-c", "user.name=t", "-c", "user.email=t@t"];
	return (await promisify(execFile)("git", [...who, ...args], { cwd })).stdout.trim();
}

/** A repository with one commit that everyone has, and one that stays here. */
async function repository(dir: string) {
	await mkdir(dir);
	await git(dir, "init", "--quiet");
	await git(dir, "commit", "--quiet", "--allow-empty", "-m", "first");
	const base = await git(dir, "rev-parse", "HEAD");
	await git(dir, "commit", "--quiet", "--allow-empty", "-m", "private");
	return { dir, base, head: await git(dir, "rev-parse", "HEAD") };
}

test.each<[string, { isOwn: boolean; tip: "base" | "head" }, string]>([
	["into another repository", { isOwn: false, tip: "base" }, "is not the repository that it was launched in"],
	["that it did not send", { isOwn: true, tip: "head" }, "does not hold the commit that was named"],
])("work %s is not taken over, and no branch is made", async (_what, { isOwn, tip: named }, problem) => {
	const it = await world();
	const [own, other] = [await repository(join(it.path, "own")), await repository(join(it.path, "other"))];
	it.link.blobs.fetch = async (_key, _id, path) => {
		await git(own.dir, "branch", "sent", own.base);
		await git(own.dir, "bundle", "create", "--quiet", path, "refs/heads/sent");
		await git(own.dir, "branch", "-D", "sent");
	};
	const into = isOwn ? own : other;
	const sent = { main: into.dir, commonDir: join(into.dir, ".git"), base: into.base, isSnapshot: false };
	await mkdir(it.artifacts, { recursive: true });
	const file = { format: 1, machine: "box", key: "a1-0123456789ab", sent };
	await writeFile(join(it.artifacts, "remote.json"), JSON.stringify(file));
	const worktree = { branch: "pi-subagents/a1", base: own.base, files: 1, insertions: 1, deletions: 0 };
	const result = {
		...{ format: 1, runId: "a1", agentId: "a1", run: 1, writtenBy: "wrapper", startedAt: 1, completedAt: 2 },
		outcome: { status: "completed", text: "Done.", worktree },
		...{ turns: 1, toolUses: 0, usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 } },
	};
	const run = remoteRunner(it.options).attach?.({ ...it.spec, cwd: own.dir }, () => undefined);
	await it.followed;
	const tip = own[named];
	it.tell({ type: "result", text: JSON.stringify(result), work: { blob: tip, tip } });
	const outcome = await hurried(it.clock, run?.settled ?? Promise.resolve(undefined));
	expect(outcome).toMatchObject({ worktree: { problems: [expect.stringContaining(problem)] } });
	for (const { dir } of [own, other]) expect(await git(dir, "branch", "--list", "pi/*")).toBe("");
});
