/**
 * Shows who works for whom above the editor, and how many in the footer. Where there is no screen of pi's own, a client
 * gets the same as plain lines.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";
import { messageOf, type Store, systemClock } from "@pi-subagents/core";
import { AgentWidget, type AgentWidgetOptions, piTheme } from "@pi-subagents/widget";
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

export function showTree(pi: ExtensionAPI, { store, host, settings }: TreeDeps): void {
	let close = (): void => undefined;
	/** Read for every frame, so that a change in the settings is seen at once. */
	const options = (more: Pick<AgentWidgetOptions, "requestRender" | "theme">): AgentWidgetOptions => ({
		...more,
		clock: systemClock,
		get mode() {
			return settings().widget;
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
				const screen = { requestRender: () => tui.requestRender(), theme: piTheme(theme) };
				return careful(new AgentWidget(store, options(screen)), host);
			},
			{ placement: "aboveEditor" },
		);
		return () => undefined; // pi disposes of it with the session
	};
	const showToClient = () => {
		const draw = () => {
			const lines = widget.render(CLIENT_WIDTH);
			host.session()?.ui.setWidget(KEY, lines.length > 0 ? lines : undefined, { placement: "aboveEditor" });
		};
		const requestRender = soon("showing the agents", host.tell, draw);
		const widget: AgentWidget = new AgentWidget(store, options({ requestRender }));
		return () => {
			widget.dispose();
			requestRender.cancel();
		};
	};
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
