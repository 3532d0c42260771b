/** Who is signalled, with real processes: a file may name any process of the user, and none of them is touched. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../core/src/base/clock.ts";
import { identityOf, isAlive, type ProcessIdentity } from "../../../core/src/signals/identity.ts";
import { carriesMark, lookNow, ownLine } from "../../../core/src/signals/process-facts.ts";
import { processesDir, pruneProcesses } from "../../../core/src/signals/run-processes.ts";
import {
	isGroupLeft,
	killMarked,
	signalChild,
	signalChildGroup,
	signalRecorded,
} from "../../../core/src/signals/signals.ts";
import { handClock } from "../../../core/src/testing/index.ts";
import { isWatched, livingWrapper } from "../../../runs/src/index.ts";
import { claimRun } from "../../../runs/src/owner.ts";
import { deadProcess, liveProcess, type RunDir, runDir } from "../../../runs/test/fixtures/run-dir.ts";
import { attach } from "../fixtures/process.ts";

const isLinux = process.platform === "linux";

/** Files of a run that name this process as its wrapper and its pi: an agent in a sandbox can write all of them. */
async function forge(dir: RunDir, victim: object): Promise<void> {
	await writeFile(dir.file("wrapper"), JSON.stringify({ type: "started", at: 1, ...victim }));
	await writeFile(dir.file("events"), `${JSON.stringify({ type: "child_started", at: 1, ...victim })}\n`);
	await writeFile(join(dir.path, "owner-1.json"), JSON.stringify({ type: "owned", at: 1, ...victim }));
}

/** Lets time pass until it has happened. */
async function hurried<Value>(clock: ReturnType<typeof handClock>, work: Promise<Value>): Promise<Value> {
	const timer = setInterval(() => clock.advance(500), 5);
	return work.finally(() => clearInterval(timer));
}

/** A process of its own group with this mark in its environment. */
async function marked(runDir: string, script = "setInterval(() => {}, 1e6)") {
	const how = ["--input-type=module", "-C", "@pi-subagents/source"];
	const child = spawn(process.execPath, [...how, "-e", `console.log(process.pid); ${script}`], {
		env: { ...process.env, PI_SUBAGENTS_RUN_DIR: runDir },
		detached: true,
		stdio: ["ignore", "pipe", "inherit"],
	});
	onTestFinished(() => endNow(child));
	await once(child.stdout as Readable, "data");
	return { child, exited: once(child, "exit"), identity: await identityOf(child.pid ?? 0) };
}

