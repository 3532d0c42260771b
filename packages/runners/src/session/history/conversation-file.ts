/**
 * Writes a conversation to its file in the background. pi itself would append each line synchronously and block the
 * process. After a line that could not be written no more are: a file with a gap would be a false conversation.
 */
import type { SessionManager } from "@earendil-works/pi-coding-agent";
import type { Report } from "@pi-subagents/core";
import type { FileStep } from "@pi-subagents/core/internal/files";
import { fileThread } from "@pi-subagents/core/internal/files";
import { sessionText } from "./session-text.ts";

export interface KeepOptions {
	/** The conversation's directory. Created if missing. */
	dir: string;
	path: string;
	/** The file exists and is complete. */
	isThere: boolean;
	agentId: string;
	/** Called once if the conversation cannot be saved, or not to its end. */
	report: Report;
}

/** Files with pending writes. */
const busy = new Set<ConversationFile>();

/** Saves the conversation from its first message on; one without messages leaves no file. */
export function keepIn(manager: SessionManager, options: KeepOptions): SessionManager {
	const file = new ConversationFile(options);
	let { isThere } = options;
	manager._persist = (entry) => {
		if (isThere) return file.append(sessionText([entry]));
		if (entry.type !== "message") return;
		isThere = true;
		const header = manager.getHeader();
		file.create(sessionText([...(header ? [header] : []), ...manager.getEntries()]));
	};
	return manager;
}

export function unsavedMessage(agentId: string, why: string): string {
	return `The conversation of agent ${agentId} is not saved, so it cannot be resumed: ${why}`;
}

/**
 * Resolves when all messages so far are written or have failed: of the conversation in that directory, or of this
 * process.
 *
 * @example
 * ```ts
 * await manager.shutdown();
 * await conversationsWritten();
 * ```
 */
export async function conversationsWritten(dir?: string): Promise<void> {
	const files = [...busy].filter((file) => dir === undefined || file.dir === dir);
	if (files.length > 0) await fileThread.hurry(Promise.all(files.map((file) => file.written())));
}

class ConversationFile {
	readonly #options: KeepOptions;
	readonly #waiting: FileStep[] = [];
	#writing: Promise<void> | undefined;
	#isThere: boolean;
	#isLost = false;

	constructor(options: KeepOptions) {
		this.#options = options;
		this.#isThere = options.isThere;
		if (!options.isThere) this.#add({ does: "mkdirs", path: options.dir });
	}

	get dir(): string {
		return this.#options.dir;
	}

	create(text: string): void {
		this.#add({ does: "create", path: this.#options.path, text });
	}

	append(text: string): void {
		const last = this.#waiting.at(-1);
		// In one step: a later one would run even if this fails.
		if (last && "text" in last) last.text += text;
		else this.#add({ does: "append", path: this.#options.path, text, durable: false });
	}

	async written(): Promise<void> {
		await this.#writing;
	}

	#add(step: FileStep): void {
		if (this.#isLost) return;
		this.#waiting.push(step);
		this.#writing ??= this.#write();
	}

	async #write(): Promise<void> {
		busy.add(this);
		while (this.#waiting.length > 0) {
			let steps: readonly FileStep[] = [];
			const send = () => {
				steps = this.#waiting.splice(0);
				return steps;
			};
			const fault = (await fileThread.take(send)).find((fault) => fault !== undefined);
			if (fault !== undefined) this.#lose(fault);
			else this.#isThere ||= steps.some(({ does }) => does === "create");
		}
		busy.delete(this);
		this.#writing = undefined;
	}

	#lose(why: string): void {
		this.#isLost = true;
		this.#waiting.length = 0;
		const { agentId, report } = this.#options;
		report(
			this.#isThere ? `The rest of agent ${agentId}'s conversation is not saved: ${why}` : unsavedMessage(agentId, why),
		);
	}
}
