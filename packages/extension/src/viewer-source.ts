/**
 * An agent's conversation, wherever it is kept: in its session file, or, as long as there is none, as the last lines of
 * its progress. Which of them it is may change while somebody looks at it; then it begins anew.
 */
import { join } from "node:path";
import type { AgentRecord, Report } from "@pi-subagents/core";
import { RUN_FILES } from "@pi-subagents/core/process";
import { type FileTranscript, openTranscript, openTranscriptFile } from "@pi-subagents/core/session";
import type { ConversationEntry, ConversationSource } from "@pi-subagents/widget";
import { readStretch } from "./peek-file.ts";

export interface Places {
	/** Where the conversations of the session's own agents are. */
	sessionDir: string | undefined;
	report: Report;
}

/** Enough to see what it is about; the file has the rest. */
const PROGRESS_BYTES = 64 * 1024;

export async function openConversation(record: AgentRecord, places: Places): Promise<AgentConversation> {
	const conversation = new AgentConversation(places);
	await conversation.refresh(record);
	return conversation;
}

export class AgentConversation implements ConversationSource {
	readonly #places: Places;
	readonly #listeners = new Set<(length: number) => void>();
	/** Those that can have it, the best first. */
	#files: FileTranscript[] = [];
	#artifacts: string | undefined;
	#isOpen = false;
	#stops: (() => void)[] = [];
	#progress: { first: number; entries: ConversationEntry[] } = { first: 1, entries: [] };
	/** What is shown; the progress if it is none of the files. */
	#shown: FileTranscript | undefined;
	#told = 0;

	constructor(places: Places) {
		this.#places = places;
	}

	get length(): number {
		return this.#shown ? this.#shown.length : this.#progress.entries.length;
	}

	async read(from: number, count: number): Promise<readonly ConversationEntry[]> {
		return this.#shown ? this.#shown.read(from, count) : this.#progress.entries.slice(from, from + count);
	}

	onAppend(listener: (length: number) => void): () => void {
		this.#listeners.add(listener);
		this.#listen();
		return () => {
			this.#listeners.delete(listener);
			if (this.#listeners.size === 0) this.#stopListening();
		};
	}

	/** Looks for what is new. A later run of the agent may keep its files elsewhere. */
	async refresh({ id, runner, artifacts }: AgentRecord): Promise<void> {
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
		this.#tell();
	}

	/** The file that is shown, or the one that it will be in. */
	async path(): Promise<string | undefined> {
		if (this.#shown) return this.#shown.path();
		if (this.#artifacts !== undefined) return this.#artifacts;
		return this.#files[0]?.path();
	}

	async #open(id: string, isOwn: boolean): Promise<FileTranscript[]> {
		const { sessionDir, report } = this.#places;
		const dir = this.#artifacts;
		return [
			...(isOwn && sessionDir !== undefined ? [await openTranscript(sessionDir, id, report)] : []),
			...(dir === undefined ? [] : [await openTranscriptFile({ dir, name: RUN_FILES.session, report })]),
		];
	}

	async #readProgress(path: string): Promise<void> {
		const { texts, first } = await readStretch(path, { after: undefined, bytes: PROGRESS_BYTES });
		if (first !== this.#progress.first) this.#say(0);
		this.#progress = { first, entries: texts.map((text) => ({ type: "progress", text })) };
	}

	#listen(): void {
		if (this.#stops.length === 0) this.#stops = this.#files.map((file) => file.onAppend(() => this.#tell()));
	}

	#stopListening(): void {
		for (const stop of this.#stops.splice(0)) stop();
	}

	#tell(): void {
		const best = this.#files.find(({ length }) => length > 0);
		if (best !== this.#shown) {
			this.#shown = best;
			this.#say(0);
		}
		if (this.length !== this.#told) this.#say(this.length);
	}

	#say(length: number): void {
		this.#told = length;
		for (const listener of [...this.#listeners]) listener(length);
	}
}
