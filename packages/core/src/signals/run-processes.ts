/**
 * Which processes a run has on this machine: its wrapper and its pi, as they recorded themselves in pi's own directory.
 * The run's directory says that, too, for people; but an agent in a sandbox can write there, and another machine sends
 * its own version of it, so nothing is ended or believed to be alive because a file there names it.
 */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { lstat, mkdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { Check } from "typebox/value";
import { type Clock, sleep, steadyClock } from "../base/clock.ts";
import { codeOf, ifMissing } from "../base/error-code.ts";
import { once } from "../base/values.ts";
import { createWhole } from "../files/create.ts";
import { readPlain } from "../files/plain-file.ts";
import { namesIn } from "../files/small-file.ts";
import { identityIn, identitySchema, isAlive, locationOf, type ProcessIdentity } from "./identity.ts";
import { carriesMark } from "./process-facts.ts";
import { type EndSignal, killGroupLeftBy, killMarked, type Signalled, signalRecorded } from "./signals.ts";

export interface RunPlace {
	/** pi's own directory, out of reach of agents in a sandbox. */
	agentDir: string;
	runDir: string;
}

/** `wrapper.json`. The first to create it decides: a wrapper that starts, or a watcher that gave up waiting. */
export type WrapperFile = ({ type: "started"; at: number } & ProcessIdentity) | { type: "given_up"; at: number };

export const wrapperSchema = once(() =>
	Type.Union([
		Type.Object({ type: Type.Literal("started"), at: Type.Number(), ...identitySchema() }),
		Type.Object({ type: Type.Literal("given_up"), at: Type.Number() }),
	]),
);
const childSchema = once(() => Type.Object(identitySchema()));
const namedSchema = once(() => Type.Object({ runDir: Type.String() }));

const WRAPPER = "wrapper.json";
const CHILD = "pi.json";
const CONTROL = "control.jsonl";
const MAX_BYTES = 64 * 1024;
/** How long a process may take to clean up: pi ends its tools, which lead their own groups. */
const GRACE_MS = 3_000;
const LOOK_MS = 50;

/** Where it is written which processes run and watch a run. */
export function processesDir({ agentDir, runDir }: RunPlace): string {
	return join(allProcessesDir(agentDir), createHash("sha256").update(realPath(runDir)).digest("hex").slice(0, 32));
}

/**
 * What is said to the wrapper of a run on this machine: stops, answers, larger budgets. Beside the records of its
 * processes, because in the run's own directory its agent could say all of that to itself.
 */
export function controlPath(place: RunPlace): string {
	return join(processesDir(place), CONTROL);
}

function allProcessesDir(agentDir: string): string {
	return join(agentDir, "state", "subagents", "processes");
}

/** The same run may be reached through a link. */
function realPath(path: string): string {
	try {
		return realpathSync.native(path);
	} catch (error) {
		if (codeOf(error) !== undefined) return path; // not there any more
		throw error;
	}
}

export class RunProcesses {
	readonly #runDir: string;
	readonly #dir: string;

	constructor(place: RunPlace) {
		this.#runDir = place.runDir;
		this.#dir = processesDir(place);
	}

	/** Records this process as the wrapper of the run. False if there is one, or if a watcher has given up waiting for it. */
	async recordWrapper(identity: ProcessIdentity, at: number): Promise<boolean> {
		return this.#create(WRAPPER, { type: "started", at, ...identityIn(identity), runDir: this.#runDir });
	}

	/** From then on no wrapper can start. False if one was first. */
	async preventStart(at: number): Promise<boolean> {
		return this.#create(WRAPPER, { type: "given_up", at });
	}

	/** Records the process that the wrapper runs pi in. An earlier one has ended. */
	async recordChild(identity: ProcessIdentity): Promise<void> {
		await rm(join(this.#dir, CHILD), { force: true });
		await this.#create(CHILD, { ...identityIn(identity), runDir: this.#runDir });
	}

	/**
	 * Undefined if none has started. Without a record (it was lost, or is in another pi's directory) the run's own file
	 * counts if the system confirms that this process was started for the run. Rejects if the record cannot be read.
	 */
	async wrapper(): Promise<WrapperFile | undefined> {
		return (await this.#recorded()) ?? (await this.#confirmed());
	}

	/** A wrapper that took no order, for example because the disk is full. */
	async signalWrapper(signal: EndSignal): Promise<Signalled> {
		const wrapper = await this.#recorded().catch(() => undefined); // a broken file names no process
		if (wrapper?.type === "started" && locationOf(wrapper) === "elsewhere") return "unsure";
		if (wrapper) return wrapper.type === "started" ? signalRecorded(wrapper, signal) : "gone";
		return signal === "SIGKILL" ? killMarked(this.#runDir) : "unsure"; // it can still be killed
	}

	/** Ends the run at once, with everything it started: its wrapper, its pi, and commands that left their group. */
	async end(clock: Clock): Promise<Signalled> {
		const wrapper = await this.signalWrapper("SIGKILL");
		const rest = await this.endRest(clock);
		return wrapper === "unsure" ? wrapper : rest;
	}

	/** Ends what a run left behind whose wrapper is gone. */
	async endRest(clock: Clock): Promise<Signalled> {
		const value = await this.#read(CHILD).catch(() => undefined);
		const child = Check(childSchema(), value) ? value : undefined;
		const ended = child ? await endGroup(child, clock) : "gone";
		if (child) await this.#endLeftovers(child, clock);
		await killMarked(this.#runDir);
		return ended;
	}

	/**
	 * Whether its wrapper or its pi lives, by their records. `unknown`: there is no record, or it is that of another machine.
	 */
	async state(): Promise<"alive" | "gone" | "unknown"> {
		const wrapper = await this.#recorded().catch(() => undefined);
		const child = await this.#read(CHILD).catch(() => undefined);
		const known: ProcessIdentity[] = [];
		if (wrapper?.type === "started") known.push(wrapper);
		if (Check(childSchema(), child)) known.push(child);
		if (known.length === 0 || known.some((each) => locationOf(each) === "elsewhere")) return "unknown";
		const living = await Promise.all(known.map(isAlive));
		return living.includes(true) ? "alive" : "gone";
	}

	/** The run has settled. That it was given up stays: its wrapper may still be about to start. */
	async forget(): Promise<void> {
		const wrapper = await this.#recorded().catch(() => undefined);
		if (wrapper?.type !== "given_up") await remove(this.#dir);
	}

	/** Before a new run: whatever is recorded was about another one in a directory of the same name. */
	async begin(): Promise<void> {
		await this.clear();
		await mkdir(this.#dir, { recursive: true, mode: 0o700 });
	}

	/** The run is gone. */
	clear(): Promise<void> {
		return remove(this.#dir);
	}

	async #recorded(): Promise<WrapperFile | undefined> {
		return wrapperIn(await this.#read(WRAPPER));
	}

	async #confirmed(): Promise<WrapperFile | undefined> {
		const text = await readPlain(join(this.#runDir, WRAPPER), MAX_BYTES).catch(() => undefined);
		const claimed = wrapperIn(parsed(text?.toString("utf8") ?? ""));
		return claimed?.type === "started" && carriesMark(claimed.pid, this.#runDir) ? claimed : undefined;
	}

	/** Ends what a group's leader, now gone, left in it. */
	async #endLeftovers(leader: ProcessIdentity, given: Clock): Promise<void> {
		const clock = steadyClock(given);
		for (const deadline = clock.now() + GRACE_MS; await killGroupLeftBy(leader, this.#runDir); ) {
			if (clock.now() >= deadline) return;
			await sleep(LOOK_MS, clock);
		}
	}

	async #create(name: string, content: object): Promise<boolean> {
		await mkdir(this.#dir, { recursive: true, mode: 0o700 });
		const isDurable = false; // no process survives a crash of the machine
		return createWhole(join(this.#dir, name), `${JSON.stringify(content)}\n`, { isDurable });
	}

	async #read(name: string): Promise<unknown> {
		return parsed((await readPlain(join(this.#dir, name), MAX_BYTES))?.toString("utf8") ?? "");
	}
}

function wrapperIn(value: unknown): WrapperFile | undefined {
	return Check(wrapperSchema(), value) ? value : undefined;
}

/** Asks it to end, then kills it. Resolves when it is gone, or was not signalled. */
async function endGroup(leader: ProcessIdentity, clock: Clock): Promise<Signalled> {
	const asked = signalRecorded(leader, "SIGTERM");
	if (asked !== "signalled" || (await isGoneWithin(GRACE_MS, leader, clock))) return asked;
	const killed = signalRecorded(leader, "SIGKILL");
	await isGoneWithin(GRACE_MS, leader, clock);
	return killed === "gone" ? "signalled" : killed;
}

async function isGoneWithin(ms: number, process: ProcessIdentity, given: Clock): Promise<boolean> {
	const clock = steadyClock(given);
	for (const deadline = clock.now() + ms; await isAlive(process); ) {
		if (clock.now() >= deadline) return false;
		await sleep(LOOK_MS, clock);
	}
	return true;
}

/** The directories of the runs whose processes are recorded, as those said: what is there must be looked up. */
export async function recordedRuns(agentDir: string): Promise<string[]> {
	const all = allProcessesDir(agentDir);
	const dirs = new Set<string>();
	for (const name of (await namesIn(all)).filter(isRecord))
		for (const file of [WRAPPER, CHILD]) {
			const bytes = await readPlain(join(all, name, file), MAX_BYTES).catch(() => undefined);
			const value = parsed(bytes?.toString("utf8") ?? "");
			if (Check(namedSchema(), value)) dirs.add(value.runDir);
		}
	return [...dirs];
}

function isRecord(name: string): boolean {
	return /^[0-9a-f]{32}$/.test(name);
}

const DAY_MS = 24 * 60 * 60_000;
/** Whether a process on another machine still runs is never seen from here. */
const ELSEWHERE_MS = 30 * DAY_MS;

/** Deletes records that a killed process left: a day old, and nothing that they name is alive. */
export async function pruneProcesses({ agentDir, now }: { agentDir: string; now: number }): Promise<void> {
	const all = allProcessesDir(agentDir);
	for (const name of await namesIn(all)) {
		const dir = join(all, name);
		const isUnused = isRecord(name) && (await isAbandoned(dir, now).catch(ifMissing(false)));
		if (isUnused) await remove(dir);
	}
}

async function isAbandoned(dir: string, now: number): Promise<boolean> {
	const found = await lstat(dir);
	let touchedAt = found.mtimeMs;
	const living: ProcessIdentity[] = [];
	for (const name of (await namesIn(dir)).filter(isOurs)) {
		const path = join(dir, name);
		touchedAt = Math.max(touchedAt, (await lstat(path)).mtimeMs);
		if (name === CONTROL) continue; // names no process
		const value = parsed((await readPlain(path, MAX_BYTES))?.toString("utf8") ?? "");
		if (Check(childSchema(), value) && (await isAlive(value))) living.push(value);
	}
	const age = now - touchedAt;
	const isUsed = living.some((each) => age < ELSEWHERE_MS || locationOf(each) === "here");
	return found.isDirectory() && age > DAY_MS && !isUsed;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
}

/** Whole, or as far as there was room. */
function isOurs(name: string): boolean {
	return name === CONTROL || /^(?:wrapper|pi|owner-\d+)\.json(?:\..+\.tmp)?$/.test(name);
}

/** Files of others stay, and so does the directory. */
async function remove(dir: string): Promise<void> {
	for (const name of (await namesIn(dir)).filter(isOurs)) await rm(join(dir, name), { force: true });
	try {
		await rmdir(dir);
	} catch (error) {
		if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(codeOf(error) ?? "")) throw error;
	}
}
