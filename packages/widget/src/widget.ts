/**
 * The tree as a component for pi. Draws because something changed or the second is over, at most ten times a second, and
 * has no timer when there is nothing to wait for.
 */
import type { Component } from "@earendil-works/pi-tui";
import { fit } from "./fit.ts";
import type { Mode } from "./layout.ts";
import { type AgentSource, LiveTree } from "./live-tree.ts";
import { render } from "./render.ts";
import { Steady } from "./steady.ts";
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
	/** Default: plain text. */
	readonly theme?: Theme | undefined;
}

/** Time as an argument. The clocks of `@pi-subagents/core` are such. */
export interface WidgetClock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Runs `work` later and returns the way to prevent it. */
	after(ms: number, work: () => void): () => void;
}

const MAX_LINES = 12;
/** No two frames are closer. */
const FRAME_MS = 100;
/**
 * Clocks and spinners move on at whole seconds, all of them in one frame. In between only rows that have news change:
 * pi writes every row from the first that changed to the last.
 */
const BEAT_MS = 1_000;
/** How long an old frame waits for one that pi draws for its own sake, which it often does while it works. */
const PATIENCE_MS = 100;

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
	readonly #live: LiveTree;
	readonly #steady = new Steady();
	readonly #stopListening: () => void;
	#lines: string[] = [];
	#width = -1;
	/** The next `render` draws. */
	#isDue = true;
	/** From then on any does. */
	#oldAt = Number.POSITIVE_INFINITY;
	/** It has been asked for. */
	#isAsked = false;
	#drawnAt = Number.NEGATIVE_INFINITY;
	/** When `render` was called last, to draw or not. */
	#shownAt = Number.NEGATIVE_INFINITY;
	#isDisposed = false;
	#cancelTimer: (() => void) | undefined;

	constructor(source: AgentSource, options: AgentWidgetOptions) {
		this.#options = options;
		this.#live = new LiveTree(source);
		this.#stopListening = source.subscribe((_event, changed) => {
			this.#live.note(changed);
			this.#wakeAt(options.clock.now());
		});
	}

	render(width: number): string[] {
		const { clock, maxLines = MAX_LINES } = this.#options;
		const now = clock.now();
		this.#shownAt = now;
		const isOld = this.#isDue || now >= this.#oldAt;
		if (isOld || width !== this.#width || this.#lines.length > maxLines) this.#draw(width, now);
		return this.#lines;
	}

	/** The theme has changed. */
	invalidate(): void {
		this.#isDue = true;
	}

	/** It may still be drawn, but nothing makes that happen any more. */
	dispose(): void {
		this.#isDisposed = true;
		this.#stopListening();
		this.#cancelTimer?.();
	}

	#draw(width: number, now: number): void {
		const { mode = "auto", maxLines = MAX_LINES, maxDepth, focusId, theme } = this.#options;
		const beat = now - (now % BEAT_MS);
		const tree = this.#live.at(now);
		if (width !== this.#width) this.#steady.forget();
		const hasToStay = this.#steady.isCompact(now) && mode === "auto";
		const layout = fit(tree, { mode: hasToStay ? "compact" : mode, width, maxLines, now: beat, maxDepth, focusId });
		const lines = render(layout, theme);
		const height = this.#steady.height(lines.length, layout.mode === "compact");
		while (lines.length < Math.min(height, maxLines)) lines.push("");
		this.#lines = lines;
		this.#width = width;
		this.#drawnAt = now;
		this.#isDue = this.#isAsked = false;
		this.#oldAt = Number.POSITIVE_INFINITY;
		this.#cancelTimer?.();
		if (tree.counts.running + tree.counts.waiting > 0) this.#wakeAt(beat + BEAT_MS);
		if (this.#live.nextLeave !== undefined) this.#wakeAt(this.#live.nextLeave);
	}

	/** Asks for a frame when the lines have been old for a while; at once where pi has not drawn just now. */
	#wakeAt(at: number): void {
		if (this.#isDisposed || this.#isAsked) return;
		const { clock, requestRender } = this.#options;
		const now = clock.now();
		const oldAt = Math.max(at, Math.min(this.#drawnAt, now) + FRAME_MS); // clocks are set back now and then
		if (oldAt >= this.#oldAt) return;
		const ask = () => {
			this.#isDue = this.#isAsked = true;
			requestRender();
		};
		this.#cancelTimer?.();
		this.#oldAt = oldAt;
		if (oldAt <= now && !(now - this.#shownAt < PATIENCE_MS)) ask();
		else this.#cancelTimer = clock.after(Math.max(oldAt - now, 0) + PATIENCE_MS, ask);
	}
}
