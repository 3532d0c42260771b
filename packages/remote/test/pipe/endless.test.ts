/** Agents on a machine that lies: it sends without end, and obeys no stop. Over a pipe, with the real runner. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Clock, systemClock } from "@pi-subagents/core";
import { RUN_FILES } from "@pi-subagents/runs";
import { say } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { remoteRunner } from "../../src/index.ts";
import { INTAKE_LIMITS, MAX_WORK_BYTES } from "../../src/near/intake.ts";
import { PROTOCOL } from "../../src/stdio/protocol.ts";
import { type RemoteWorld, remoteWorld } from "../fixtures/remote-world.ts";

const MEGABYTE = 1024 * 1024;
const LIMITS = {
	...INTAKE_LIMITS,
	files: { ...INTAKE_LIMITS.files, events: 4 * MEGABYTE, stdout: 2 * MEGABYTE },
	total: 16 * MEGABYTE,
	work: MAX_WORK_BYTES,
};
/** A stop waits for seconds before it is enforced. */
const hasty: Clock = { ...systemClock, after: (ms, work) => systemClock.after(ms / 20, work) };

/** A worker that takes every order, and then does what the script says. It counts what it was asked for. */
async function lying(world: RemoteWorld, script: string): Promise<() => Promise<number>> {
	const [program, counter] = [join(world.env.root, "liar.mjs"), join(world.env.root, "asked")];
	await writeFile(
		program,
		`import { renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const say = (frame) => process.stdout.write(JSON.stringify(frame) + "\\n");
const counter = ${JSON.stringify(counter)};
const count = (number) => {
	writeFileSync(counter + ".new", String(number)); // whoever reads it finds a number
	renameSync(counter + ".new", counter);
};
let asked = 0;
setInterval(() => say({ does: "beat" }), 200);
say({ does: "hello", body: { protocol: ${PROTOCOL}, version: "1" } });
const part = Buffer.alloc(${MEGABYTE}, "x").toString("base64");
createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, does, body } = JSON.parse(line);
	if (does !== "read" && id !== undefined) say({ id, ok: true });
	const key = body?.key;
	${script}
}).on("close", () => process.exit());
`,
	);
	world.program = program;
	return async () => Number(await readFile(counter, "utf8").catch(() => "0"));
}

/** What it is when it no longer changes. */
async function settledAt(look: () => Promise<number>): Promise<number> {
	let [last, same] = [-1, 0];
	const steady = async () => {
		const now = await look();
		same = now === last ? same + 1 : 0;
		last = now;
		return same;
	};
	await expect.poll(steady, { interval: 100 }).toBeGreaterThan(5);
	return last;
}

const flood = (file: string) => `
	if (does !== "follow") return;
	let at = 0;
	const more = () => {
		count(++asked);
		const piece = { type: "bytes", file: ${JSON.stringify(file)}, at, data: part };
		at += ${MEGABYTE};
		if (process.stdout.write(JSON.stringify({ does: "piece", body: { key, piece } }) + "\\n")) setImmediate(more);
		else process.stdout.once("drain", more);
	};
	more();`;

test.each([
	["events", "its events of the agent are larger than 4 MB"],
	["stdout", "it sent more than 16 MB about one agent"],
])("%s without end: the run is lost, says why, and little of it is on this disk", async (file, why) => {
	await using world = await remoteWorld(() => say("Never asked."));
	await lying(world, flood(file));
	const artifacts = join(world.env.root, "runs", "a1");
	const run = remoteRunner({ ...world.options, limits: LIMITS }).start({ ...world.spec, artifacts }, () => undefined);
	expect(await run.settled).toMatchObject({
		status: "aborted",
		by: "lost",
		reason: expect.stringContaining(`on local, ${why}; nothing more is read from it`),
	});
	const names = (await readdir(artifacts)).filter(
		(name) => name in RUN_FILES || name.endsWith("l") || name.endsWith("g"),
	);
	const sizes = await Promise.all(names.map(async (name) => (await stat(join(artifacts, name))).size));
	expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(6 * MEGABYTE);
});

test("a bundle without end: a stop ends it within its time, and nothing more is asked for", async () => {
	await using world = await remoteWorld(() => say("Never asked."));
	const repo = join(world.env.root, "repo");
	const git = (...args: string[]) =>
		promisify(execFile)("git", ["-C", repo, "-c", "user.name=A", "-c", "user.email=a@b", ...args]);
	await mkdir(repo);
	await git("init", "-q");
	await git("commit", "-q", "--allow-empty", "-m", "first");
	const outcome = {
		status: "completed",
		text: "Done.",
		worktree: { branch: "pi/a1", base: "b".repeat(40), files: 1, insertions: 1, deletions: 0 },
	};
	const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 };
	const result = {
		...{ format: 1, runId: "a1", agentId: "a1", run: 1, writtenBy: "wrapper", outcome },
		...{ startedAt: 1, completedAt: 2, durationMs: 1, turns: 1, toolUses: 0, usage },
	};
	const asked = await lying(
		world,
		`
	if (does === "follow") {
		const piece = { type: "result", text: ${JSON.stringify(JSON.stringify(result))}, work: { blob: "work", tip: "${"a".repeat(40)}" } };
		say({ does: "piece", body: { key, piece } });
	}
	if (does !== "read") return;
	count(++asked);
	say({ id, ok: true, value: { data: part, isLast: false } });`,
	);
	const temporary = join(world.env.root, "near-tmp");
	await mkdir(temporary, { recursive: true });
	vi.stubEnv("TMPDIR", temporary);
	onTestFinished(() => void vi.unstubAllEnvs());
	const artifacts = join(world.env.root, "runs", "a1");
	const runner = remoteRunner({ ...world.options, clock: hasty, limits: LIMITS });
	const run = runner.start({ ...world.spec, cwd: repo, artifacts }, () => undefined);
	await expect.poll(asked).toBeGreaterThan(3);
	run.abort({ by: "user" });
	expect(await run.settled).toMatchObject({ status: "aborted", by: "user" });
	const atStop = await asked();
	expect(await settledAt(asked)).toBeLessThanOrEqual(atStop + 1); // the part that was on its way
	const bundles = async () => (await readdir(temporary)).filter((name) => name.startsWith("pi-subagents-bundle-"));
	await expect.poll(bundles).toEqual([]);
});
