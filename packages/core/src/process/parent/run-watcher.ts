/**
 * Watches a run from outside: its log, and how it ended. The end is a result file, or that the wrapper is gone: seen
 * by its exit if it is our child, else by checking its process.
 */
import { join } from "node:path";
import { messageOf, type Report } from "../../base/best-effort.ts";
import { type Clock, steadyClock } from "../../base/clock.ts";
import { followLines, type LineFollower } from "../../files/tail.ts";
import { type RunIdentity, runIdOf } from "../../model/runner.ts";
import {
	type EventLine,
	type ProcessIdentity,
	type ResultFile,
	RUN_FILES,
	type WrapperFile,
} from "../../runs/format/layout.ts";
import { isAlive } from "../../runs/identity.ts";
import { parseEvent, parseResult, readResult, readWrapper } from "../../runs/read.ts";
import { preventStart } from "../../runs/write.ts";
import type { StartedWrapper, WrapperEnd } from "./starter.ts";

export interface WatchOptions {
	dir: string;
	identity: RunIdentity;
	clock: Clock;
	report: Report;
	/** The wrapper, if this process started it. */
	started: StartedWrapper | undefined;
	/** The result in the run's directory counts, even while the wrapper can be heard: the agent could have written it. */
	trustsFiles: boolean;
	onLine: (line: EventLine) => void;
	/** Called once, when all earlier events were delivered. */
	onCaughtUp: () => void;
	/** Called once, after the last line. */
	onEnd: (ending: Ending) => void;
}

export type Ending =
	/** The result is in its file. */
	| { type: "written"; result: ResultFile }
	/** The wrapper sent us the result: it could not write it, or files do not count. */
	| { type: "sent"; result: ResultFile }
	/** There is no result, and there will be none. */
	| { type: "gone"; why: string };

/** How long an unknown wrapper may take to announce itself. */
const START_MS = 10_000;
/** Checking a process is expensive on some systems. */
const PROBE_MS = 1_900;
const NEVER_STARTED = "it never started";

export class RunWatcher {
	readonly #options: WatchOptions;
	/** Unaffected by changes of the time of day. */
	readonly #clock: Clock;
	readonly #lines: LineFollower;
	readonly #giveUpAt: number;
	#nextProbeAt = 0;
	#wrapper: WrapperFile | undefined;
	#end: WrapperEnd | undefined;
	#hasCaughtUp = false;
	#isLooking = false;
	#mustLookAgain = false;
	#isClosed = false;
	#hasComplained = false;

	constructor(options: WatchOptions) {
		const { dir, clock, report, started } = options;
		this.#options = options;
		this.#clock = steadyClock(clock);
		this.#giveUpAt = this.#clock.now() + START_MS;
		this.#lines = followLines(join(dir, RUN_FILES.events), (line) => this.#hear(line), {
			clock,
			report,
			beside: [RUN_FILES.result, RUN_FILES.wrapper],
			onQuiet: () => void this.#look(),
		});
		void started?.ended?.then((end) => {
			this.#end = end;
			void this.#look();
		});
	}

	/** The wrapper's process, once it has announced itself. */
	async wrapper(): Promise<ProcessIdentity | undefined> {
		const file = await this.#wrapperFile();
		return file?.type === "started" ? file : undefined;
	}

	close(): void {
		this.#isClosed = true;
		this.#lines.close();
	}

	#hear(text: string): void {
		const line = parseEvent(text);
		if (line) this.#options.onLine(line);
	}

	/** One at a time; changes meanwhile trigger another look. */
	async #look(): Promise<void> {
		this.#mustLookAgain = true;
		if (this.#isLooking) return;
		this.#isLooking = true;
		while (this.#mustLookAgain && !this.#isClosed) {
			this.#mustLookAgain = false;
			if (!this.#hasCaughtUp) this.#options.onCaughtUp();
			this.#hasCaughtUp = true;
			try {
				const ending = await this.#findEnd();
				if (ending) await this.#finish(ending);
			} catch (error) {
				this.#complain(messageOf(error));
			}
		}
		this.#isLooking = false;
	}

	/** Once, not at every look. */
	#complain(why: string): void {
		if (!this.#hasComplained) this.#options.report(`A file in ${this.#options.dir} cannot be used: ${why}`);
		this.#hasComplained = true;
	}

	async #finish(ending: Ending): Promise<void> {
		await this.#lines.flush();
		if (this.#isClosed) return;
		this.close();
		this.#options.onEnd(ending);
	}

	async #findEnd(): Promise<Ending | undefined> {
		const { trustsFiles, started } = this.#options;
		const look = async () => (trustsFiles || !started?.sendsResult ? this.#result() : undefined);
		const result = await look();
		if (result) return { type: "written", result };
		const why = await this.#whyGone();
		if (why === undefined) return undefined;
		const late = await look(); // it may have been written just before the exit
		if (late) return { type: "written", result: late };
		const told = this.#ofThisRun(parseResult(this.#end?.lastLine ?? ""));
		return told ? { type: "sent", result: told } : { type: "gone", why };
	}

	async #result(): Promise<ResultFile | undefined> {
		return this.#ofThisRun(await this.#unlessUnreadable(() => readResult(this.#options.dir)));
	}

	/** An unreadable file decides nothing: the run may still end in another way. */
	async #unlessUnreadable<File>(read: () => Promise<File | undefined>): Promise<File | undefined> {
		try {
			return await read();
		} catch (error) {
			this.#complain(messageOf(error));
			return undefined;
		}
	}

	#ofThisRun(result: ResultFile | undefined): ResultFile | undefined {
		return result?.runId === runIdOf(this.#options.identity) ? result : undefined;
	}

	async #whyGone(): Promise<string | undefined> {
		const { started } = this.#options;
		if (this.#end) return this.#end.how;
		if (started?.ended) return undefined; // its exit will be seen
		const wrapper = await this.#wrapperFile();
		if (wrapper?.type === "given_up") return NEVER_STARTED;
		if (!wrapper) return this.#clock.now() < this.#giveUpAt ? undefined : this.#giveUp();
		if (this.#clock.now() < this.#nextProbeAt) return undefined;
		this.#nextProbeAt = this.#clock.now() + PROBE_MS;
		return (await isAlive(wrapper)) ? undefined : "its process is gone";
	}

	/** From then on no wrapper can start; unless one was first. */
	async #giveUp(): Promise<string | undefined> {
		const { dir, clock } = this.#options;
		if (await preventStart(dir, clock.now())) return NEVER_STARTED;
		return (await this.#wrapperFile()) ? undefined : `its ${RUN_FILES.wrapper} is broken`;
	}

	async #wrapperFile(): Promise<WrapperFile | undefined> {
		this.#wrapper ??= await this.#unlessUnreadable(() => readWrapper(this.#options.dir));
		return this.#wrapper;
	}
}
