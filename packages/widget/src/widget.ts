/**
 * The tree as a component for pi. Draws because something changed or a visible clock moved on, at most ten times a
 * second, and has no timer when there is nothing to wait for.
 */
import type { Component } from "@earendil-works/pi-tui";
import { fit } from "./fit.ts";
import type { Mode } from "./layout.ts";
import { type AgentSource, LiveTree } from "./live-tree.ts";
import { render } from "./render.ts";
import { Steady } from "./steady.ts";
import type { Theme } from "./theme.ts";
import type { Tree } from "./tree.ts";

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
/** How often clocks move on when nothing else happens. */
const CLOCK_MS = 1_000;
/** For so long after a change spinners turn quickly. */
const LIVELY_MS = 2_000;

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
	/** It has been asked for. */
	#isAsked = false;
	#drawnAt = Number.NEGATIVE_INFINITY;
	#changedAt = Number.NEGATIVE_INFINITY;
	#isDisposed = false;
	#timer: { readonly at: number; readonly cancel: () => void } | undefined;

	constructor(source: AgentSource, options: AgentWidgetOptions) {
		this.#options = options;
		this.#live = new LiveTree(source);
		this.#stopListening = source.subscribe((_event, changed) => {
			this.#live.note(changed);
			this.#changedAt = options.clock.now();
			this.#wakeAt(this.#changedAt);
		});
	}

	render(width: number): string[] {
		const { maxLines = MAX_LINES } = this.#options;
		if (this.#isDue || width !== this.#width || this.#lines.length > maxLines) this.#draw(width);
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
		this.#timer?.cancel();
		this.#timer = undefined;
	}

	#draw(width: number): void {
		const { clock, mode = "auto", maxLines = MAX_LINES, maxDepth, focusId, theme } = this.#options;
		const now = clock.now();
		const tree = this.#live.at(now);
		if (width !== this.#width) this.#steady.forget();
		const hasToStay = this.#steady.isCompact(now) && mode === "auto";
		const layout = fit(tree, { mode: hasToStay ? "compact" : mode, width, maxLines, now, maxDepth, focusId });
		const lines = render(layout, theme);
		const height = this.#steady.height(lines.length, layout.mode === "compact");
		while (lines.length < Math.min(height, maxLines)) lines.push("");
		this.#lines = lines;
		this.#width = width;
		this.#drawnAt = now;
		this.#isDue = this.#isAsked = false;
		const next = this.#nextTick(tree, now);
		if (next !== undefined) this.#wakeAt(next);
	}

	/** When the screen changes by itself. */
	#nextTick({ counts }: Tree, now: number): number | undefined {
		const leave = this.#live.nextLeave;
		if (counts.running + counts.waiting === 0) return leave;
		const tick = now + (now - this.#changedAt < LIVELY_MS ? FRAME_MS : CLOCK_MS);
		return Math.min(tick, leave ?? tick);
	}

	#wakeAt(at: number): void {
		if (this.#isDisposed) return;
		if (this.#isAsked) return;
		const { clock, requestRender } = this.#options;
		const now = clock.now();
		const due = Math.max(at, Math.min(this.#drawnAt, now) + FRAME_MS); // clocks are set back now and then
		if (this.#timer && this.#timer.at <= due) return;
		this.#timer?.cancel();
		this.#timer = undefined;
		const wake = () => {
			this.#timer = undefined;
			this.#isDue = this.#isAsked = true;
			requestRender();
		};
		if (due <= now) wake();
		else this.#timer = { at: due, cancel: clock.after(due - now, wake) };
	}
}
