/**
 * What an active agent does now, in words: why it is queued, whom it waits for, which machine it is not on yet, the
 * last line of its progress while that is fresh, and after that whether its model is thinking or writing. An agent's
 * text is watched only while someone keeps asking and nothing else happens, so this costs nothing while no one looks.
 * Private to the manager.
 */
import { beginningOf, formatDuration, lookOf, sanitize } from "@pi-subagents/progress";
import type { Clock } from "../base/clock.ts";
import type { LivePiece, PieceListener } from "../model/live-piece.ts";
import type { AgentRecord } from "../model/record.ts";
import { type HoldReason, holdText } from "../queue/hold-reason.ts";

export interface LiveStatusOptions {
	clock: Clock;
	watch: (id: string, tell: PieceListener) => () => void;
	holdReason: (id: string) => HoldReason | undefined;
	/** Its run has begun, but not its child. */
	isStarting: (id: string) => boolean;
	/** For how long it has given no sign of life, if it counts as stalled. */
	silentMs: (record: AgentRecord) => number | undefined;
}

interface Watched {
	stop: () => void;
	/** When someone last asked. */
	askedAt: number;
	/** The last piece of text or thinking, and when it came. */
	kind?: LivePiece["kind"];
	toldAt: number;
}

/** A line that is older no longer says what happens. */
const FRESH_MS = 2_000;
/** Who shows the status asks every second. */
const FORGOTTEN_MS = 5_000;
const MAX_QUESTION = 400;

export class LiveStatus {
	readonly #options: LiveStatusOptions;
	readonly #watched = new Map<string, Watched>();
	#cancelSweep: (() => void) | undefined;
	#isClosed = false;

	constructor(options: LiveStatusOptions) {
		this.#options = options;
	}

	/** Undefined once it has settled, and as long as there is nothing to say. */
	textOf(record: AgentRecord): string | undefined {
		const { id, status, activity, outcome, machine } = record;
		if (outcome) return undefined;
		if (status === "waiting") return waitingLine(record);
		const held = this.#options.holdReason(id);
		if (held) return holdText(held);
		if (machine !== undefined && this.#options.isStarting(id)) return `connecting to ${sanitize(machine)}…`;
		const doing = this.#isModelAlone(record) ? this.#phaseOf(record) : activity;
		return this.#stalled(record, doing) ?? doing;
	}

	/** Watches nothing any more, though a last frame may still ask. */
	close(): void {
		this.#isClosed = true;
		this.#cancelSweep?.();
		this.#cancelSweep = undefined;
		for (const { stop } of this.#watched.values()) stop();
		this.#watched.clear();
	}

	#stalled(record: AgentRecord, doing: string | undefined): string | undefined {
		const silent = this.#options.silentMs(record);
		if (silent === undefined) return undefined;
		const how = `stalled: nothing for ${formatDuration(silent)}`;
		return doing === undefined || doing === "thinking…" ? how : `${how} · ${doing}`;
	}

	#isModelAlone({ status, isModelWorking, lastEventAt, runner }: AgentRecord): boolean {
		const isIdle = status === "running" && isModelWorking === true && runner !== "workflow";
		return isIdle && this.#options.clock.now() - lastEventAt >= FRESH_MS;
	}

	#phaseOf({ id, lastEventAt }: AgentRecord): string {
		const now = this.#options.clock.now();
		const watched = this.#watched.get(id) ?? this.#watch(id);
		watched.askedAt = now;
		const isWriting = watched.kind === "text" && watched.toldAt >= lastEventAt;
		return isWriting ? "writing…" : "thinking…";
	}

	#watch(id: string): Watched {
		const { clock, watch } = this.#options;
		const watched: Watched = { stop: () => undefined, askedAt: clock.now(), toldAt: 0 };
		if (this.#isClosed) return watched;
		this.#watched.set(id, watched);
		watched.stop = watch(id, ({ kind }) => {
			watched.kind = kind;
			watched.toldAt = clock.now();
		});
		this.#cancelSweep ??= clock.after(FORGOTTEN_MS, () => this.#sweep());
		return watched;
	}

	/** Stops watching agents that no one has asked about for a while. */
	#sweep(): void {
		const { clock } = this.#options;
		for (const [id, { askedAt, stop }] of this.#watched) {
			if (clock.now() - askedAt < FORGOTTEN_MS) continue;
			stop();
			this.#watched.delete(id);
		}
		this.#cancelSweep = this.#watched.size > 0 ? clock.after(FORGOTTEN_MS, () => this.#sweep()) : undefined;
	}
}

function waitingLine(record: AgentRecord): string {
	const question = beginningOf(sanitize(record.question ?? ""), MAX_QUESTION);
	return question === "" ? lookOf(record).word : `${lookOf(record).word}: ${question}`;
}
