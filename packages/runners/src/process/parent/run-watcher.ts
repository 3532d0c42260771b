/**
 * Watches a run from outside: its log, and how it ended. The end is a result file, or that the wrapper is gone: seen
 * by its exit if it is our child, else by checking its process.
 */
import { join } from "node:path";
import { type Clock, type Report, type RunIdentity, runIdOf, steadyClock } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import { followLines, type LineFollower } from "@pi-subagents/core/internal/files";
import type { RunProcesses, WrapperFile } from "@pi-subagents/core/internal/signals";
import { isAlive } from "@pi-subagents/core/internal/signals";
import type { EventLine, ResultFile } from "@pi-subagents/runs";
import { checkedResult, isVerified, parseResult, type ResultClaim, RUN_FILES, readClaim } from "@pi-subagents/runs";
import type { AskedFor } from "@pi-subagents/runs/internal";
import { checkedLine, type LogSpec, parseEvent } from "@pi-subagents/runs/internal";
import type { StartedWrapper, WrapperEnd } from "./starter.ts";

export interface WatchOptions {
	dir: string;
	identity: RunIdentity;
	clock: Clock;
	report: Report;
	/** The wrapper, if this process started it. */
	started: StartedWrapper | undefined;
	/** Absent if it has none on this machine: then `started` says when it has ended. */
	processes: RunProcesses | undefined;
	/** Decides what its log and its result may say. */
	spec: AskedFor & LogSpec;
	/** pi's own directory, with the proofs of results. */
	agentDir: string;
	onLine: (line: EventLine) => void;
	/** Called once, when all earlier events were delivered. */
	onCaughtUp: () => void;
	/** Called once, after the last line. */
	onEnd: (ending: Ending) => void;
}

export type Ending =
	/** The result is in its file. */
	| { type: "written"; result: ResultFile }
	/** The wrapper sent us the result. */
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

	close(): void {
		this.#isClosed = true;
		this.#lines.close();
	}

	#hear(text: string): void {
		const said = parseEvent(text);
		const line = said && checkedLine(said, this.#options.spec);
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

	/**
	 * A wrapper that can be heard says how the run ended. Otherwise its file does: at once if it is proven to be the
	 * wrapper's, and when that is gone if the agent could have written it.
	 */
	async #findEnd(): Promise<Ending | undefined> {
		const { started, spec, clock } = this.#options;
		const isHeard = started?.sendsResult === true;
		const early = isHeard ? undefined : await this.#claim();
		if (early?.isProven) return { type: "written", result: early.result };
		const why = await this.#whyGone();
		if (why === undefined) return undefined;
		const told = parseResult(this.#end?.lastLine ?? "");
		if (told && this.#isOfThisRun(told))
			return { type: "sent", result: await checkedResult(told, spec, "ours", clock) };
		const late = await this.#claim(); // written just before the exit, or its line was lost on the way
		const counts = late?.isProven || !(isHeard && isVerified(spec));
		return late && counts ? { type: "written", result: late.result } : { type: "gone", why };
	}

	async #claim(): Promise<ResultClaim | undefined> {
		const { dir, spec, agentDir, clock } = this.#options;
		const claim = await this.#unlessUnreadable(() => readClaim(dir, spec, { agentDir, clock }));
		return claim && this.#isOfThisRun(claim.result) ? claim : undefined;
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

	#isOfThisRun({ runId }: ResultFile): boolean {
		return runId === runIdOf(this.#options.identity);
	}

	async #whyGone(): Promise<string | undefined> {
		const { started, processes } = this.#options;
		if (this.#end) return this.#end.how;
		if (started?.ended) return undefined; // its exit will be seen
		if (!processes) return "nothing is known of its process here";
		const wrapper = await this.#recorded();
		if (wrapper?.type === "given_up") return NEVER_STARTED;
		if (!wrapper) return this.#clock.now() < this.#giveUpAt ? undefined : this.#giveUp(processes);
		if (this.#clock.now() < this.#nextProbeAt) return undefined;
		this.#nextProbeAt = this.#clock.now() + PROBE_MS;
		return (await isAlive(wrapper)) ? undefined : "its process is gone";
	}

	/** From then on no wrapper can start; unless one was first. */
	async #giveUp(processes: RunProcesses): Promise<string | undefined> {
		if (await processes.preventStart(this.#options.clock.now())) return NEVER_STARTED;
		return (await this.#recorded()) ? undefined : "the record of its process is broken";
	}

	/** The run's directory says that, too, but the agent can write there. */
	async #recorded(): Promise<WrapperFile | undefined> {
		this.#wrapper ??= await this.#unlessUnreadable(async () => this.#options.processes?.wrapper());
		return this.#wrapper;
	}
}
