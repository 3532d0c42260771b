/** Answers what a run asks of whoever watches it: questions of the child, and whether it may go on. */
import { type Answer, type Question, unanswered } from "../asking.ts";
import { messageOf, type Report } from "../best-effort.ts";
import type { Checkpoint } from "../runner.ts";
import type { ControlLine, EventLine } from "./layout.ts";

/** Asks on behalf of the child until somebody answers. The signal says that the answer is no longer wanted. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;

export interface RepliesOptions {
	ask: Ask | undefined;
	checkpoint: Checkpoint | undefined;
	send: (line: ControlLine) => Promise<void>;
	report: Report;
}

export class Replies {
	readonly #options: RepliesOptions;
	/** What nobody has replied to yet, by id. */
	readonly #open = new Map<string, EventLine & { type: "question" | "checkpoint" }>();
	readonly #asking = new Map<string, AbortController>();
	/** What an earlier watcher replied to. */
	#settled: ReadonlySet<string> = new Set();
	/** While the past is read again nothing is asked: much of it was answered long ago. */
	#isLive = false;
	#isOver = false;

	constructor(options: RepliesOptions) {
		this.#options = options;
	}

	hear(line: EventLine): void {
		if (line.type === "question_over") {
			this.#open.delete(line.id);
			this.#asking.get(line.id)?.abort();
		}
		// A child that does something new has passed where it waited.
		if (line.type === "assistant_text" || line.type === "tool_call") this.#forgetCheckpoints();
		if (line.type !== "question" && line.type !== "checkpoint") return;
		this.#open.set(line.id, line);
		if (this.#isLive) this.#replyToAll();
	}

	/** The past has been read; what is open now is open indeed, unless an earlier watcher replied. */
	goLive(settled: ReadonlySet<string>): void {
		this.#settled = settled;
		this.#isLive = true;
		this.#replyToAll();
	}

	/** Nobody wants an answer any more. */
	close(): void {
		this.#isOver = true;
		for (const asking of this.#asking.values()) asking.abort();
	}

	#forgetCheckpoints(): void {
		for (const [id, { type }] of this.#open) if (type === "checkpoint") this.#open.delete(id);
	}

	#replyToAll(): void {
		const open = [...this.#open.values()].filter(({ id }) => !this.#settled.has(id));
		this.#open.clear();
		for (const line of open) void (line.type === "question" ? this.#answer(line) : this.#pass(line.id));
	}

	async #answer(line: EventLine & { type: "question" }): Promise<void> {
		const { at: _at, type: _type, id, ...question } = line;
		const asking = new AbortController();
		this.#asking.set(id, asking);
		const answer = await this.#askFor(question, asking.signal);
		this.#asking.delete(id);
		if (!asking.signal.aborted) await this.#send({ type: "answer", id, answer });
	}

	async #askFor(question: Question, signal: AbortSignal): Promise<Answer> {
		try {
			return (await this.#options.ask?.(question, signal)) ?? unanswered(question);
		} catch (error) {
			if (!signal.aborted) this.#options.report(`An agent's question could not be asked: ${messageOf(error)}`);
			return unanswered(question);
		}
	}

	async #pass(id: string): Promise<void> {
		try {
			const word = (await this.#options.checkpoint?.()) ?? "go";
			await this.#send({ type: "pass", id, word });
		} catch (error) {
			await this.#send({ type: "pass", id, word: "end", error: messageOf(error) });
		}
	}

	async #send(line: ControlLine): Promise<void> {
		if (this.#isOver) return;
		try {
			await this.#options.send(line);
		} catch (error) {
			this.#options.report(`An agent waits for an answer that could not be written: ${messageOf(error)}`);
		}
	}
}
