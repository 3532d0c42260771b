/** Detached runs whose parent, wrapper or child is killed at some moment: each reaches its end, and is told of once. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isFullRun, type PiRpc, patienceMs, startRpc, until } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { cutAnswer, toldResults } from "../../storm/wholeness.ts";
import {
	childOf,
	footerSays,
	isRunning,
	jsonOf,
	type Launched,
	launchesIn,
	linesOf,
	processesOf,
	type Told,
	textOf,
	toldIn,
	wrapperOf,
} from "../../support/detached.ts";
import { type Dig, type Digs, digs, FIRST_WORDS, type Phase, pidOf, sessionIn } from "../../support/digs.ts";
import { inLanes, type Random, randomFrom } from "../../support/rounds.ts";

const seed = Number(process.env.KILL_SEED ?? (isFullRun ? Date.now() % 1_000_000 : 1));
const SEVERAL_STARTS_OF_PI = patienceMs(8);

test(
	"whenever the parent is killed, its run ends as it should and is reported to the session once",
	async () => {
		const random = randomFrom(seed);
		const rounds = parentRounds(random);
		log(`seed ${seed} (KILL_SEED=${seed} repeats it)`);
		await using stage = await digs();
		await inLanes(4, rounds, async (round) => log(`parent killed, ${await playParentRound(stage, round)}`));
	},
	SEVERAL_STARTS_OF_PI,
);

const LOSSES = { wrapper: "its wrapper", child: "its pi", both: "its wrapper and its pi" };
const PHASES = ["launch", "stream", "tool", "settle", "unwatched"] as const;

/** Every phase, every victim, and once that nobody watches; a full run has all pairs of them, and more. */
const IN_GATE: Readonly<Record<Victim, readonly (typeof PHASES)[number][]>> = {
	wrapper: ["stream", "settle"],
	child: ["launch", "tool", "settle"],
	both: ["tool", "unwatched"],
};

for (const victim of ["wrapper", "child", "both"] as const) {
	test(
		`whenever a run loses ${LOSSES[victim]}, it is reported once, with what is left of its work, and leaves no process`,
		async () => {
			const random = randomFrom(seed);
			const more = Array.from({ length: 3 }, () => random.pick(PHASES));
			const moments = isFullRun ? [...PHASES, ...more] : IN_GATE[victim];
			log(`seed ${seed}: ${moments.join(", ")}`);
			await using stage = await digs();
			const watched = moments.flatMap((moment, index) =>
				moment === "unwatched" ? [] : stage.plan(`${victim}${index + 1}`, moment),
			);
			const unwatched = moments.flatMap((moment, index) =>
				moment === "unwatched" ? stage.plan(`${victim}${index + 1}`, "stream") : [],
			);
			const ends = await Promise.all([
				watched.length > 0 ? playWatched(stage, victim, watched) : [],
				unwatched.length > 0 ? playUnwatched(stage, victim, unwatched) : [],
			]);
			log(`killed: ${ends.flat().join(", ")}`);
		},
		SEVERAL_STARTS_OF_PI,
	);
}

test(
	"a stop is carried out although the parent is killed as soon as its session knows of it",
	async () => {
		await using stage = await digs();
		const [healthy, hung] = [stage.plan("healthy", "tool"), stage.plan("hung", "tool")];
		const [one, other] = await Promise.all([stopAndKill(stage, healthy), stopAndKill(stage, hung, "SIGSTOP")]);
		await nothingLeft(one.run); // with no pi that could see to it
		expect((await processesOf(other.run)).length).toBeGreaterThan(0);
		await using next = startRpc({ env: stage.env, args: ["--session", other.file] });
		await footerSays(next, "0 of 1 detached running");
		await nothingLeft(other.run);
		await until("its records are gone", () => hasNoRecord(stage, other.run));
		const result = await jsonOf<{ outcome: object }>(join(other.run.artifacts, "result.json"));
		expect(result?.outcome).toMatchObject({ status: "aborted", by: "user" });
	},
	SEVERAL_STARTS_OF_PI,
);

/** `before` is sent to the wrapper before the stop. */
async function stopAndKill(stage: Digs, dig: Dig, before?: "SIGSTOP"): Promise<{ run: Launched; file: string }> {
	const parent = await stage.parent(dig.name);
	await parent.say(`Please delegate ${dig.name}.`);
	const run = await parent.launched(dig);
	await stage.reach(dig, run);
	const file = await sessionOf(stage, dig.name);
	if (before) process.kill(await pidOf(run, wrapperOf), before);
	const isRecorded = async () => {
		const entries = (await linesOf(file)) as { data?: { type?: string; runId?: string } }[];
		return entries.some(({ data }) => data?.type === "settled" && data.runId === run.runId) || undefined;
	};
	void parent.say(`/subagent stop ${run.runId}`).catch(() => undefined); // it is killed before it replies
	await until("the session knows of the stop", isRecorded, 1);
	process.kill(parent.pid, "SIGKILL");
	await parent.gone();
	return { run, file };
}

