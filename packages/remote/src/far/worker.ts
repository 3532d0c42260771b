/**
 * The far side of a link: takes orders, starts the usual wrapper for each in a directory of its own, and lets the near
 * side follow and control it. Knows no transport. Uses this machine's pi and this machine's credentials.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentError, type Clock, type Report, type RunIdentity, type RunSpec } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import { isThere, namesIn, readPlain, replaceWhole } from "@pi-subagents/core/internal/files";
import { controlPath, RunProcesses } from "@pi-subagents/core/internal/signals";
import {
	type GuardOrder,
	launchRun,
	makeRunDir,
	type ProcessHost,
	type StartedWrapper,
	startDetached,
	withCwd,
} from "@pi-subagents/runners/detached";
import {
	claimDir,
	isWatched,
	keptResult,
	livingWrapper,
	RUN_FILES,
	readMeta,
	readResult,
	releaseRun,
} from "@pi-subagents/runs";
import { confinedSpec, pathsMoved } from "@pi-subagents/worktree";
import { openRepository } from "../git/far-repository.ts";
import { type ControlMessage, type Marks, type Piece, Refused } from "../link/link.ts";
import { type Order, parseOrder, WORKSPACE } from "../link/order.ts";
import { writeAt } from "../link/write-at.ts";
import { FarRun } from "./far-run.ts";
import { createGuardList } from "./guards.ts";
import { requireModel } from "./models.ts";

export interface WorkerOptions extends Omit<ProcessHost, "isProjectTrusted" | "pi"> {
	/** Holds runs, checkouts and repositories. */
	home: string;
	/** How to start pi. */
	pi: NonNullable<ProcessHost["pi"]>;
	/** Whether settings and extensions of a project count here if they do where the order comes from. */
	trustsProjects: boolean;
	/** The extension that asks this machine's pi what guards agents. Absent: nothing does. */
	scoutEntry?: string;
	/** What guards the session on this machine that this worker serves, instead of what pi says. */
	sessionGuards?: GuardOrder;
	/** How long a run that does not outlive its session continues while no one follows it. */
	leaseMs: number;
	clock: Clock;
	report: Report;
}

/** Copies a blob of the near side into a new file. */
export type FetchBlob = (id: string, path: string) => Promise<void>;

/** Unfinished deliveries are kept this long. */
const KEPT_MS = 30 * 24 * 60 * 60_000;
const NOTED_MS = 24 * 60 * 60_000;
const LOOK_MS = 1_000;
const MAX_NOTE_BYTES = 100;
const MAX_CONVERSATION_BYTES = 256 * 1024 * 1024;

interface Kept {
	started: StartedWrapper;
	isOver: boolean;
	/** Its result counts only if the wrapper says it: the agent could have written the file. */
	isHeard: boolean;
}

export class Worker {
	readonly #options: WorkerOptions;
	readonly #runsDir: string;
	/** Orders that are being prepared, by key: a repeated one waits for the first. */
	readonly #accepting = new Map<string, Promise<void>>();
	/** Wrappers that this process started. Its end stops those that do not outlive their session. */
	readonly #kept = new Map<string, Kept>();
	readonly #following = new Map<string, FarRun>();
	readonly #findGuards: ReturnType<typeof createGuardList>;

	constructor(options: WorkerOptions) {
		this.#options = options;
		this.#findGuards = createGuardList(options);
		this.#runsDir = join(options.home, "runs");
	}

	/** Nothing is started after the signal fired: then the near side no longer waits for it, and may have asked another worker. */
	async accept(value: unknown, fetch: FetchBlob, signal: AbortSignal = new AbortController().signal): Promise<void> {
		const order = parseOrder(value);
		if (!order) throw new Refused("The order is not understood; the versions may differ, or it is forged");
		const known = this.#accepting.get(order.key);
		if (known) return known;
		const accepting = this.#accept(order, fetch, signal).finally(() => this.#accepting.delete(order.key));
		this.#accepting.set(order.key, accepting);
		return accepting;
	}

