/** An agent's live conversation over pi's screen. What it shows and does is the widget's; this ties it to the manager. */
import { copyToClipboard, type ExtensionContext, type Theme } from "@earendil-works/pi-coding-agent";
import { truncateToWidth } from "@earendil-works/pi-tui";
import { AgentError, type AgentRecord, bestEffort, type Clock, isSettled, type Manager } from "@pi-subagents/core";
import { sanitize } from "@pi-subagents/progress";
import {
	ConversationViewer,
	piTheme,
	type Relative,
	renderTree,
	type ViewerActions,
	type ViewerQuestion,
} from "@pi-subagents/widget";
import { findAgent } from "./agents.ts";
import { called } from "./commands/words.ts";
import type { Dialogs } from "./dialogs.ts";
import type { Host } from "./host.ts";
import { attemptsText } from "./tools/structured.ts";
import { type AgentConversation, openConversation } from "./viewer-source.ts";
import { viewerTheme } from "./viewer-theme.ts";

export interface ViewerDeps {
	manager: Manager;
	host: Pick<Host, "session" | "sessionDir" | "tell">;
	dialogs: Dialogs;
	clock: Clock;
	/** What stands above the conversation; the agent's place in the tree when absent. */
	head?: (agentId: string, width: number, theme: Theme) => readonly string[];
	/** Puts text into the clipboard; pi's own way when absent. */
	copy?: (text: string) => Promise<void>;
}

/** How long what happens is collected for one look at the files. */
const SOON_MS = 100;
/** The clocks on the screen; and not every file system tells that a file has grown. */
const TICK_MS = 1_000;
const MOST_HEAD_LINES = 6;

/**
 * Resolves when the person has left it. From one agent they may have gone on to others, one after the other: pi shows
 * one overlay at a time.
 */
export async function openViewer(ctx: ExtensionContext, deps: ViewerDeps, agentId: string): Promise<void> {
	const { manager, dialogs } = deps;
	const { id } = findAgent(manager.store.snapshot().records, agentId);
	if (ctx.mode !== "tui") {
		const message = `A live conversation needs pi's own screen. Here, /subagent view ${id} shows the agent.`;
		throw new AgentError("bad_request", message);
	}
	for (let next: string | undefined = id; next !== undefined; ) {
		const current: string = next;
		next = await dialogs.inTurn(() => show(ctx, deps, current));
	}
}

/** Resolves with the agent to go to, if any. */
async function show(ctx: ExtensionContext, deps: ViewerDeps, id: string): Promise<string | undefined> {
	const { manager, host } = deps;
	const record = manager.store.record(id);
	if (!record) return undefined;
	const conversation = await openConversation(record, { sessionDir: host.sessionDir?.(), report: host.tell });
	let stop = () => {};
	try {
		return await ctx.ui.custom<string | undefined>(
			(tui, theme, keys, done) => {
				const redraw = () => tui.requestRender();
				const viewer = new ConversationViewer({
					source: conversation,
					theme: viewerTheme(theme),
					keys,
					rows: () => tui.terminal.rows,
					title: called(record),
					head: headOf(id, deps, theme),
					isLive: () => isLive(manager, id),
					question: () => questionOf(manager, id),
					empty: () => emptyText(manager.store.record(id) ?? record),
					relatives: () => relativesOf(manager.store.snapshot().records, id),
					actions: actionsOf(id, conversation, deps, done),
					requestRender: redraw,
					close: () => done(undefined),
				});
				stop = follow(id, conversation, deps, { redraw, onGone: () => viewer.dispose() });
				return viewer;
			},
			{ overlay: true, overlayOptions: { width: "100%", maxHeight: "100%", anchor: "top-left" } },
		);
	} finally {
		stop();
	}
}

interface Following {
	redraw: () => void;
	/** pi has taken the overlay away without telling us, as it does when another session is opened. */
	onGone: () => void;
}

