/** One run as the far side reports it: new bytes of its files, its end, and the agent's commits as a blob. */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, type Report, steadyClock } from "@pi-subagents/core";
import { bestEffort, messageOf } from "@pi-subagents/core/internal/base";
import { BytesFollower, readPlain } from "@pi-subagents/core/internal/files";
import { controlPath, isAlive, RunProcesses } from "@pi-subagents/core/internal/signals";
import type { StartedWrapper } from "@pi-subagents/runners/detached";
import {
	checkedResult,
	claimRun,
	isProven,
	isVerified,
	keptResult,
	parseResult,
	RUN_FILES,
	readMeta,
	releaseRun,
} from "@pi-subagents/runs";
import { packWork } from "../git/far-repository.ts";
import { GROWING, type GrowingName, type Marks, type Piece, Refused, type Work } from "../link/link.ts";

export interface FarRunOptions {
	/** pi's own directory on this machine. */
	agentDir: string;
	dir: string;
	key: string;
	home: string;
	marks: Marks;
	/** Rejects when the near side is gone. */
	send: (piece: Piece) => Promise<void>;
	/** The wrapper, if this process started it. */
	kept: StartedWrapper | undefined;
	/** Whether the result in the run's directory counts; else only what the wrapper says when it ends. */
	trustsFiles: () => boolean;
	clock: Clock;
	report: Report;
}

/** How long a wrapper may take to announce itself. */
const START_MS = 10_000;
/** Checking a process is expensive on some systems. */
const PROBE_MS = 1_900;
const NEVER_STARTED = "it never started";
const MAX_BYTES = 512 * 1024 * 1024;

export class FarRun {
	readonly #options: FarRunOptions;
	readonly #processes: RunProcesses;
	readonly #clock: Clock;
	readonly #giveUpAt: number;
	#tail: BytesFollower | undefined;
	#nextProbeAt = 0;
	#hasWrapper = false;
	#hasSeenResult = false;
	#why: string | undefined;
	/** The last line of the wrapper's output. */
	#said: string | undefined;
	#isOver = false;

	static async open(options: FarRunOptions): Promise<FarRun> {
		const { agentDir, dir, send } = options;
		// The near side alone decides which process follows, so an earlier connection counts no longer.
		await claimRun({ agentDir, runDir: dir }, { takesOver: true });
		const run = new FarRun(options);
		await send({ type: "control", size: await sizeOf(controlPath({ agentDir, runDir: dir })) });
		run.#begin();
		return run;
	}

	private constructor(options: FarRunOptions) {
		this.#options = options;
		this.#processes = new RunProcesses({ agentDir: options.agentDir, runDir: options.dir });
		this.#clock = steadyClock(options.clock);
		this.#giveUpAt = this.#clock.now() + START_MS;
		void options.kept?.ended?.then(({ how, lastLine }) => {
			this.#why = how;
			this.#said = lastLine;
			void this.#tail?.look();
		});
	}

