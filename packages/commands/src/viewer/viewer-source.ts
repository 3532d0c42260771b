/**
 * An agent's conversation: from its session file or, while there is none, the last lines of its progress. The source
 * may change while the viewer is open; then the conversation starts over. Last comes why a check rejected the work.
 */
import { join } from "node:path";
import type { AgentRecord, Outcome, Report } from "@pi-subagents/core";
import { checkOutput, endText } from "@pi-subagents/progress";
import { type FileTranscript, openTranscript, openTranscriptFile } from "@pi-subagents/runners/session";
import { RUN_FILES, readLineRange } from "@pi-subagents/runs";
import type { ConversationEntry, ConversationSource } from "@pi-subagents/widget";

export interface ConversationOptions {
	/** Where in-process agents keep their conversations. */
	sessionDir: string | undefined;
	report: Report;
}

/** Enough for an overview; the file has the rest. */
const PROGRESS_BYTES = 64 * 1024;

export async function openConversation(record: AgentRecord, options: ConversationOptions): Promise<AgentConversation> {
	const conversation = new AgentConversation(options);
	await conversation.refresh(record);
	return conversation;
}

export class AgentConversation implements ConversationSource {
	readonly #options: ConversationOptions;
	readonly #listeners = new Set<(length: number) => void>();
	/** Candidates, best first. */
	#files: FileTranscript[] = [];
	#artifacts: string | undefined;
	#isOpen = false;
	#unsubscribes: (() => void)[] = [];
	#progress: { first: number; entries: ConversationEntry[] } = { first: 1, entries: [] };
	/** The file that is shown; undefined while the progress is. */
	#shown: FileTranscript | undefined;
	/** The entry behind the last one. */
	#check: ConversationEntry | undefined;
	/** What was last notified: how many entries are before that one, and how many there are in all. */
	#notified = { before: 0, length: 0 };

	constructor(options: ConversationOptions) {
		this.#options = options;
	}

	get length(): number {
		return this.#length + (this.#check ? 1 : 0);
	}

	async read(from: number, count: number): Promise<readonly ConversationEntry[]> {
		const [check, end] = [this.#check, this.#length];
		const found = this.#shown ? await this.#shown.read(from, count) : this.#progress.entries.slice(from, from + count);
		return check && from <= end && from + count > end ? [...found.slice(0, end - from), check] : found;
	}

	onAppend(listener: (length: number) => void): () => void {
		this.#listeners.add(listener);
		this.#listen();
		return () => {
			this.#listeners.delete(listener);
			if (this.#listeners.size === 0) this.#stopListening();
		};
	}

	/** Reads what is new. A later run of the agent may use another directory. */
	async refresh({ id, runner, artifacts, outcome }: AgentRecord): Promise<void> {
		if (!this.#isOpen || artifacts !== this.#artifacts) {
			this.#stopListening();
			this.#isOpen = true;
			this.#artifacts = artifacts;
			this.#files = await this.#open(id, runner === "session");
			if (this.#listeners.size > 0) this.#listen();
		}
		await Promise.all(this.#files.map((file) => file.refresh()));
		const isAnswered = this.#files.some(({ length }) => length > 0);
		if (!isAnswered && artifacts !== undefined) await this.#readProgress(join(artifacts, RUN_FILES.transcript));
		this.#check = checkEntry(outcome);
		this.#update();
	}

	/** The file that is shown, or the one it will be in. */
	async path(): Promise<string | undefined> {
		if (this.#shown) return this.#shown.path();
		if (this.#artifacts !== undefined) return this.#artifacts;
		return this.#files[0]?.path();
	}

	async #open(id: string, isOwn: boolean): Promise<FileTranscript[]> {
		const { sessionDir, report } = this.#options;
		const dir = this.#artifacts;
		return [
			...(isOwn && sessionDir !== undefined ? [await openTranscript(sessionDir, id, report)] : []),
			...(dir === undefined ? [] : [await openTranscriptFile({ dir, name: RUN_FILES.session, report })]),
		];
	}

	async #readProgress(path: string): Promise<void> {
		const { texts, first } = await readLineRange(path, { after: undefined, bytes: PROGRESS_BYTES });
		if (first !== this.#progress.first) this.#notify(0);
		this.#progress = { first, entries: texts.map((text) => ({ type: "progress", text })) };
	}

	#listen(): void {
		if (this.#unsubscribes.length === 0)
			this.#unsubscribes = this.#files.map((file) => file.onAppend(() => this.#update()));
	}

	#stopListening(): void {
		for (const stop of this.#unsubscribes.splice(0)) stop();
	}

	get #length(): number {
		return this.#shown ? this.#shown.length : this.#progress.entries.length;
	}

	#update(): void {
		const best = this.#files.find(({ length }) => length > 0);
		if (best !== this.#shown) {
			this.#shown = best;
			this.#notify(0);
		}
		const { before, length } = this.#notified;
		if (before !== this.#length && length > before) this.#notify(0); // the entry behind it has another place now
		if (this.length !== this.#notified.length) this.#notify(this.length);
	}

	#notify(length: number): void {
		this.#notified = { before: length === 0 ? 0 : this.#length, length };
		for (const listener of [...this.#listeners]) listener(length);
	}
}

function checkEntry(outcome: Outcome | undefined): ConversationEntry | undefined {
	const output = checkOutput(outcome);
	return outcome && output !== "" ? { type: "check", line: endText(outcome), output } : undefined;
}