async function hasNoRecord(stage: Digs, run: Launched): Promise<true | undefined> {
	const all = join(stage.env.agentDir, "state", "subagents", "processes");
	const files = await readdir(all, { recursive: true }).catch(() => []);
	const texts = await Promise.all(files.map((name) => textOf(join(all, name)).catch(() => undefined)));
	return texts.every((text) => !text?.includes(run.artifacts)) || undefined;
}

/** The parent sees it happen. */
async function playWatched(stage: Digs, victim: Victim, wanted: readonly Dig[]): Promise<string[]> {
	const name = `${victim}-watched`;
	const parent = await stage.parent(name);
	await parent.say(`Please delegate ${wanted.map((dig) => dig.name).join(" ")}.`);
	const runs = await Promise.all(
		wanted.map(async (dig) => {
			const run = await parent.launched(dig);
			await stage.reach(dig, run);
			await kill(victim, dig, run);
			return run;
		}),
	);
	const file = await sessionOf(stage, name);
	for (const run of runs) await until(`${run.runId} is told`, async () => (await newsOf(file, run))[0]);
	await parent.gone();
	await using next = startRpc({ env: stage.env, args: ["--session", file] });
	await footerSays(next, `0 of ${runs.length} detached running`);
	return Promise.all(wanted.map((dig, index) => isOver(victim, dig, file, runs[index] as Launched)));
}

/** It happens while no pi is there, and the next one finds out. */
async function playUnwatched(stage: Digs, victim: Victim, wanted: readonly Dig[]): Promise<string[]> {
	const name = `${victim}-unwatched`;
	const parent = await stage.parent(name);
	await parent.say(`Please delegate ${wanted.map((dig) => dig.name).join(" ")}.`);
	const runs = await Promise.all(wanted.map((dig) => parent.launched(dig)));
	for (const [index, dig] of wanted.entries()) await stage.reach(dig, runs[index] as Launched);
	await parent.gone();
	for (const [index, dig] of wanted.entries()) await kill(victim, dig, runs[index] as Launched);
	const file = await sessionOf(stage, name);
	await using next = startRpc({ env: stage.env, args: ["--session", file] });
	for (const run of runs) await toldOnce(next, file, run);
	return Promise.all(wanted.map((dig, index) => isOver(victim, dig, file, runs[index] as Launched)));
}

/** `both`: as when the machine runs out of memory. */
type Victim = "wrapper" | "child" | "both";

async function kill(victim: Victim, dig: Dig, run: Launched): Promise<void> {
	const isSettling = dig.phase === "settle";
	const wrapper = await pidOf(run, wrapperOf);
	const child = dig.phase === "launch" && victim !== "child" ? undefined : await pidOf(run, childOf);
	if (isSettling && victim === "wrapper") {
		process.kill(wrapper, "SIGCONT");
		await until(
			`the answer of ${dig.name} is in the log`,
			async () => (await logOf(dig, run)).hasAnswer || undefined,
			1,
		);
	}
	if (victim !== "child" && isRunning(wrapper)) process.kill(wrapper, "SIGKILL");
	if (victim !== "wrapper" && child !== undefined) process.kill(child, "SIGKILL");
	if (isSettling && victim === "child") process.kill(wrapper, "SIGCONT");
}

async function isOver(victim: Victim, dig: Dig, file: string, run: Launched): Promise<string> {
	const { hasAnswer, isIdle } = await logOf(dig, run);
	// An answer is the end of a child's work; but only a wrapper, or an idle child, can say that it was the last word.
	const isDone = victim === "child" ? hasAnswer : isIdle;
	const status = isDone ? "completed" : victim === "child" ? "failed" : "aborted";
	const said = hasAnswer ? dig.answer : dig.phase === "launch" ? "" : FIRST_WORDS;
	await isTold(file, run, { name: dig.name, phase: dig.phase, status, said });
	await nothingLeft(run);
	return `${dig.name} ${dig.phase} -> ${status}`;
}

interface End {
	name: string;
	phase: string;
	status: "completed" | "failed" | "aborted";
	/** All that it said last. */
	said: string;
}

/** Once, and whole: in the message, or where the message says; and in the file of the run. */
async function isTold(file: string, run: Launched, { name, phase, status, said }: End): Promise<void> {
	const what = { name, phase };
	const told = await newsOf(file, run);
	const preview = expect.stringContaining(said.slice(0, PREVIEW));
	expect({ ...what, told }).toEqual({ ...what, told: [expect.objectContaining({ status, preview })] });
	const result = await jsonOf<{ outcome: { status: string; text?: string; partialText?: string } }>(
		join(run.artifacts, "result.json"),
	);
	expect({ ...what, status: result?.outcome.status }).toEqual({ ...what, status });
	expect(result?.outcome.text ?? result?.outcome.partialText ?? "").toBe(said);
	if (status !== "completed") return;
	const entries = await linesOf(file);
	const [message] = toldResults(entries).filter(({ runId }) => runId === run.runId);
	expect(message && (await cutAnswer(message, said, entries, run.artifacts))).toBeUndefined();
}

