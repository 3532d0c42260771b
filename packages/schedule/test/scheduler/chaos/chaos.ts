/** Real processes on one directory, killed at random while their time runs fast; and the jobs as they stand at the end. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fileJobStore, type Missed, type Overlap, Scheduler, type StoredJob } from "../../../src/index.ts";
import { randomOf } from "./random.ts";

export interface Plan {
	seed: number;
	processes: number;
	jobs: number;
	/** How long the jobs are due, in seconds of their time. */
	seconds: number;
}

export interface Aftermath {
	jobs: StoredJob[];
	/** Every run key that began its work, as often as it did. */
	begun: string[];
	kills: number;
	/** When no process lived. */
	outage: { from: number; to: number };
	problems: string[];
}

export const BEGIN = Date.UTC(2027, 0, 1);
export const STEP_MS = 15_000;
const DEADLINESS = 0.004;

export async function chaos({ seed, processes, jobs, seconds }: Plan): Promise<Aftermath> {
	const dir = await mkdtemp(join(tmpdir(), "chaos-"));
	const random = randomOf(seed);
	const members: Member[] = [];
	const problems: string[] = [];
	let born = 0;
	const recruit = () => {
		const args = [join(dir, "store"), join(dir, `witness-${++born}`), String(seed * 1_000 + born), String(DEADLINESS)];
		members.push(new Member(args, problems));
	};
	const alive = () => members.filter((member) => member.isAlive);
	try {
		await addJobs(join(dir, "store"), jobs, BEGIN + seconds * 1_000);
		const end = BEGIN + seconds * 1_000;
		const outage = { from: BEGIN + seconds * 500, to: BEGIN + seconds * 500 + 200_000 };
		for (let now = BEGIN + STEP_MS; now <= end + 300_000; now += STEP_MS) {
			if (now > outage.from && now <= outage.to) {
				for (const member of alive()) member.kill();
				continue;
			}
			const isDraining = now > end;
			while (alive().length < (isDraining ? 2 : processes)) recruit();
			const answers = alive().map((member) => member.tell(now, isDraining));
			for (let victims = isDraining ? 0 : processes * random() * 0.3; victims > 0; victims--) {
				const victim = alive()[Math.floor(random() * alive().length)];
				setTimeout(() => victim?.kill(), random() * 30);
			}
			await Promise.all(answers);
		}
		const kills = members.length - alive().length;
		for (const member of members) member.kill();
		await Promise.all(members.map((member) => member.over));
		return { jobs: await readJobs(join(dir, "store")), begun: await readWitnesses(dir), kills, outage, problems };
	} finally {
		for (const member of members) member.kill();
		await rm(dir, { recursive: true });
	}
}

class Member {
	readonly over: Promise<void>;
	readonly #child: ChildProcess;
	#answered: () => void = () => undefined;
	isAlive = true;

	constructor(args: string[], problems: string[]) {
		const file = fileURLToPath(new URL("./member.ts", import.meta.url));
		this.#child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", file, ...args]);
		this.over = new Promise((resolve) => {
			this.#child.once("close", () => {
				this.isAlive = false;
				this.#answered();
				resolve();
			});
		});
		this.#child.stdin?.on("error", () => undefined); // it was killed before it could read
		if (this.#child.stdout) createInterface({ input: this.#child.stdout }).on("line", () => this.#answered());
		if (this.#child.stderr) createInterface({ input: this.#child.stderr }).on("line", (line) => problems.push(line));
	}

	/** Resolves when it has seen to everything, or is dead. */
	tell(now: number, isGently: boolean): Promise<void> {
		return new Promise((resolve) => {
			this.#answered = resolve;
			if (!this.isAlive) resolve();
			this.#child.stdin?.write(`${now}${isGently ? " gently" : ""}\n`);
		});
	}

	kill(): void {
		this.isAlive = false;
		this.#child.kill("SIGKILL");
	}
}

async function addJobs(dir: string, count: number, endsAt: number): Promise<void> {
	const store = fileJobStore(dir);
	const clock = { now: () => BEGIN, after: () => () => undefined };
	const scheduler = new Scheduler({ store, clock, onDue: () => undefined });
	const overlaps: Overlap[] = ["skip", "queue", "allow"];
	const policies: Missed[] = ["skip", "latest", "all"];
	await Promise.all(
		Array.from({ length: count }, (_, at) =>
			scheduler.add({
				...{ name: `job ${at}`, schedule: `${60 + 15 * (at % 5)}s`, payload: at, endsAt },
				...{ overlap: overlaps[at % 3] ?? "skip", missed: policies[Math.floor(at / 3) % 3] ?? "skip" },
			}),
		),
	);
	await scheduler.stop();
	await store.close();
}

async function readJobs(dir: string): Promise<StoredJob[]> {
	const store = fileJobStore(dir);
	const jobs = [...(await store.read()).values()];
	await store.close();
	return jobs;
}

async function readWitnesses(dir: string): Promise<string[]> {
	const names = (await readdir(dir)).filter((name) => name.startsWith("witness-"));
	const texts = await Promise.all(names.map((name) => readFile(join(dir, name), "utf8")));
	return texts.flatMap((text) => text.split("\n").filter(Boolean));
}
