/**
 * pi's own lists, such as those of models, settings and sessions, take the place of the editor. A dialog that opens then
 * would close the list for good. pi does not say that one is open, but the editor is missing from the screen.
 */
import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import type { Clock } from "@pi-subagents/core";

type Screen = Pick<ExtensionUIContext, "setWidget">;

/** pi does not say when a list is closed, either. */
const LOOK_MS = 200;
const WIDGET = "pi-subagents-look";
/** pi nests its editor three levels deep. */
const MAX_DEPTH = 8;

export class PiLists {
	/** In a pi that keeps its editor where we do not find it, nothing may wait for it. */
	#hasSeenEditor = false;

	/** Whether the editor has given way to something. Ask only while no dialog of an extension is open: those do it, too. */
	isOpen(screen: Screen | undefined): boolean {
		const root = screen && rootOf(screen);
		if (!root) return false;
		const isShown = holdsEditor(root, MAX_DEPTH);
		this.#hasSeenEditor ||= isShown;
		return this.#hasSeenEditor && !isShown;
	}

	/** Resolves when none is open, or the signal fires. */
	async closed(screen: Screen, { after }: Pick<Clock, "after">, signal?: AbortSignal): Promise<void> {
		while (!signal?.aborted && this.isOpen(screen)) {
			const { promise, resolve } = Promise.withResolvers<void>();
			const cancel = after(LOOK_MS, resolve);
			signal?.addEventListener("abort", () => resolve(), { once: true });
			await promise;
			cancel();
		}
	}
}

/** pi shows the root of its screen only to those who add something to it. */
function rootOf(screen: Screen): unknown {
	let root: unknown;
	screen.setWidget(WIDGET, (tui) => {
		root = tui;
		return { render: () => [], invalidate: () => undefined };
	});
	screen.setWidget(WIDGET, undefined);
	return root;
}

/** By what every editor has, also one that an extension has put in the place of pi's. */
function holdsEditor(component: unknown, depth: number): boolean {
	const { children, getText, setText } = Object(component) as Record<string, unknown>;
	if (typeof getText === "function" && typeof setText === "function") return true;
	return depth > 0 && Array.isArray(children) && children.some((child) => holdsEditor(child, depth - 1));
}
