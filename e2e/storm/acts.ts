/** What the plan says, done to a pi in a storm and to its files. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { PiEnv } from "@pi-subagents-dev/testkit";
import { carryOutExtra } from "./extras-stage.ts";
import {
	cutLastLine,
	kindOf,
	livingRuns,
	ownFiles,
	recordsOf,
	replaceByFullDevice,
	spoilLiving,
	spoilSome,
	tolerantLinesOf,
} from "./files.ts";
import type { Account } from "./oracle.ts";
import type { Act } from "./plan.ts";
import type { StormPi } from "./storm-pi.ts";
import type { Weather } from "./weather.ts";

/** What has happened in the storm that is going on. */
export interface Course {
	acts: Record<string, number>;
	/** Directories of runs whose files were spoiled. */
	spoiled: Set<string>;
	wasKilled: boolean;
	/** The session's file could not be written: what it knows is in pi's memory. */
	isOnlyInMemory: boolean;
	hasLostEntries: boolean;
	notices: string[];
}

export function newCourse(): Course {
	return {
		acts: {},
		spoiled: new Set(),
		wasKilled: false,
		isOnlyInMemory: false,
		hasLostEntries: false,
		notices: [],
	};
}

/** What there is to do something to. */
export interface Stage {
	env: PiEnv;
	pi: StormPi;
	/** The session's file. */
	session: string;
	weather: Weather;
	course: Course;
	account(): Promise<Account>;
	/** Ends pi, gently or not, spoils some files, and opens the session again. */
	restart(how: { isKill: boolean; spoil?: number }): Promise<boolean>;
}

/** Whether there was anything to do it to. */
export async function carryOut(act: Act, stage: Stage): Promise<boolean> {
	const { does, key, chance } = act;
	switch (does) {
		case "stop":
			await stage.pi.command(`/subagent stop ${key}`);
			return true;
		case "say something":
			await stage.pi.saySomething();
			return true;
		case "abort turn":
			await stage.pi.rpc.send({ type: "abort" });
			return true;
		case "reload":
			await stage.pi.command("/again");
			return true;
		case "fill the disk":
			await stage.weather.spoilDisk("ENOSPC");
			return true;
		case "fill the disk of sessions, too":
			stage.course.isOnlyInMemory = true;
			await stage.weather.spoilDisk("ENOSPC", { sessions: true });
			return true;
		case "make the disk read-only":
			await stage.weather.spoilDisk("EROFS");
			return true;
		case "forbid the disk":
			await stage.weather.spoilDisk("EACCES");
			return true;
		case "free the disk":
			await stage.weather.freeDisk();
			return true;
		case "set the clock":
			await stage.weather.jump(chance);
			return true;
		case "kill pi":
			return stage.restart({ isKill: true });
		case "kill pi and spoil files":
			return stage.restart({ isKill: true, spoil: chance });
		case "restart with spoiled files":
			return stage.restart({ isKill: false, spoil: chance });
		case "kill a child":
		case "kill a wrapper":
		case "spoil a file":
		case "put a full device in place of a log":
			return harm(stage, does, chance);
		default:
			return carryOutExtra(act, does, stage);
	}
}

/** Some files, of whatever kind; and now and then the session's last line is not whole. */
export async function spoil({ env, course, session }: Stage, chance: number): Promise<void> {
	const living = await livingRuns(env);
	const spared = living.flatMap((run) => [run, recordsOf(env, run)]);
	const files = (await ownFiles(env)).filter((path) => !spared.some((dir) => path.startsWith(dir)));
	for (const { path, how } of await spoilSome(files, Math.floor(chance * 2 ** 32))) {
		const run = /^.*\/runs\/[^/]+/.exec(path)?.[0];
		course.spoiled.add(run ?? path);
		const done = `${kindOf(path)} ${how}`;
		course.acts[done] = (course.acts[done] ?? 0) + 1;
	}
	if (!existsSync(session) || chance < 0.5) return;
	await cutLastLine(session, chance * 2 - 1);
	course.hasLostEntries = true;
	course.acts["session cut"] = (course.acts["session cut"] ?? 0) + 1;
}

async function harm(
	{ env, course: { spoiled }, account }: Stage,
	does: "kill a child" | "kill a wrapper" | "spoil a file" | "put a full device in place of a log",
	chance: number,
): Promise<boolean> {
	const living = await livingRuns(env);
	const known = [...(await account()).launched.values()].flatMap(({ artifacts = "" }) => artifacts);
	// Those that have a process to lose; else any that has files.
	const from = does.startsWith("kill") ? living.filter((run) => !spoiled.has(run)) : known.filter(existsSync);
	const artifacts = from[Math.floor(chance * from.length)];
	if (artifacts === undefined) return false;
	if (does === "spoil a file") {
		const files = (await ownFiles(env)).filter((path) => path.startsWith(artifacts));
		spoiled.add(artifacts);
		if (living.includes(artifacts)) await spoilLiving(artifacts);
		else await spoilSome(files, Math.floor(chance * 2 ** 32));
		return true;
	}
	if (does === "put a full device in place of a log") {
		if (living.includes(artifacts)) return false;
		spoiled.add(artifacts);
		await replaceByFullDevice(join(artifacts, chance * 10 < 5 ? "events.jsonl" : "transcript.log"));
		return true;
	}
	const pid = does === "kill a child" ? await childOf(artifacts) : await wrapperOf(artifacts);
	if (pid === undefined) return false;
	try {
		return process.kill(pid, "SIGKILL");
	} catch {
		return false; // it has ended by itself
	}
}

async function wrapperOf(artifacts: string): Promise<number | undefined> {
	const [wrapper] = await tolerantLinesOf(join(artifacts, "wrapper.json")); // an earlier storm may have emptied it
	return wrapper?.pid as number | undefined;
}

async function childOf(artifacts: string): Promise<number | undefined> {
	const lines = await tolerantLinesOf(join(artifacts, "events.jsonl"));
	return lines.find(({ type }) => type === "child_started")?.pid as number | undefined;
}