/** Looks at the files when something has happened, and while the agent is at work. Returns the way to stop. */
function follow(
	id: string,
	conversation: AgentConversation,
	{ manager, host, clock }: ViewerDeps,
	{ redraw, onGone }: Following,
): () => void {
	const session = host.session();
	let cancelSoon: (() => void) | undefined;
	let cancelTick: (() => void) | undefined;
	const stop = () => {
		unsubscribe();
		cancelSoon?.();
		cancelTick?.();
	};
	const look = () => {
		if (host.session() !== session) {
			stop();
			return onGone();
		}
		redraw();
		const record = manager.store.record(id);
		void bestEffort("reading a conversation", host.tell, () => record && conversation.refresh(record));
	};
	const tick = () => {
		cancelTick = undefined;
		if (!isLive(manager, id)) return;
		cancelTick = clock.after(TICK_MS, () => {
			tick();
			look();
		});
	};
	const onEvent = () => {
		cancelSoon ??= clock.after(SOON_MS, () => {
			cancelSoon = undefined;
			look();
		});
		if (!cancelTick) tick(); // it may have been resumed
	};
	const unsubscribe = manager.store.subscribe(onEvent);
	tick();
	return stop;
}

function isLive(manager: Manager, id: string): boolean {
	const status = manager.store.record(id)?.status;
	return status !== undefined && !isSettled(status);
}

function questionOf(manager: Manager, id: string): ViewerQuestion | undefined {
	const open = manager.questions().find(({ agentId }) => agentId === id);
	return open && { text: open.question, id: open };
}

function emptyText({ status, task }: AgentRecord): string {
	const state = status === "queued" ? "It waits for a slot." : "It has not answered yet.";
	return `${isSettled(status) ? "Its conversation was not kept." : state}\n\nTask: ${task}`;
}

function relativesOf(records: readonly AgentRecord[], id: string): Relative[] {
	const parentId = records.find((record) => record.id === id)?.parentAgentId;
	return records.flatMap((record): Relative[] => {
		const label = `${called(record)} ${record.status}: ${sanitize(record.description)}`;
		if (record.id === parentId) return [{ id: record.id, relation: "parent", label }];
		return record.parentAgentId === id ? [{ id: record.id, relation: "child", label }] : [];
	});
}

function actionsOf(
	id: string,
	conversation: AgentConversation,
	{ manager, copy = copyToClipboard }: ViewerDeps,
	open: (id: string) => void,
): ViewerActions {
	return {
		steer: (text) => {
			manager.steer(id, text);
			return "It has your message";
		},
		stop: () => {
			manager.abort(id, { by: "user" });
			return undefined;
		},
		answer: (text, question) => {
			if (!manager.questions().some((asked) => asked === question.id))
				throw new AgentError("wrong_state", "It does not wait for this answer any more.");
			manager.answer(id, text, "user");
			return "It has your answer";
		},
		copyPath: async () => {
			const path = await conversation.path();
			if (path === undefined) throw new AgentError("wrong_state", "There is no file yet.");
			await copy(path);
			return `Copied ${path}`;
		},
		open: (other) => {
			open(other);
			return undefined;
		},
	};
}

/** Drawn anew when something has happened or a clock has moved on: with many agents it takes a while. */
function headOf(id: string, { manager, clock, head }: ViewerDeps, theme: Theme): (width: number) => readonly string[] {
	if (head) return (width) => head(id, width, theme);
	let drawn: { key: string; lines: readonly string[] } | undefined;
	return (width) => {
		const now = clock.now();
		const key = `${manager.store.seq} ${width} ${Math.floor(now / TICK_MS)} ${theme.fg("accent", "")}`;
		if (drawn?.key !== key) {
			const options = { mode: "focused", width, maxLines: MOST_HEAD_LINES, now, focusId: id } as const;
			const lines = renderTree(manager.store.snapshot().records, { ...options, theme: piTheme(theme) });
			drawn = { key, lines: [...lines, ...triedLines(manager.store.record(id), width, theme)] };
		}
		return drawn.lines;
	};
}

/** Why it works with another model than its preset names first. */
function triedLines(record: AgentRecord | undefined, width: number, theme: Theme): string[] {
	const tried = record ? attemptsText(record) : "";
	return tried === "" ? [] : [truncateToWidth(theme.fg("warning", `${record?.model}, ${tried}`), width)];
}
