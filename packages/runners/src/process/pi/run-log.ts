/** Everything a run writes while it runs: events, the transcript, and pi's output. */
import { join } from "node:path";
import { type Clock, type ExtensionNotice, steadyClock } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { GrowingFile } from "@pi-subagents/core/internal/files";
import { type ChildEvent, createDescriber, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import type { EventLine } from "@pi-subagents/runs";
import { RUN_FILES } from "@pi-subagents/runs";
import type { LifeCycleLine, WrapperEvent } from "@pi-subagents/runs/internal";

/** pi's output is for debugging; it must not fill the disk. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;
/** How often an empty line in pi's output shows watchers that the child writes, although nothing is logged. */
const PULSE_MS = 5_000;
const MAX_NOTICE_LENGTH = 2_000;
const MAX_EXTENSION_NOTICES = 100;

export interface RunLogOptions {
	dir: string;
	clock: Clock;
	/** Called for each transcript line. */
	onLine: (line: string) => void;
}

export class RunLog {
	/** What could not be written. */
	readonly lost: string[] = [];
	readonly #options: RunLogOptions;
	/** Unaffected by changes of the time of day. */
	readonly #now: () => number;
	readonly #events: GrowingFile;
	readonly #transcript: GrowingFile;
	readonly #stdout: GrowingFile;
	readonly #stderr: GrowingFile;
	readonly #describe = createDescriber();
	#seq = 0;
	#extensionNotices = 0;
	#printedAt = 0;

	constructor(options: RunLogOptions) {
		this.#options = options;
		this.#now = steadyClock(options.clock).now;
		this.#events = this.#file(RUN_FILES.events);
		this.#transcript = this.#file(RUN_FILES.transcript);
		this.#stdout = this.#file(RUN_FILES.stdout, MAX_LOG_BYTES);
		this.#stderr = this.#file(RUN_FILES.stderr, MAX_LOG_BYTES);
		for (const file of [this.#stdout, this.#stderr]) file.append(""); // an empty file shows that nothing was printed
	}

	childDid(event: ChildEvent): void {
		this.#append(event);
		const line = this.#describe(event);
		if (line !== undefined) this.#write(line);
	}

	/** Returns whether it was written. `at` is when it happened, if not now. */
	say(event: WrapperEvent | LifeCycleLine, at?: number): boolean {
		return this.#append(event, at);
	}

	notice(text: string): void {
		const line = sanitize(text).slice(0, MAX_NOTICE_LENGTH);
		this.say({ type: "notice", text: line });
		this.#write(line);
	}

	/** What an extension in the child says. One that never stops must not fill the disk, or the user's screen. */
	extensionNotice({ text, level }: ExtensionNotice): void {
		if (++this.#extensionNotices > MAX_EXTENSION_NOTICES) return;
		this.say({ type: "notice", text: sanitizeBlock(text).slice(0, MAX_NOTICE_LENGTH), level });
	}

	stdout(line: string): void {
		this.#printedAt = this.#now();
		this.#stdout.append(`${line}\n`);
	}

	/** The child gave a sign of life that is no event. Watchers see that the file has changed, also its copy elsewhere. */
	pulse(): void {
		if (this.#now() - this.#printedAt >= PULSE_MS) this.stdout("");
	}

	stderr(bytes: Uint8Array): void {
		this.#stderr.append(bytes);
	}

	close(): void {
		for (const file of [this.#events, this.#transcript, this.#stdout, this.#stderr]) file.close();
	}

	#append(event: ChildEvent | WrapperEvent | LifeCycleLine, at: number = this.#options.clock.now()): boolean {
		const line: EventLine = { at: Math.floor(at), seq: ++this.#seq, ...event };
		return this.#events.append(`${JSON.stringify(line)}\n`);
	}

	#write(line: string): void {
		this.#transcript.append(`${line}\n`);
		this.#options.onLine(line);
	}

	#file(name: string, maxBytes?: number): GrowingFile {
		const onLost = (what: string) => {
			this.lost.push(what);
			if (name !== RUN_FILES.events) this.say({ type: "notice", text: `Not everything is kept. ${what}` });
		};
		const path = join(this.#options.dir, name);
		return new GrowingFile({ path, onLost, durable: false, ...defined({ maxBytes }) });
	}
}