	/** Rejects if there is no such run. */
	async follow(key: string, marks: Marks, send: (piece: Piece) => Promise<void>): Promise<void> {
		const dir = join(this.#runsDir, key);
		if (!(await isThere(join(dir, RUN_FILES.meta)))) throw new Refused("its files are gone there");
		this.unfollow(key);
		const { agentDir, clock, report, home } = this.#options;
		const kept = this.#kept.get(key);
		const wrapper = { kept: kept?.started, trustsFiles: () => !kept?.isHeard };
		this.#following.set(key, await FarRun.open({ agentDir, dir, key, home, marks, send, ...wrapper, clock, report }));
	}

	unfollow(key: string): void {
		this.#following.get(key)?.close();
		this.#following.delete(key);
	}

	async control(key: string, message: ControlMessage): Promise<void> {
		switch (message.type) {
			case "lines":
				return this.#append(controlPath(this.#place(key)), message);
			case "kill":
				await this.#accepting.get(key)?.catch(() => undefined);
				this.#kept.get(key)?.started.endNow?.();
				await this.#processesOf(key).end(this.#options.clock);
				return;
			case "done":
				return this.#forget(key);
		}
	}

	/** The path of content that the near side may read: only what a run left for it. */
	blobPath(key: string, id: string): string {
		return join(this.#options.home, "out", key, id);
	}

	/**
	 * The near side is gone: runs that outlive it continue alone. The others may be followed again, by this process or
	 * by another worker; after the lease they are stopped. Resolves when nothing is left to keep.
	 */
	async leave(): Promise<void> {
		await Promise.allSettled(this.#accepting.values()); // one that is just starting is kept, too
		for (const key of [...this.#following.keys()]) this.unfollow(key);
		await Promise.all([...this.#kept.keys()].map((key) => this.release(key)));
	}

	/**
	 * Nobody waits for this run any more: it is stopped after the lease, unless it outlives its session. Resolves with
	 * whether it continues alone.
	 */
	async release(key: string, leaseMs = this.#options.leaseMs): Promise<boolean> {
		const dir = join(this.#runsDir, key);
		const meta = await readMeta(dir);
		const outlives = typeof meta !== "string" && meta.spec.outlives === true;
		const kept = this.#kept.get(key);
		// Its launch made us its watcher, and the near side may have gone before it followed the run.
		await bestEffort("releasing a run", this.#options.report, () => releaseRun(this.#place(key)));
		if (kept && !outlives) await this.#keepFor(key, kept, leaseMs);
		if (kept) kept.isHeard = false; // no one listens from now on
		kept?.started.letGo(); // its wrapper sees the end of its input and stops, unless the run outlives its session
		return outlives || kept === undefined;
	}

	/** The runs whose files are here. */
	keys(): Promise<string[]> {
		return namesIn(this.#runsDir);
	}

	/** Whether the run has a result, or can have none. */
	async isOver(key: string): Promise<boolean> {
		const kept = this.#kept.get(key);
		if (kept || this.#accepting.has(key)) return kept?.isOver === true;
		return isOver(this.#place(key));
	}

	/**
	 * Removes runs that were not fetched for a long time. Not as soon as they look old: the clock may have been set, or this
	 * process may have been started to fetch them. So one that looks old is noted, and removed a day later.
	 */
	async prune(): Promise<void> {
		const { clock, report, home } = this.#options;
		await bestEffort("removing old runs", report, async () => {
			for (const key of await namesIn(this.#runsDir)) {
				const dir = join(this.#runsDir, key);
				const note = join(home, "old", key);
				const isOld = clock.now() - (await stat(dir)).mtimeMs > KEPT_MS && (await isOver(this.#place(key)));
				const notedAt = Number(
					(await readPlain(note, MAX_NOTE_BYTES).catch(() => undefined))?.toString("utf8") ?? "none",
				);
				if (!isOld) await rm(note, { force: true });
				else if (clock.now() - notedAt > NOTED_MS) await this.#forget(key);
				else if (!(notedAt <= clock.now())) await writeNote(note, clock.now());
			}
		});
	}

	async #accept(order: Order, fetch: FetchBlob, signal: AbortSignal): Promise<void> {
		const { key } = order;
		const dir = join(this.#runsDir, key);
		const isLaunched = () => isThere(join(dir, RUN_FILES.meta));
		if (await isLaunched()) return; // sent again after an outage
		const incoming = join(this.#options.home, "in", key);
		await mkdir(incoming, { recursive: true, mode: 0o700 });
		// One that was asleep meanwhile may wake up in the middle of the same work.
		if (!(await claimDir(incoming)).isOurs) throw new Error("another worker there is preparing it");
		try {
			if (await isLaunched()) return;
			await requireModel(this.#options, order.spec);
			await this.#forget(key); // what an interrupted attempt left
			await mkdir(this.#runsDir, { recursive: true, mode: 0o700 });
			await this.#launch(order, dir, (id, to) => fetch(id, join(incoming, to)), signal);
		} catch (error) {
			await this.#forget(key);
			throw error instanceof AgentError ? new Refused(error.message) : error;
		} finally {
			await rm(incoming, { recursive: true, force: true });
		}
	}

	async #launch(order: Order, dir: string, fetch: FetchBlob, signal: AbortSignal): Promise<void> {
		const { home, trustsProjects, clock } = this.#options;
		const spec = await this.#localSpec(order, fetch);
		const conversation = order.conversation && (await this.#conversation(order, spec, fetch));
		const lookups = {
			conversation: async () => conversation || undefined,
			resources: async (given: RunSpec, place: { cwd: string; isTrusted: boolean }) => ({
				...localResources(given),
				...(await this.#guards(place)),
			}),
		};
		const host = {
			...this.#options,
			...lookups,
			clock,
			isProjectTrusted: () => trustsProjects && order.isTrusted,
			parentSessionId: () => undefined,
			ui: { canAnswer: () => order.hasUser === true },
		};
		await makeRunDir(dir);
		const launcher = { start: startDetached, showsProgress: false };
		const started = await launchRun(host, launcher, spec, dir, signal);
		if (!started) throw new Error(`the run could not be started in ${home}`);
		const kept: Kept = { started, isOver: false, isHeard: started.sendsResult === true };
		this.#kept.set(order.key, kept);
		void started.ended?.then(() => {
			kept.isOver = true;
		});
	}

	async #guards({ cwd, isTrusted }: { cwd: string; isTrusted: boolean }) {
		const { sessionGuards } = this.#options;
		if (sessionGuards) return { guards: sessionGuards.guards, guardFlags: sessionGuards.flags };
		const found = await this.#findGuards({ cwd, isTrusted });
		return { guards: found.map((guard) => ({ ...guard, offersTools: false })) };
	}

	/** The spec in a directory of this machine: the agent's own checkout, or an empty one. */
	async #localSpec(order: Order, fetch: FetchBlob): Promise<RunSpec & RunIdentity> {
		const { home } = this.#options;
		const { key, repository, agentId, run } = order;
		const spec: RunSpec & RunIdentity = { ...order.spec, agentId, run, runsDir: this.#runsDir };
		const work = join(home, "work", key);
		if (!repository) {
			await mkdir(work, { recursive: true, mode: 0o700 });
			const note = `You work on a different machine from the session that launched you, in the directory ${work}, which was empty at the start.`;
			return withNote(inDirectory(spec, work), note);
		}
		const record = await openRepository({ repository, home, key, spec, fetch });
		const confined = confinedSpec({ ...inDirectory(spec, record.root), cwd: record.main }, record);
		// Nobody else works in the repository behind the checkout, so it needs no watching.
		return { ...confined, confinedTo: { root: record.root, origin: record.root, watches: [] } };
	}

	async #conversation({ key, conversation = "" }: Order, spec: RunSpec, fetch: FetchBlob): Promise<Buffer> {
		await fetch(conversation, "conversation");
		const path = join(this.#options.home, "in", key, "conversation");
		const text = (await readPlain(path, MAX_CONVERSATION_BYTES))?.toString("utf8") ?? "";
		const root = spec.confinedTo?.root ?? spec.cwd;
		const found = withCwd(Buffer.from(pathsMoved(text, [WORKSPACE], root)), spec.cwd);
		if (!found) throw new Refused("The conversation that it should start with is broken");
		return found;
	}

	/** Not at the end, but where they belong: a worker that wakes late repeats what is there. */
	async #append(path: string, { at, text }: { at: number; text: string }): Promise<void> {
		const size = (await isThere(path)) ? (await stat(path)).size : 0;
		if (size >= at) await writeAt(path, at, Buffer.from(text), { isEnd: false });
	}

	async #keepFor(key: string, kept: Kept, leaseMs: number): Promise<void> {
		const { clock } = this.#options;
		for (let unwatchedMs = 0; !kept.isOver && unwatchedMs < leaseMs; unwatchedMs += LOOK_MS) {
			await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
			if (await isWatched(this.#place(key))) unwatchedMs = 0;
		}
	}

	#place(key: string) {
		return { agentDir: this.#options.agentDir, runDir: join(this.#runsDir, key) };
	}

	#processesOf(key: string): RunProcesses {
		return new RunProcesses(this.#place(key));
	}

	async #forget(key: string): Promise<void> {
		this.unfollow(key);
		this.#kept.delete(key);
		await this.#processesOf(key).clear();
		for (const name of ["runs", "work", "out", "checkouts", "old"])
			await rm(join(this.#options.home, name, key), { recursive: true, force: true, maxRetries: 3 });
	}
}

async function writeNote(path: string, at: number): Promise<void> {
	await mkdir(dirname(path), { recursive: true, mode: 0o700 });
	await replaceWhole(path, String(at), { isDurable: false });
}

function inDirectory<Spec extends RunSpec>(spec: Spec, dir: string): Spec {
	const here = (text: string) => pathsMoved(text, [WORKSPACE], dir);
	const { systemPrompt } = spec;
	return {
		...spec,
		cwd: dir,
		description: here(spec.description),
		task: here(spec.task),
		...(systemPrompt && { systemPrompt: { ...systemPrompt, text: here(systemPrompt.text) } }),
	};
}

function withNote<Spec extends RunSpec>(spec: Spec, note: string): Spec {
	const { mode, text } = spec.systemPrompt ?? { mode: "append", text: "" };
	return { ...spec, systemPrompt: { mode, text: [text, note].filter((part) => part.trim() !== "").join("\n\n") } };
}

/** All skills of this machine, or none. Named ones, and extensions, would need pi's own modules here. */
function localResources({ extensions, skills }: Pick<RunSpec, "extensions" | "skills">) {
	const isNamed = Array.isArray(skills) && skills.length > 0;
	if (isNamed)
		throw new AgentError(
			"unsupported",
			"An agent on another machine has all of its skills or none; it cannot choose some by name.",
		);
	if (extensions !== undefined && extensions !== false && (extensions === true || extensions.length > 0))
		throw new AgentError(
			"unsupported",
			"An agent on another machine loads no extensions. Launch it without them (`extensions: false`).",
		);
	return { extensions: [], ...(skills === undefined || skills === true ? {} : { skills: [] }) };
}

/** It has a result, or lost its process before it could write one. */
async function isOver(place: { agentDir: string; runDir: string }): Promise<boolean> {
	if ((await readResult(place.runDir).catch(() => undefined)) || (await keptResult(place))) return true;
	return (await livingWrapper(place).catch(() => undefined)) === undefined;
}
