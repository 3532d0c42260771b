/**
 * Stops one run that takes too long or goes silent; the clock stops while it waits. The manager watches its runs with
 * it, and a wrapper its child, even if no one watches the wrapper.
 */
import type { ChildEvent } from "@pi-subagents/progress";
import { type Clock, wholeMs } from "../base/clock.ts";
import { type Activity, endsTools, nextDeadline, silentMs } from "./deadlines.ts";
import type { Stop } from "./runner.ts";
import type { Limits } from "./schema/spec.ts";

export interface WatchdogOptions {
	/** Unaffected by changes of the time of day. All times here are by this clock. */
	clock: Clock;
	/** Of these, those that limit time. They never change during a run. */
	limits: Limits;
	/** What the run is doing; undefined while there is nothing to enforce. */
	activity: () => Activity | undefined;
	/**
	 * How long ago the child last gave a sign of life that is no event. Asked only when it seems silent, so a child that
	 * writes costs no more than a timestamp for each piece. Undefined: never, or not known here.
	 */
	quietMs?: () => number | undefined;
	/** A deadline has passed. */
	onLate: (stop: Stop) => void;
	/** How long no deadline counts: what a rejoined run did meanwhile, perhaps its end, is still being read. */
	sparedMs?: number;
}

export class Watchdog {
	readonly #options: WatchdogOptions;
	readonly #sparedUntil: number;
	/** Running tools, by call. */
	readonly #tools = new Map<string, { tool: string; startedAt: number }>();
	#beganAt: number | undefined;
	/** From when the time of the whole run counts. */
	#countsFrom: number | undefined;
	/** Since when the run cannot be seen, and for how long it could not before. */
	#hiddenAt: number | undefined;
	#hiddenMs = 0;
	#movedAt = 0;
	/** How many things it waits for: a child, an answer, a provider. */
	#holds = 0;
	/** When the last of these ended; the clocks restart from there. */
	#restedAt = 0;
	#isClosed = false;
	#cancel = (): void => undefined;

	constructor(options: WatchdogOptions) {
		this.#options = options;
		const { clock, sparedMs } = options;
		const now = sparedMs === undefined ? 0 : clock.now();
		this.#restedAt = now;
		this.#sparedUntil = now + (sparedMs ?? 0);
	}

	/** When the run began. */
	get beganAt(): number {
		return this.#beganAt ?? 0;
	}

	/** How long it has been running. Undefined if it has not begun. */
	get elapsedMs(): number | undefined {
		return this.#beganAt === undefined ? undefined : wholeMs(this.#beganAt, this.#options.clock.now());
	}

	/** The run begins. */
	begin(at: number): void {
		this.#beganAt = at;
		this.#countsFrom = at;
		this.move(at);
	}

	/** A sign of life. */
	move(at: number): void {
		this.#movedAt = at;
	}

	/** The child did something. `activity` already knows. */
	observe(event: ChildEvent, at: number): void {
		this.move(at);
		if (endsTools(event)) this.#tools.clear();
		if (event.type === "tool_call") this.#tools.set(event.callId ?? event.tool, { tool: event.tool, startedAt: at });
		if (event.type === "tool_result") this.#tools.delete(event.callId ?? event.tool);
		const startsClock =
			event.type === "verified" || (event.type === "tool_call" && this.#options.limits.toolTimeoutMs !== undefined);
		if (startsClock) this.watch();
	}

	/** The run is started over: nothing of it runs now, and its time starts at zero. */
	startOver(): void {
		const now = this.#options.clock.now();
		this.#tools.clear();
		this.#countsFrom = now;
		this.#hiddenMs = 0;
		if (this.#hiddenAt !== undefined) this.#hiddenAt = now;
	}

	/** While the run cannot be seen, no clock runs. Those of its tools and of its silence start again afterwards. */
	setSeen(isSeen: boolean): void {
		if (isSeen === (this.#hiddenAt === undefined)) return;
		const now = this.#options.clock.now();
		if (this.#hiddenAt !== undefined) {
			this.#hiddenMs += now - this.#hiddenAt;
			this.#restedAt = now;
		}
		this.#hiddenAt = isSeen ? undefined : now;
		this.watch();
	}

	/** Stops all clocks but that of the whole run until the returned function is called. */
	hold(): () => void {
		this.#holds++;
		this.watch();
		let isOver = false;
		return () => {
			if (isOver) return;
			isOver = true;
			this.#holds--;
			this.#restedAt = this.#options.clock.now();
			this.watch();
		};
	}

	/** Resets the timer of the next deadline after something that moved it. */
	watch(): void {
		const { clock, onLate } = this.#options;
		this.#cancel();
		if (this.#isClosed) return;
		const deadline = this.#nextDeadline();
		if (!deadline) return;
		const at = Math.max(deadline.at, this.#sparedUntil);
		this.#cancel = clock.after(Math.max(0, at - clock.now()), () => {
			// Events only postpone deadlines, so most timers find that theirs has moved and wait again.
			this.#lookForLife();
			const due = this.#nextDeadline();
			if (due && due.at <= clock.now()) onLate(due.stop);
			else this.watch();
		});
	}

	/** For how long the run has given no sign of life, if it counts as stalled. */
	silentMs(activity: Activity): number | undefined {
		const { clock, limits } = this.#options;
		const silent = () => silentMs(activity, limits, { ...this.#pace, now: clock.now() });
		if (silent() === undefined) return undefined;
		this.#lookForLife();
		return silent();
	}

	/** The run is over. */
	close(): void {
		this.#isClosed = true;
		this.#cancel();
	}

	#nextDeadline() {
		const { activity, limits } = this.#options;
		const now = this.#hiddenAt === undefined ? activity() : undefined;
		return now && nextDeadline(now, limits, this.#pace);
	}

	#lookForLife(): void {
		const quietMs = this.#options.quietMs?.();
		if (quietMs !== undefined) this.#movedAt = Math.max(this.#movedAt, this.#options.clock.now() - quietMs);
	}

	get #pace() {
		return {
			beganAt: this.#countsFrom === undefined ? undefined : this.#countsFrom + this.#hiddenMs,
			movedAt: this.#movedAt,
			tools: this.#tools,
			holds: this.#holds,
			restedAt: this.#restedAt,
		};
	}
}
