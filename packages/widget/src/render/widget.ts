/**
 * The tree as a pi component. Draws when something changed or a second has passed, at most ten times a second, and
 * has no timer while idle.
 */
import type { Component } from "@earendil-works/pi-tui";
import { fit } from "../rows/fit.ts";
import type { Mode } from "../rows/layout.ts";
import { type AgentSource, LiveTree } from "../tree/live-tree.ts";
import { HeightHold } from "./height-hold.ts";
import { render } from "./render.ts";
import type { Theme } from "./theme.ts";

/** Read for every frame, so each may be a getter. */
export interface AgentWidgetOptions {
	readonly clock: WidgetClock;
	/** Asks for `render` to be called soon. Must not throw. */
	readonly requestRender: () => void;
	/** Default `auto`. */
	readonly mode?: Mode | undefined;
	/** Default 12. */
	readonly maxLines?: number | undefined;
	readonly maxDepth?: number | undefined;
	readonly focusId?: string | undefined;
	/** What an active or queued agent does now, where that is fresher than its record. Asked for visible agents only. */
	readonly activityOf?: ((id: string) => string | undefined) | undefined;
	/** Default: plain text. */
	readonly theme?: Theme | undefined;
}

/** An injected clock, such as those of `@pi-subagents/core`. */
export interface WidgetClock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Runs `work` later and returns a function that cancels it. */
	after(ms: number, work: () => void): () => void;
}

const MAX_LINES = 12;
/** The minimum time between frames. */
const FRAME_MS = 100;
/**
 * Timers and spinners advance at whole seconds, all in one frame. In between only rows with changes are redrawn:
 * pi rewrites every row from the first change to the last.
 */
const TICK_MS = 1_000;
/** How long a stale frame waits for one that pi draws anyway, as it often does while it works. */
const REDRAW_WAIT_MS = 100;

/**
 * @example
 * ```ts
 * ctx.ui.setWidget("agents", (tui, theme) =>
 * 	new AgentWidget(manager.store, { clock: systemClock, requestRender: () => tui.requestRender(), theme: piTheme(theme) }),
 * );
 * ```
 */
export class AgentWidget implements Component {
	readonly #options: AgentWidgetOptions;
	readonly #tree: LiveTree;
	readonly #heightHold = new HeightHold();
	readonly #stopListening: () => void;
	#lines: string[] = [];
	#width = -1;
	/** The next `render` must draw. */
	#isDue = true;
	/** From then on every `render` draws. */
	#staleAt = Number.POSITIVE_INFINITY;
	/** A frame has been requested. */
	#isRequested = false;
	#drawnAt = Number.NEGATIVE_INFINITY;
	/** When `render` was last called, whether it drew or not. */
	#shownAt = Number.NEGATIVE_INFINITY;
	#isDisposed = false;
	#cancelTimer: (() => void) | undefined;

	constructor(source: AgentSource, options: AgentWidgetOptions) {
		this.#options = options;
		this.#tree = new LiveTree(source);
		this.#stopListening = source.subscribe((change) => {
			this.#tree.markChanged(change?.record);
			this.#requestFrameAt(options.clock.now());
		});
	}

	render(width: number): string[] {
		const { clock, maxLines = MAX_LINES } = this.#options;
		const now = clock.now();
		this.#shownAt = now;
		const isStale = this.#isDue || now >= this.#staleAt;
		if (isStale || width !== this.#width || this.#lines.length > maxLines) this.#draw(width, now);
		return this.#lines;
	}

	/** The theme changed. */
	invalidate(): void {
		this.#isDue = true;
	}

	/** It can still be drawn, but no longer requests frames. */
	dispose(): void {
		this.#isDisposed = true;
		this.#stopListening();
		this.#cancelTimer?.();
	}

	#draw(width: number, now: number): void {
		const { mode = "auto", maxLines = MAX_LINES, maxDepth, focusId, activityOf, theme } = this.#options;
		const tick = now - (now % TICK_MS);
		const tree = this.#tree.at(now);
		if (width !== this.#width) this.#heightHold.reset();
		const staysCompact = this.#heightHold.isCompact(now) && mode === "auto";
		const shape = { mode: staysCompact ? "compact" : mode, width, maxLines, maxDepth, focusId } as const;
		const layout = fit(tree, { ...shape, now: tick, activityOf });
		const lines = render(layout, theme);
		const height = this.#heightHold.height(lines.length, layout.mode === "compact");
		while (lines.length < Math.min(height, maxLines)) lines.push("");
		this.#lines = lines;
		this.#width = width;
		this.#drawnAt = now;
		this.#isDue = this.#isRequested = false;
		this.#staleAt = Number.POSITIVE_INFINITY;
		this.#cancelTimer?.();
		const { running, waiting, queued } = tree.counts;
		const isMoving = running + waiting > 0 || (queued > 0 && activityOf !== undefined); // why it is queued may change
		if (isMoving) this.#requestFrameAt(tick + TICK_MS);
		if (this.#tree.nextExpiry !== undefined) this.#requestFrameAt(this.#tree.nextExpiry);
	}

	/** Requests a frame once the lines have been stale for a while; at once if pi has not just drawn. */
	#requestFrameAt(at: number): void {
		if (this.#isDisposed || this.#isRequested) return;
		const { clock, requestRender } = this.#options;
		const now = clock.now();
		const staleAt = Math.max(at, Math.min(this.#drawnAt, now) + FRAME_MS); // clocks can be set back
		if (staleAt >= this.#staleAt) return;
		const ask = () => {
			this.#isDue = this.#isRequested = true;
			requestRender();
		};
		this.#cancelTimer?.();
		this.#staleAt = staleAt;
		if (staleAt <= now && !(now - this.#shownAt < REDRAW_WAIT_MS)) ask();
		else this.#cancelTimer = clock.after(Math.max(staleAt - now, 0) + REDRAW_WAIT_MS, ask);
	}
}