	close(): void {
		if (this.#isOver) return;
		this.#stop();
		const { agentDir, dir, report } = this.#options;
		void bestEffort("releasing a run", report, () => releaseRun({ agentDir, runDir: dir }));
	}

	#begin(): void {
		const { dir, marks, clock, report, send } = this.#options;
		const names = new Map<string, GrowingName>(GROWING.map((name) => [RUN_FILES[name], name]));
		this.#tail = new BytesFollower({
			dir,
			clock,
			report,
			from: new Map(GROWING.map((name) => [RUN_FILES[name], marks[name] ?? 0])),
			onBytes: async (file, at, bytes) => {
				const name = names.get(file);
				if (name) await send({ type: "bytes", file: name, at, data: bytes.toString("base64") });
			},
			onQuiet: () => this.#look(),
		});
	}

	#stop(): void {
		this.#isOver = true;
		this.#tail?.close();
	}

	async #look(): Promise<void> {
		const { dir, send } = this.#options;
		const wrapper = await readPlain(join(dir, RUN_FILES.wrapper), MAX_BYTES);
		if (wrapper && !this.#hasWrapper) {
			this.#hasWrapper = true;
			await send({ type: "wrapper", text: wrapper.toString("utf8") });
		}
		const ending = (await this.#ending()) ?? (await this.#gone());
		if (!ending || this.#isOver) return;
		this.#stop();
		try {
			await send(ending);
		} catch (error) {
			if (!(error instanceof Refused)) throw error; // the next connection sends it
			await send({ type: "gone", why: `its result could not be sent: ${error.message}` });
		}
	}

	/** The result is the last file, so the others are complete once it was seen before they were read. */
	async #ending(): Promise<Piece | undefined> {
		const { dir } = this.#options;
		const isKnown = this.#hasSeenResult;
		const text = await this.#result();
		this.#hasSeenResult = text !== undefined;
		if (text === undefined) return undefined;
		if (!isKnown) {
			void this.#tail?.look(); // once more, for what came before it
			return undefined;
		}
		const [session, work] = await Promise.all([digestOf(join(dir, RUN_FILES.session)), this.#work(text)]);
		return { type: "result", text, ...(session && { session }), ...(work && { work }) };
	}

	/**
	 * Undefined if there is none that counts. While the wrapper can be heard, only its word does; afterwards a file that it
	 * proves. A file that the agent could have written verifies nothing.
	 */
	async #result(): Promise<string | undefined> {
		const { agentDir, dir, trustsFiles, clock } = this.#options;
		const isHeard = !trustsFiles();
		if (isHeard && this.#why === undefined) return undefined;
		if (isHeard && this.#said !== undefined && parseResult(this.#said)) return this.#said;
		const kept = await keptResult({ agentDir, runDir: dir });
		if (kept !== undefined && parseResult(kept)) return kept;
		const path = join(dir, RUN_FILES.result);
		const text = (await readPlain(path, MAX_BYTES).catch(() => undefined))?.toString("utf8");
		const result = text === undefined ? undefined : parseResult(text);
		if (text === undefined || !result) return undefined;
		if (await isProven({ agentDir, runDir: dir }, text)) return text;
		const meta = await readMeta(dir);
		const spec = typeof meta === "string" ? undefined : meta.spec;
		if (spec && !isVerified(spec)) return text; // its agent's words, as the near side takes them
		return isHeard
			? undefined
			: JSON.stringify(await checkedResult(result, spec ?? { runner: "process" }, "file", clock));
	}

	async #work(text: string): Promise<Work | undefined> {
		const { dir, home, key, report } = this.#options;
		const meta = await readMeta(dir);
		const worktree = parseResult(text)?.outcome.worktree;
		if (typeof meta === "string" || !worktree) return undefined;
		try {
			return await packWork({ home, key, report: worktree });
		} catch (error) {
			report(`The commits of ${key} could not be packed: ${messageOf(error)}`);
			return undefined;
		}
	}

	async #gone(): Promise<Piece | undefined> {
		const why = await this.#whyGone();
		// A result may have been written just before the exit.
		if (why === undefined || (await this.#result()) !== undefined) return undefined;
		const { clock, report } = this.#options;
		let isOver = false;
		await bestEffort("ending what a lost run left behind", report, async () => {
			isOver = (await this.#processes.end(clock)) !== "unsure";
		});
		return { type: "gone", why, isOver };
	}

	async #whyGone(): Promise<string | undefined> {
		const { kept } = this.#options;
		if (this.#why !== undefined) return this.#why;
		if (kept?.ended) return undefined; // its exit will be seen
		const wrapper = await this.#processes.wrapper();
		if (!wrapper) return this.#clock.now() < this.#giveUpAt ? undefined : this.#giveUp();
		if (wrapper.type === "given_up") return NEVER_STARTED;
		if (this.#clock.now() < this.#nextProbeAt) return undefined;
		this.#nextProbeAt = this.#clock.now() + PROBE_MS;
		return (await isAlive(wrapper)) ? undefined : "its process is gone";
	}

	/** Unless a wrapper started after all: then its end will be seen. */
	async #giveUp(): Promise<string | undefined> {
		return (await this.#processes.preventStart(this.#options.clock.now())) ? NEVER_STARTED : undefined;
	}
}

async function sizeOf(path: string): Promise<number> {
	return (await stat(path).catch(() => undefined))?.size ?? 0;
}

async function digestOf(path: string): Promise<string | undefined> {
	const bytes = await readPlain(path, MAX_BYTES);
	return bytes && createHash("sha256").update(bytes).digest("hex");
}
