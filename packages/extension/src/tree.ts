/**
 * Shows who works for whom above the editor, and how many in the footer. Where there is no screen of pi's own, a client
 * gets the same as plain lines.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";
import { messageOf, type Store, systemClock } from "@pi-subagents/core";
import { type AgentSource, AgentWidget, type AgentWidgetOptions, piTheme } from "@pi-subagents/widget";
import type { Host } from "./host.ts";
import type { Settings } from "./settings.ts";
import { soon } from "./soon.ts";

export interface TreeDeps {
	store: Store;
	host: Host;
	settings: () => Settings;
}

const KEY = "subagents";
/** Lines for a client whose width nobody knows. */
const CLIENT_WIDTH = 100;
const MOST_LINES = 12;
const EDITOR_AND_FOOTER = 6;

interface Surface extends Pick<AgentWidgetOptions, "requestRender" | "theme"> {
	/** Lines of the screen, where there is one. */
	rows?: () => number;
}

export function showTree(pi: ExtensionAPI, { store, host, settings }: TreeDeps): void {
	let close = (): void => undefined;
	/** Who settled before the session was opened has no place in the tree. */
	const source: AgentSource = {
		snapshot: () => ({ records: store.atHand() }),
		subscribe: (listener) => store.subscribe(listener),
		record: (id) => store.record(id),
	};
	/** Read for every frame, so that a change in the settings is seen at once. */
	const options = (more: Surface): AgentWidgetOptions => ({
		requestRender: more.requestRender,
		theme: more.theme,
		clock: systemClock,
		get maxLines() {
			if (settings().widget === "off") return 0;
			return more.rows ? linesFor(more.rows()) : undefined;
		},
		get mode() {
			const { widget } = settings();
			return widget === "off" ? undefined : widget;
		},
		get maxDepth() {
			return settings().maxDepth;
		},
	});
	pi.on("session_start", (_event, ctx) => {
		if (!ctx.hasUI) return;
		const stopCounting = countInFooter(store, host);
		const hide = ctx.mode === "tui" ? showOnScreen(ctx) : showToClient();
		close = () => {
			stopCounting();
			hide();
		};
	});
	pi.on("session_shutdown", () => close());

	const showOnScreen = (ctx: ExtensionContext) => {
		ctx.ui.setWidget(
			KEY,
			(tui, theme) => {
				const requestRender = () => tui.requestRender();
				const screen = { requestRender, theme: piTheme(theme), rows: () => tui.terminal.rows };
				return careful(new AgentWidget(source, options(screen)), host);
			},
			{ placement: "aboveEditor" },
		);
		return () => undefined; // pi disposes of it with the session
	};
	const showToClient = () => {
		const draw = () => {
			const drawn = widget.render(CLIENT_WIDTH);
			const lines = drawn.slice(0, drawn.findLastIndex((line) => line !== "") + 1); // only a screen must not jump
			host.session()?.ui.setWidget(KEY, lines.length > 0 ? lines : undefined, { placement: "aboveEditor" });
		};
		const requestRender = soon("showing the agents", host.tell, draw);
		const widget: AgentWidget = new AgentWidget(source, options({ requestRender }));
		return () => {
			widget.dispose();
			requestRender.cancel();
		};
	};
}

/**
 * What changes above the upper edge of a screen makes pi clear it and write everything anew, at every turn of a spinner.
 * So the tree takes half of what the editor and the footer leave: there may be other widgets, and longer texts.
 */
function linesFor(rows: number): number {
	return Math.max(1, Math.min(MOST_LINES, Math.floor((rows - EDITOR_AND_FOOTER) / 2)));
}

/** An error while drawing would end pi. */
function careful(widget: AgentWidget, host: Host): Component & { dispose(): void } {
	return {
		render(width) {
			try {
				return widget.render(width);
			} catch (error) {
				host.tell(`The agents cannot be shown: ${messageOf(error)}`);
				return [];
			}
		},
		invalidate: () => widget.invalidate(),
		dispose: () => widget.dispose(),
	};
}

/** All that are active, at whatever depth. */
function countInFooter(store: Store, host: Host): () => void {
	const active = new Map<string, boolean>();
	const show = soon("counting agents", host.tell, () => {
		const queued = [...active.values()].filter((isQueued) => isQueued).length;
		const running = active.size - queued;
		const parts = [...(running > 0 ? [`${running} running`] : []), ...(queued > 0 ? [`${queued} queued`] : [])];
		host.session()?.ui.setStatus(KEY, parts.length > 0 ? `agents: ${parts.join(", ")}` : undefined);
	});
	const unsubscribe = store.subscribe((_event, { id, status, outcome }) => {
		const isKnown = active.get(id) === (status === "queued");
		if (outcome ? !active.delete(id) : isKnown) return;
		if (!outcome) active.set(id, status === "queued");
		show();
	});
	return () => {
		unsubscribe();
		show.cancel();
	};
}
