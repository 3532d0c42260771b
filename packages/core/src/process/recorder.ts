/**
 * Keeps the files of runs inside this process, the same that a wrapper keeps of its run. Everything is written behind
 * the run: nothing here can hold it up, and what could not be written is told in its result.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ChildEvent, createDescriber, type Outcome } from "@pi-subagents/progress";
import { messageOf, type Report } from "../best-effort.ts";
import type { AgentEvent, LifeCycleEvent } from "../event.ts";
import { type RunIdentity, type RunSpec, runIdOf } from "../runner.ts";
import type { Store } from "../store.ts";
import { Account } from "./account.ts";
import { AppendLog } from "./append-log.ts";
import { RUN_FILES } from "./layout.ts";
import { metaOf, writeMeta } from "./meta.ts";
import { writeResult } from "./result.ts";

export interface RecorderOptions {
	store: Store;
	/** What a live agent was launched with. */
	specOf: (id: string) => (RunSpec & RunIdentity) | undefined;
	/** The id of the parent's pi session. */
	parentSessionId?: () => string | undefined;
	/** Asked at launch for what puts the agent's conversation under the given path when the run has ended. */
	conversationOf?: (agentId: string) => (path: string) => Promise<void>;
	/** Hears, once for each run, of what could not be kept. */
	report?: Report;
}

export interface Recorder {
	/** Resolves when everything that has happened so far is written. */
	flush(): Promise<void>;
}

/**
 * Only runs of the `session` runner with a directory for their files are recorded; the others are by their wrappers.
 *
 * @example
 * ```ts
 * const recorder = recordRuns({ store: manager.store, specOf: (id) => manager.specOf(id) });
 * await manager.shutdown();
 * await recorder.flush();
 * ```
 */
export function recordRuns(options: RecorderOptions): Recorder {
	const running = new Map<string, RecordedRun>();
	const ending = new Set<Promise<void>>();
	options.store.subscribe((event) => {
		const { agentId, at } = event;
		const run = running.get(agentId);
		if (event.type === "agent_queued") {
			const spec = options.specOf(agentId);
			if (spec && isRecorded(spec)) running.set(agentId, new RecordedRun(options, spec, at));
		} else if (event.type === "agent_settled" && run) {
			running.delete(agentId);
			const end = run.end(event.outcome, at);
			ending.add(end);
			void end.finally(() => ending.delete(end));
		} else if (event.type === "agent_started") run?.start(at);
		else if (!isLifeCycle(event)) run?.add(event);
	});
	return {
		async flush() {
			await Promise.all([...ending, ...[...running.values()].map((run) => run.flush())]);
		},
	};
}

type Spec = RunSpec & RunIdentity & { artifacts: string };

function isRecorded(spec: RunSpec & RunIdentity): spec is Spec {
	return spec.runner === "session" && spec.artifacts !== undefined;
}

class RecordedRun {
	readonly #options: RecorderOptions;
	readonly #spec: Spec;
	readonly #saveConversation: ((path: string) => Promise<void>) | undefined;
	/** Whether there is a directory of its own. */
	readonly #opened: Promise<boolean>;
	readonly #events: AppendLog;
	readonly #transcript: AppendLog;
	readonly #describe = createDescriber();
	readonly #account = new Account();
	readonly #lost: string[] = [];
	#startedAt: number;

	constructor(options: RecorderOptions, spec: Spec, createdAt: number) {
		this.#options = options;
		this.#spec = spec;
		this.#startedAt = createdAt;
		this.#saveConversation = options.conversationOf?.(spec.agentId);
		this.#opened = this.#open(createdAt);
		this.#events = this.#log("events");
		this.#transcript = this.#log("transcript");
	}

	start(at: number): void {
		this.#startedAt = at;
	}

	add({ agentId: _who, run: _which, seq: _place, ...line }: AgentEvent & ChildEvent): void {
		this.#account.add(line);
		this.#events.add(JSON.stringify(line));
		const text = this.#describe(line);
		if (text !== undefined) this.#transcript.add(text);
	}

	async flush(): Promise<void> {
		await this.#opened;
		await Promise.all([this.#events.flush(), this.#transcript.flush()]);
	}

	/** The result comes last, whatever became of the rest. */
	async end(outcome: Outcome, at: number): Promise<void> {
		await this.flush();
		if (!(await this.#opened)) return;
		await this.#keep("session", (path) => this.#saveConversation?.(path));
		const lost = this.#lost.length === 0 ? {} : { lost: [...this.#lost] };
		const result = { ...this.#account.result(this.#spec, outcome, at), startedAt: this.#startedAt, ...lost };
		await this.#keep("result", () => writeResult(this.#spec.artifacts, { ...result, writtenBy: "parent" }));
		if (this.#lost.length > 0) this.#report(`Not all of run ${runIdOf(this.#spec)} is kept. ${this.#lost.join("; ")}`);
	}

	async #open(createdAt: number): Promise<boolean> {
		const dir = this.#spec.artifacts;
		const parentSessionId = this.#options.parentSessionId?.();
		const about = { createdAt, ...(parentSessionId === undefined ? {} : { parentSessionId }) };
		try {
			await mkdir(dir, { mode: 0o700 }); // one that is there already is somebody else's
		} catch (error) {
			this.#report(`Nothing of run ${runIdOf(this.#spec)} is kept: ${messageOf(error)}`);
			return false;
		}
		await this.#keep("meta", () => writeMeta(dir, metaOf(this.#spec, about)));
		for (const name of ["events", "transcript", "stdout", "stderr"] as const) {
			await this.#keep(name, (path) => writeFile(path, "", { flag: "wx", mode: 0o600 }));
		}
		return true;
	}

	#log(name: "events" | "transcript"): AppendLog {
		const onLost = (what: string) => void this.#lost.push(what);
		return new AppendLog({ path: join(this.#spec.artifacts, RUN_FILES[name]), hasPlace: this.#opened, onLost });
	}

	async #keep(name: keyof typeof RUN_FILES, write: (path: string) => unknown): Promise<void> {
		try {
			await write(join(this.#spec.artifacts, RUN_FILES[name]));
		} catch (error) {
			this.#lost.push(`${RUN_FILES[name]}: ${messageOf(error)}`);
		}
	}

	#report(message: string): void {
		this.#options.report?.(message);
	}
}

function isLifeCycle(event: AgentEvent): event is AgentEvent & LifeCycleEvent {
	return event.type.startsWith("agent_");
}