/** What a list shows of an answer at least. */
const PREVIEW = 400;

/** What the log proves. */
async function logOf({ answer }: Dig, { artifacts }: Launched): Promise<{ hasAnswer: boolean; isIdle: boolean }> {
	const lines = await linesOf(join(artifacts, "events.jsonl"));
	return { hasAnswer: lines.some(({ text }) => text === answer), isIdle: lines.some(({ type }) => type === "idle") };
}

/** `unreported`: the run has ended, and its parent was not there to see it. */
type Moment = "launch entry" | "launch files" | "launch wrapper" | Exclude<Phase, "launch"> | "unreported";

interface ParentRound {
	name: string;
	moment: Moment;
	mode: "rpc" | "tui";
	/** The next pi is there before the run goes on. */
	isRejoined: boolean;
}

function parentRounds(random: Random): ParentRound[] {
	const phases = ["launch", "stream", "tool", "settle", "unreported"] as const;
	const more = [...phases, ...phases, ...Array.from({ length: 5 }, () => random.pick(phases))];
	const all = [...phases, ...(isFullRun ? more : (["launch", "launch"] as const))]; // each moment of a launch once
	const launches = ["launch entry", "launch files", "launch wrapper"] as const;
	let launch = 0;
	return random.shuffle(all).map((phase, index) => ({
		name: `p${index + 1}`,
		moment: phase === "launch" ? (launches[launch++ % 3] ?? "launch entry") : phase,
		mode: index % 7 === 6 ? "tui" : "rpc",
		isRejoined: random.next() < 0.5,
	}));
}

async function playParentRound(stage: Digs, { name, moment, mode, isRejoined }: ParentRound): Promise<string> {
	const isLaunch = moment.startsWith("launch");
	const dig = stage.plan(name, isLaunch ? "launch" : moment === "unreported" ? "stream" : (moment as Phase));
	const parent = await stage.parent(name, { mode });
	await parent.say(`Please delegate ${name}.`);
	const run = await parent.launched(dig);
	if (moment === "launch files") await until("its files are there", () => isThere(run, "meta.json"), 1);
	if (moment === "launch wrapper") await until("its wrapper is there", () => isThere(run, "wrapper.json"), 1);
	await stage.reach(dig, run);
	if (moment === "unreported") {
		process.kill(parent.pid, "SIGSTOP");
		await stage.release(dig, run);
		await until("it has ended", () => isThere(run, "result.json"));
	}
	process.kill(parent.pid, "SIGKILL");
	await parent.gone();

	const isHeld = !isLaunch && moment !== "unreported";
	if (isHeld && !isRejoined) {
		await stage.release(dig, run);
		await until("it has ended", () => isThere(run, "result.json"));
	}
	const file = await sessionOf(stage, name);
	await using next = startRpc({ env: stage.env, args: ["--session", file] });
	if (isHeld && isRejoined) {
		await footerSays(next, "1 of 1 detached running");
		await stage.release(dig, run);
	}
	const told = await toldOnce(next, file, run);
	const hasStarted = (await wrapperOf(run)) !== undefined;
	if (hasStarted) await isTold(file, run, { name, phase: moment, status: "completed", said: dig.answer });
	else expect(told).toEqual([expect.objectContaining({ status: "aborted", preview: "" })]);
	expect({ isStarted: hasStarted, asked: stage.hasAsked(dig) }).toEqual({ isStarted: hasStarted, asked: hasStarted });
	await nothingLeft(run);
	const next_ = isHeld ? (isRejoined ? ", rejoined" : ", ended alone") : "";
	return `${name}: ${moment}, ${mode}${next_} -> ${told[0]?.status}${hasStarted ? "" : " (never started)"}`;
}

/** What the session was told of the run. It is opened once more, to see that nothing is told again. */
async function toldOnce(pi: PiRpc, file: string, run: Launched) {
	await until(`the session is told of ${run.runId}`, async () => (await newsOf(file, run))[0]);
	const from = pi.events.length;
	await pi.send({ type: "switch_session", sessionPath: file });
	await footerSays(pi, `0 of ${(await launchesIn(file)).length} detached running`, { from });
	return newsOf(file, run);
}

async function newsOf(file: string, { runId }: Launched): Promise<Told[]> {
	return (await toldIn(file)).filter((told) => told.runId === runId);
}

async function sessionOf(stage: Digs, name: string): Promise<string> {
	const file = await sessionIn(join(stage.env.root, "sessions", name));
	if (file === undefined) throw new Error(`there is no session of ${name}`);
	return file;
}

async function nothingLeft(run: Launched): Promise<void> {
	await until(`the processes of ${run.runId} are gone`, async () =>
		(await processesOf(run)).length === 0 ? true : undefined,
	);
}

async function isThere(run: Launched, name: string): Promise<true | undefined> {
	return stat(join(run.artifacts, name)).then(
		() => true as const,
		() => undefined,
	);
}

function log(text: string): void {
	process.stdout.write(`${text}\n`);
}