function endNow({ pid = 0, exitCode, signalCode }: ChildProcess): void {
	if (exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
}

describe("files of a run that name a process of the user", () => {
	test("a stop, even one that is not obeyed, ends the run and not that process", async () => {
		const dir = await runDir();
		const clock = handClock(1_000);
		const victim = await liveProcess();
		await forge(dir, victim.identity);
		const { run } = attach(dir, { clock });
		run.abort({ by: "user" });
		expect(await hurried(clock, run.settled)).toEqual({ status: "aborted", by: "user" });
		expect(await isAlive(victim.identity)).toBe(true);
	});

	test("a stop that cannot be written is sent to no process", async () => {
		const dir = await runDir();
		const clock = handClock(1_000);
		const victim = await liveProcess();
		await forge(dir, victim.identity);
		await mkdir(dir.file("control"), { recursive: true });
		const { run } = attach(dir, { clock });
		run.abort({ by: "user" });
		expect(await hurried(clock, run.settled)).toEqual({ status: "aborted", by: "user" });
		expect(await isAlive(victim.identity)).toBe(true);
	});

	test("a run that is rejoined is lost in time, though that process lives on", async () => {
		const dir = await runDir();
		const clock = handClock(1_000);
		const victim = await liveProcess();
		await forge(dir, victim.identity);
		const { run } = attach(dir, { clock });
		expect(await hurried(clock, run.settled)).toMatchObject({ by: "lost", reason: "it never started" });
		expect(await isAlive(victim.identity)).toBe(true);
	});

	test("a run whose real wrapper is gone is lost at once, and only what it recorded is ended", async () => {
		const dir = await runDir();
		const [victim, pi] = [await liveProcess(), await liveProcess()];
		await dir.wrappedBy(await deadProcess());
		await dir.hasPi(pi.identity);
		await forge(dir, victim.identity);
		expect(await attach(dir).run.settled).toMatchObject({ by: "lost", reason: "its process is gone" });
		expect([await isAlive(victim.identity), await isAlive(pi.identity)]).toEqual([true, false]);
	});

	test.each<[string, object]>([
		["1", { pid: 1 }],
		["0", { pid: 0 }],
		["-1", { pid: -1 }],
		["that of this process", { pid: process.pid }],
		["that of this process's parent", { pid: process.ppid }],
		["huge", { pid: 2 ** 40 }],
		["a text", { pid: "1" }],
		["a broken number", { pid: 1.5 }],
		["1, and its start is not known", { pid: 1, born: null }],
		["that of this process, and its start is not known", { pid: process.pid, born: null, boot: null }],
	])("a pid that is %s ends nothing, and the run settles", async (_what, change) => {
		const dir = await runDir();
		const clock = handClock(1_000);
		const bystander = await liveProcess();
		const pid = "pid" in change && typeof change.pid === "number" && change.pid > 0 ? change.pid : process.pid;
		await forge(dir, { ...(await identityOf(pid)), ...change });
		const { run } = attach(dir, { clock });
		run.abort({ by: "user" });
		expect(await hurried(clock, run.settled)).toEqual({ status: "aborted", by: "user" });
		expect(await isAlive(bystander.identity)).toBe(true); // `kill(-1)` would have ended it, and us
	});

	test("they do not make the run look alive or watched to anyone", async () => {
		const dir = await runDir();
		const victim = await liveProcess();
		await forge(dir, victim.identity);
		expect(await livingWrapper(dir.place)).toBeUndefined();
		expect(await isWatched(dir.place)).toBe(false);
		expect(await claimRun(dir.place)).toEqual({ isOurs: true });
		await forge(dir, { ...victim.identity, host: "elsewhere.example", boot: null });
		expect(await livingWrapper(dir.place)).toBeUndefined();
	});

	test("a run on another machine has no process here, not even one that is recorded", async () => {
		const dir = await runDir();
		const clock = handClock(1_000);
		const victim = await liveProcess();
		await dir.wrappedBy(victim.identity);
		await dir.hasPi(victim.identity);
		const { run } = attach(dir, { clock, spec: { machine: "box" } });
		run.abort({ by: "user" });
		expect(await hurried(clock, run.settled)).toEqual({ status: "aborted", by: "user" });
		expect(await isAlive(victim.identity)).toBe(true);
	});
});

describe("a recorded process", () => {
	const not = (identity: ProcessIdentity, change: Partial<ProcessIdentity>) => ({ ...identity, ...change });

	test("is ended with its group if pid, start, boot and user match", async () => {
		const { identity, exited } = await liveProcess();
		expect(signalRecorded(identity, "SIGTERM")).toBe("signalled");
		expect(await exited).toEqual([null, "SIGTERM"]);
		expect(signalRecorded(identity, "SIGKILL")).toBe("gone");
	});

	test.skipIf(process.platform === "win32")("is another one if start or user differ", async () => {
		const { identity } = await liveProcess();
		expect(signalRecorded(not(identity, { born: "another" }), "SIGKILL")).toBe("gone");
		expect(signalRecorded(not(identity, { uid: 4_000_000 }), "SIGKILL")).toBe("gone");
		expect(await isAlive(identity)).toBe(true);
	});

	test("is left alone where something about it is not known", async () => {
		const { identity } = await liveProcess();
		expect(signalRecorded(not(identity, { born: null }), "SIGKILL")).toBe("unsure");
		const { uid: _, ...nobodys } = identity;
		expect(signalRecorded(nobodys, "SIGKILL")).toBe("unsure");
		if (isLinux) expect(signalRecorded(not(identity, { boot: null }), "SIGKILL")).toBe("unsure");
		if (isLinux) expect(signalRecorded(not(identity, { boot: "another" }), "SIGKILL")).toBe("unsure");
		expect(await isAlive(identity)).toBe(true);
	});

	test("is never the first process, this one, or one above it", async () => {
		for (const pid of [1, process.pid, process.ppid]) {
			const identity = await identityOf(pid);
			expect([pid, signalRecorded(identity, "SIGTERM")]).toEqual([pid, "unsure"]);
		}
		for (const pid of [0, -1, -process.pid, 2 ** 40, 1.5, Number.NaN])
			expect(signalRecorded({ ...(await identityOf(process.pid)), pid }, "SIGKILL")).toBe("gone");
	});

	test("in a group of another, it alone is signalled", async () => {
		const script = `import { spawn } from "node:child_process";
			const member = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
			console.log(member.pid);
			setInterval(() => {}, 1e6);`;
		const leader = await liveProcess(script);
		const [pid] = await once(leader.child.stdout as Readable, "data");
		const member = await identityOf(Number(pid));
		expect(signalRecorded(member, "SIGKILL")).toBe("signalled");
		await expect.poll(() => isAlive(member)).toBe(false);
		expect(await isAlive(leader.identity)).toBe(true);
	});
});

describe.skipIf(!isLinux)("a process with the mark of a run", () => {
	test("is ended when the run is, also without a record; no other is", async () => {
		const [dir, other] = [await runDir(), await runDir()];
		const [ours, theirs, victim] = [await marked(dir.path), await marked(other.path), await liveProcess()];
		await dir.processes.end(systemClock);
		expect(await ours.exited).toEqual([null, "SIGKILL"]);
		expect([await isAlive(theirs.identity), await isAlive(victim.identity)]).toEqual([true, true]);
	});

	test("is none if the mark is only the end or the beginning of another variable", async () => {
		const dir = await runDir();
		const odd = async (env: Record<string, string>) => {
			const child = spawn("sleep", ["1000"], { env, detached: true, stdio: "ignore" });
			onTestFinished(() => endNow(child));
			await once(child, "spawn");
			return child.pid ?? 0;
		};
		const names = [
			{ X_PI_SUBAGENTS_RUN_DIR: dir.path },
			{ PI_SUBAGENTS_RUN_DIR: `${dir.path}-2` },
			{ NOTE: `PI_SUBAGENTS_RUN_DIR=${dir.path}` },
		];
		const found = await Promise.all(names.map(odd));
		await expect.poll(() => lookNow(found[0] ?? 0)).toMatchObject({ uid: process.getuid?.() });
		expect(found.map((pid) => carriesMark(pid, dir.path))).toEqual([false, false, false]);
		await killMarked(dir.path);
		expect(found.map((pid) => typeof lookNow(pid))).toEqual(["object", "object", "object"]);
	});

	test("is not signalled by itself or by what runs below it", async () => {
		const dir = await runDir();
		const module = import.meta.resolve("../../../core/src/signals/signals.ts");
		const script = `const { killMarked } = await import(${JSON.stringify(module)});
			await killMarked(process.env.PI_SUBAGENTS_RUN_DIR); console.log("lives"); setInterval(() => {}, 1e6);`;
		const it = await marked(dir.path, script);
		const [said] = await once(it.child.stdout as Readable, "data");
		expect(String(said)).toBe("lives\n");
	});

	test("makes a run look alive whose record is in another pi's directory", async () => {
		const dir = await runDir();
		const wrapper = await marked(dir.path);
		await writeFile(dir.file("wrapper"), JSON.stringify({ type: "started", at: 1, ...wrapper.identity }));
		expect(await livingWrapper(dir.place)).toMatchObject({ pid: wrapper.identity.pid });
	});
});

describe("a child of this process", () => {
	test("is signalled as long as its end was not seen", async () => {
		const { child, exited } = await liveProcess();
		signalChild(child, "SIGTERM");
		expect(await exited).toEqual([null, "SIGTERM"]);
		signalChild(child, "SIGKILL"); // its pid may be another's by now
	});

	test.skipIf(process.platform === "win32")("its group is ended also when it has left it", async () => {
		const script = `import { spawn } from "node:child_process";
			const member = spawn("sleep", ["1000"], { stdio: "ignore" });
			process.stdout.write(String(member.pid), () => process.exit());`;
		const leader = await liveProcess(script);
		const [pid] = await once(leader.child.stdout as Readable, "data");
		const member = await identityOf(Number(pid));
		await leader.exited;
		expect(isGroupLeft(leader.child)).toBe(true);
		signalChildGroup(leader.child, "SIGKILL");
		await expect.poll(() => isAlive(member)).toBe(false);
		await expect.poll(() => isGroupLeft(leader.child)).toBe(false);
	});

	test.skipIf(process.platform === "win32")("a group with its number that another process leads is not", async () => {
		const stranger = await liveProcess();
		const ended = { pid: stranger.child.pid, exitCode: 0, signalCode: null } as ChildProcess;
		expect(isGroupLeft(ended)).toBe(false);
		signalChildGroup(ended, "SIGKILL");
		signalChild(ended, "SIGKILL");
		expect(await isAlive(stranger.identity)).toBe(true);
	});
});

test.skipIf(process.platform === "win32")("the line above this process leads to the first one", () => {
	const line = [...(ownLine() ?? [])];
	expect(line.slice(0, 2)).toEqual([process.pid, process.ppid]);
	expect(line.at(-1)).toBe(1);
});

describe("where the system does not say which process it is", () => {
	/** As on Windows: no start times, no users, no environments. */
	function blind(): void {
		const { platform } = process;
		onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
		Object.defineProperty(process, "platform", { value: "win32" });
	}

	test("a stop that is not obeyed ends the run, signals nothing, and says so", async () => {
		const dir = await runDir();
		const clock = handClock(1_000);
		const wrapper = await liveProcess();
		await dir.wrappedBy({ ...wrapper.identity, born: null });
		blind();
		const { run, reports } = attach(dir, { clock });
		run.abort({ by: "user" });
		expect(await hurried(clock, run.settled)).toEqual({ status: "aborted", by: "user" });
		expect(reports).toEqual([expect.stringMatching(/^Agent a1 did not stop in 5 s\. .* none was signalled/)]);
		expect(await dir.processes.wrapper()).toMatchObject({ pid: wrapper.identity.pid });
		expect(wrapper.child.signalCode).toBe(null);
	});
});

describe("records of processes", () => {
	test("go when the run has settled", async () => {
		const dir = await runDir();
		await dir.wrappedBy(await deadProcess());
		await attach(dir).run.settled;
		expect(await dir.processes.wrapper()).toBeUndefined();
	});

	test("go a day after everyone in them is gone, and stay while one lives", async () => {
		const [alive, dead] = [await runDir(), await runDir()];
		const agentDir = alive.place.agentDir;
		await alive.wrappedBy(await identityOf(process.pid));
		const gone = { ...dead, place: { ...dead.place, agentDir } };
		await mkdir(processesDir(gone.place), { recursive: true });
		await writeFile(
			join(processesDir(gone.place), "owner-1.json"),
			JSON.stringify({ type: "owned", at: 1, ...(await deadProcess()) }),
		);
		const day = 24 * 60 * 60_000;
		const left = async (now: number) => {
			await pruneProcesses({ agentDir, now });
			return [alive.place, gone.place].map((place) => existsSync(processesDir(place)));
		};
		expect(await left(Date.now() + day / 2)).toEqual([true, true]);
		expect(await left(Date.now() + 2 * day)).toEqual([true, false]);
	});
});
