/**
 * Shows the tree of agents above the editor. An RPC client gets the same as plain lines.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";
import { type Manager, systemClock } from "@pi-subagents/core";
import { bestEffort, messageOf, Pacer } from "@pi-subagents/core/internal/base";
import type { Settings } from "@pi-subagents/launch";
import { type AgentSource, AgentWidget, type AgentWidgetOptions, piTheme } from "@pi-subagents/widget";
import type { Host } from "../host/host.ts";

export interface TreeDeps {
	manager: Manager;
	host: Host;
	settings: () => Settings;
}

const KEY = "subagents";
/** The width of lines for a client, whose width is unknown. */
const CLIENT_WIDTH = 100;
/** A client gets whole trees, with clocks that show seconds. */
const CLIENT_PAUSE_MS = 200;
const MAX_LINES = 12;
const EDITOR_AND_FOOTER = 6;

interface Surface extends Pick<AgentWidgetOptions, "requestRender" | "theme"> {
	/** The height of the terminal, if there is one. */
	rows?: () => number;
}

export function showTree(pi: ExtensionAPI, { manager, host, settings }: TreeDeps): void {
	const { store } = manager;
	let close = (): void => undefined;
	/** Without agents that settled before the session was opened. */
	const source: AgentSource = {
		snapshot: () => ({ records: store.currentRecords() }),
		subscribe: (listener) => store.subscribe(listener),
		record: (id) => store.record(id),
	};
	/** Read for every frame, so that settings changes apply at once. */
	const options = (more: Surface): AgentWidgetOptions => ({
		requestRender: more.requestRender,
		theme: more.theme,
		clock: systemClock,
		activityOf: (id) => manager.activityOf(id),
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
		close = ctx.mode === "tui" ? showOnScreen(ctx) : showToClient();
	});
	pi.on("session_shutdown", () => close());

	const showOnScreen = (ctx: ExtensionContext) => {
		ctx.ui.setWidget(
			KEY,
			(tui, theme) => {
				const requestRender = () => tui.requestRender();
				const screen = { requestRender, theme: piTheme(theme), rows: () => tui.terminal.rows };
				return safeComponent(new AgentWidget(source, options(screen)), host);
			},
			{ placement: "aboveEditor" },
		);
		return () => undefined; // pi disposes it with the session
	};
	const showToClient = () => {
		const draw = () => {
			const drawn = widget.render(CLIENT_WIDTH);
			const lines = drawn.slice(0, drawn.findLastIndex((line) => line !== "") + 1); // padding only keeps a terminal from jumping
			host.session()?.ui.setWidget(KEY, lines.length > 0 ? lines : undefined, { placement: "aboveEditor" });
		};
		const work = () => void bestEffort("showing the agents", host.warn, draw);
		const pacer = new Pacer({ clock: systemClock, pauseMs: CLIENT_PAUSE_MS, work });
		const widget: AgentWidget = new AgentWidget(source, options({ requestRender: () => pacer.ask() }));
		return () => {
			widget.dispose();
			pacer.close(); // whatever its agents do in their last moment
		};
	};
}

/**
 * A change above the top of the terminal makes pi clear and redraw everything, at every spinner frame. So the tree takes
 * half of what the editor and footer leave: there may be other widgets and longer texts.
 */
function linesFor(rows: number): number {
	return Math.max(1, Math.min(MAX_LINES, Math.floor((rows - EDITOR_AND_FOOTER) / 2)));
}

/** An error while drawing would crash pi. */
function safeComponent(widget: AgentWidget, host: Host): Component & { dispose(): void } {
	return {
		render(width) {
			try {
				return widget.render(width);
			} catch (error) {
				host.warn(`Cannot show the agents: ${messageOf(error)}`);
				return [];
			}
		},
		invalidate: () => widget.invalidate(),
		dispose: () => widget.dispose(),
	};
}
