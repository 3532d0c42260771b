/**
 * Writes the files of runs inside this process, the same as a wrapper's. Everything is written in the background:
 * nothing here can delay a run, and what could not be written is listed in its result.
 */

import type { AgentEvent, AgentSettled, Store } from "@pi-subagents/core";
import { type Report, type RunIdentity, type RunSpec, runIdOf } from "@pi-subagents/core";
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import type { FileStep } from "@pi-subagents/core/internal/files";
import { AppendLog, fileThread, IGNORE_ALL, jsonText } from "@pi-subagents/core/internal/files";
import type { Notice } from "@pi-subagents/core/internal/run";
import { ownIdentity, type ProcessIdentity } from "@pi-subagents/core/internal/signals";
import type { ChildEvent, Outcome } from "@pi-subagents/progress";
import { RUN_FILES } from "./format/layout.ts";
import type { LifeCycleLine } from "./format/lines.ts";
import { proveResult } from "./proof.ts";
import { RunTotals, timesOf } from "./run-totals.ts";
import { metaOf } from "./write.ts";

export interface RecorderOptions {
	store: Store;
	/** What a live agent was launched with. */
	specOf: (id: string) => (RunSpec & RunIdentity) | undefined;
	/** The id of the parent's pi session. */
	parentSessionId?: () => string | undefined;
	/** Called at launch; the returned function saves the agent's conversation under a path when the run has ended. */
	conversationOf?: (agentId: string) => (path: string) => Promise<void>;
	/** Called once per run with what could not be written. */
	report?: Report;
	/** pi's own directory, for the proofs of results. Without it there are none. */
	agentDir?: string;
}

export interface Recorder {
	/** Resolves when all events so far are written. */
	flush(): Promise<void>;
	/** The same, and ends the writing thread. Later events are still written. */
	close(): Promise<void>;
}

/**
 * Records only `session` runs with a directory for their files; wrappers record the others.
 *
 * @example
 * ```ts
 * const recorder = recordRuns({ store: manager.store, specOf: (id) => manager.specOf(id) });
 * await manager.shutdown();
 * await recorder.close();
 * ```
 */
export function recordRuns(options: RecorderOptions): Recorder {
	const running = new Map<string, RecordedRun>();
	const ending = new Set<Promise<void>>();
	/** This process, as soon as that is known: then a run's files are queued before anything that the run itself writes. */
	let holder: ProcessIdentity | undefined;
	const findHolder = async () => {
		const found = await ownIdentity();
		if (found.born !== null) holder = found; // else it may be known the next time
		return found;
	};
	options.store.subscribe(({ event, line }) => {
		const { agentId, at } = event;
		if (event.type === "agent_queued") {
			const spec = options.specOf(agentId);
			if (spec && isRecorded(spec)) running.set(agentId, new RecordedRun(options, spec, at, holder ?? findHolder()));
		}
		const run = running.get(agentId);
		if (!run || event.type === "result_archived") return;
		run.add(event, line);
		if (event.type !== "agent_settled") return;
		running.delete(agentId);
		const end = run.end(event, at);
		ending.add(end);
		void end.finally(() => ending.delete(end));
	});
	const flush = async () => {
		await fileThread.hurry(Promise.all([...ending, ...[...running.values()].map((run) => run.flush())]));
	};
	return {
		flush,
		async close() {
			await flush();
			await fileThread.close();
		},
	};
}

type Spec = RunSpec & RunIdentity & { artifacts: string };

function isRecorded(spec: RunSpec & RunIdentity): spec is Spec {
	return (spec.runner === "session" || spec.runner === "workflow") && spec.artifacts !== undefined;
}

type RunFile = keyof typeof RUN_FILES;

/** A file and the step that writes it. */
type Part = [RunFile, FileStep];

type Holder = ProcessIdentity | Promise<ProcessIdentity>;

class RecordedRun {
	readonly #options: RecorderOptions;
	readonly #spec: Spec;
	readonly #saveConversation: ((path: string) => Promise<void>) | undefined;
	/** Whether its directory was created. */
	readonly #opened: Promise<boolean>;
	readonly #events: AppendLog;
	readonly #transcript: AppendLog;
	readonly #totals = new RunTotals();
	readonly #lost: string[] = [];
	#startedAt: number;

	constructor(options: RecorderOptions, spec: Spec, createdAt: number, holder: Holder) {
		this.#options = options;
		this.#spec = spec;
		this.#startedAt = createdAt;
		this.#saveConversation = options.conversationOf?.(spec.agentId);
		this.#opened = this.#open(createdAt, holder);
		this.#events = this.#log("events");
		this.#transcript = this.#log("transcript");
	}

	add(event: Recorded, text: string | undefined): void {
		if (event.type === "agent_started") this.#startedAt = event.at;
		const line = lineOf(event);
		this.#totals.add(line);
		this.#events.add(JSON.stringify(line));
		if (text !== undefined) this.#transcript.add(text);
	}

