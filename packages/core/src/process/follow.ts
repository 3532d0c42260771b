/**
 * Watches a run from outside: what its log says, and how it ended. The end is a result in a file. Without one it is that
 * the wrapper is gone, which is seen by its exit where it is our child, and else by asking after its process.
 */
import { join } from "node:path";
import { messageOf, type Report } from "../best-effort.ts";
import { type Clock, steadyClock } from "../clock.ts";
import { type RunIdentity, runIdOf } from "../runner.ts";
import { createWhole } from "./create.ts";
import { isAlive } from "./identity.ts";
import { type EventLine, type ProcessIdentity, type ResultFile, RUN_FILES, type WrapperFile } from "./layout.ts";
import { parseEvent, parseResult, readResult, readWrapper } from "./read.ts";
import type { StartedWrapper, WrapperEnd } from "./starter.ts";
import { followLines, type LineFollower } from "./tail.ts";

export interface WatchOptions {
	dir: string;
	identity: RunIdentity;
	clock: Clock;
	report: Report;
	/** The wrapper, if this process started it. */
	started: StartedWrapper | undefined;
	onLine: (line: EventLine) => void;
	/** All that happened before has been told. Called once. */
	onCaughtUp: () => void;
	/** Called once, after the last line. */
	onEnd: (ending: Ending) => void;
}

export type Ending =
	/** Its result is in its file. */
	| { type: "kept"; result: ResultFile }
	/** The wrapper could not write the result and told it to us instead. */
	| { type: "told"; result: ResultFile }
	/** There is no result, and there will be none. */
	| { type: "gone"; why: string };

/** How long a wrapper that nobody has heard of may take to say that it is there. */
const START_MS = 10_000;
/** Asking after a process is not free on every system. */
const PROBE_MS = 1_900;
const NEVER_STARTED = "it never started";

export class Watch {
	readonly #options: WatchOptions;
	/** Of the time that passes. */
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

	/** The wrapper's process, as soon as it has said which that is. */
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

	/** One at a time; what changes meanwhile is looked at in the next. */
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

	/** Once: the same would be said at every look. */
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
		const result = await this.#result();
		if (result) return { type: "kept", result };
		const why = await this.#whyGone();
		if (why === undefined) return undefined;
		const late = await this.#result(); // it may have written it just before it went
		if (late) return { type: "kept", result: late };
		const told = this.#ofThisRun(parseResult(this.#end?.lastLine ?? ""));
		return told ? { type: "told", result: told } : { type: "gone", why };
	}

	async #result(): Promise<ResultFile | undefined> {
		return this.#ofThisRun(await this.#unlessUnreadable(() => readResult(this.#options.dir)));
	}

	/** What cannot be read says nothing yet. The run may still end in another way. */
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
		if (started?.ended) return undefined; // we shall see it end
		const wrapper = await this.#wrapperFile();
		if (wrapper?.type === "given_up") return NEVER_STARTED;
		if (!wrapper) return this.#clock.now() < this.#giveUpAt ? undefined : this.#giveUp();
		if (this.#clock.now() < this.#nextProbeAt) return undefined;
		this.#nextProbeAt = this.#clock.now() + PROBE_MS;
		return (await isAlive(wrapper)) ? undefined : "its process is gone";
	}

	/** From then on no wrapper can start. If one was first, it did after all. */
	async #giveUp(): Promise<string | undefined> {
		const { dir, clock } = this.#options;
		const givenUp: WrapperFile = { type: "given_up", at: clock.now() };
		if (await createWhole(join(dir, RUN_FILES.wrapper), JSON.stringify(givenUp))) return NEVER_STARTED;
		return (await this.#wrapperFile()) ? undefined : `its ${RUN_FILES.wrapper} is broken`;
	}

	async #wrapperFile(): Promise<WrapperFile | undefined> {
		this.#wrapper ??= await this.#unlessUnreadable(() => readWrapper(this.#options.dir));
		return this.#wrapper;
	}
}