	async flush(): Promise<void> {
		await this.#opened;
		await Promise.all([this.#events.flush(), this.#transcript.flush()]);
	}

	/** The result is written last, whatever became of the rest. */
	async end({ outcome, durationMs }: AgentSettled, at: number): Promise<void> {
		await this.flush();
		if (!(await this.#opened)) return;
		const path = this.#path("session");
		await this.#saveConversation?.(path).catch((error: unknown) => this.#lose("session", messageOf(error)));
		const lost = this.#lost.length === 0 ? {} : { lost: [...this.#lost] };
		const measured = durationMs === undefined ? {} : { durationMs };
		const times = timesOf({ startedAt: this.#startedAt, completedAt: at, ...measured });
		const ended = { ...this.#totals.result(this.#spec, outcome, at), ...times, ...lost };
		const text = jsonText({ ...ended, writtenBy: "parent" });
		await this.#prove(outcome, text);
		await this.#write(() => [["result", { does: "publish", path: this.#path("result"), text, isDurable: true }]]);
		if (this.#lost.length > 0) this.#report(`Not all of run ${runIdOf(this.#spec)} is kept. ${this.#lost.join("; ")}`);
	}

	/** An answer alone proves itself. What we say about it does not: an agent with a shell could have written the file. */
	async #prove(outcome: Outcome, text: string): Promise<void> {
		const { agentDir } = this.#options;
		const isPlain = outcome.status === "completed" && !outcome.verification && !outcome.worktree;
		if (agentDir === undefined || isPlain) return;
		await proveResult({ agentDir, runDir: this.#spec.artifacts }, text).catch((error: unknown) =>
			this.#report(`That the result of run ${runIdOf(this.#spec)} is ours cannot be kept: ${messageOf(error)}`),
		);
	}

	/** Queued at once if the holder is known: a workflow continues an agent only if it finds its `meta.json`, too. */
	async #open(createdAt: number, known: Holder): Promise<boolean> {
		const { artifacts: path } = this.#spec;
		const parentSessionId = this.#options.parentSessionId?.();
		const holder = known instanceof Promise ? await known : known;
		const meta = metaOf(this.#spec, { createdAt, holder, ...defined({ parentSessionId }) });
		const create = (name: RunFile, text: string): Part => [name, { does: "create", path: this.#path(name), text }];
		const share = (name: RunFile, text: string): Part => [name, { does: "share", path: this.#path(name), text }];
		const fault = await this.#write(
			() => [
				share("ignore", IGNORE_ALL),
				share("systemPrompt", meta.systemPrompt ?? ""),
				// Nothing reads it as orders, so it need not be durable.
				["meta", { does: "publish", path: this.#path("meta"), text: jsonText(meta), isDurable: false }],
				create("events", this.#events.drain()),
				create("transcript", this.#transcript.drain()),
				share("stdout", ""),
				share("stderr", ""),
			],
			{ does: "mkdir", path }, // an existing one belongs to another run
		);
		if (fault !== undefined) this.#report(`Nothing of run ${runIdOf(this.#spec)} is kept: ${fault}`);
		return fault === undefined;
	}

	#log(name: "events" | "transcript"): AppendLog {
		const onLost = (what: string) => void this.#lost.push(what);
		return new AppendLog({
			path: this.#path(name),
			thread: fileThread,
			hasPlace: this.#opened,
			durable: false,
			onLost,
		});
	}

	/** Records what could not be written. Returns why nothing could be, if the first step failed. */
	async #write(partsNow: () => readonly Part[], first?: FileStep): Promise<string | undefined> {
		let parts: readonly Part[] = [];
		const faults = await fileThread.take(() => {
			parts = partsNow();
			return [...(first ? [first] : []), ...parts.map(([, step]) => step)];
		});
		const fault = first && faults.shift();
		if (fault !== undefined) return fault;
		for (const [index, [name]] of parts.entries()) {
			const why = faults[index];
			if (why !== undefined) this.#lose(name, why);
		}
		return undefined;
	}

	#lose(name: RunFile, why: string): void {
		if (name === "events") this.#events.lose(why);
		else if (name === "transcript") this.#transcript.lose(why);
		else this.#lost.push(`${RUN_FILES[name]}: ${why}`);
	}

	#path(name: RunFile): string {
		return `${this.#spec.artifacts}/${RUN_FILES[name]}`; // as the directory itself was named
	}

	#report(message: string): void {
		this.#options.report?.(message);
	}
}

type Recorded = Exclude<AgentEvent, { type: "result_archived" }>;
type RecordedLine = { at: number; seq: number } & (ChildEvent | LifeCycleLine | Notice);

/** Without what the run's other files say: who it is, and its outcome. */
function lineOf({ agentId: _who, run: _which, ...event }: Recorded): RecordedLine {
	const { at, seq } = event;
	if (event.type === "agent_queued") return { at, seq, type: event.type, ...defined({ waits: event.waits }) };
	if (event.type === "agent_settled") return { at, seq, type: event.type, status: event.outcome.status };
	return event;
}
