/** Opens an agent's live conversation as an overlay, connecting the widget's viewer to the manager. */
import { copyToClipboard, type ExtensionContext, getMarkdownTheme, type Theme } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, type Clock, findAgent, type Manager } from "@pi-subagents/core";
import { bestEffort, defined, Pacer } from "@pi-subagents/core/internal/base";
import { attemptsText } from "@pi-subagents/core/outcome-text";
import { isSettled, lookOf, sanitize } from "@pi-subagents/progress";
import {
	ConversationViewer,
	piTheme,
	type Relative,
	renderTree,
	treeOrder,
	type ViewerActions,
	type ViewerQuestion,
	viewerTheme,
} from "@pi-subagents/widget";
import { clip } from "@pi-subagents/widget/cells";
import type { Workflows } from "@pi-subagents/workflow/session";
import type { CommandHost } from "../host.ts";
import type { Dialogs } from "../questions/dialogs.ts";
import { ownUi } from "../questions/other-dialogs.ts";
import { backgroundOf } from "../questions/questions.ts";
import { agentLabel, costText } from "../text/agent-text.ts";
import { LiveTail } from "./live-tail.ts";
import { type AgentConversation, openConversation } from "./viewer-source.ts";

export interface ViewerDeps {
	manager: Manager;
	host: Pick<CommandHost, "session" | "sessionDir" | "warn">;
	dialogs: Dialogs;
	clock: Clock;
	/** Writes what is queued for files: they are written a moment behind. */
	flushLogs?: (() => Promise<void>) | undefined;
	/** Lines above the conversation; by default the agent's position in the tree. */
	head?: (agentId: string, width: number, theme: Theme) => readonly string[];
	/** Loads what controls workflows. Absent: there are none. */
	workflows?: { load(): Promise<WorkflowControl> } | undefined;
	/** Copies text; by default with pi's clipboard. */
	copy?: (text: string) => Promise<void>;
}

type WorkflowControl = Pick<Workflows<ExtensionContext>, "state" | "pause" | "continue" | "decide">;

/** Files are read at most so often after events. */
const PAUSE_MS = 100;
/** For the timers on the screen, and for file systems that do not report growth. */
const TICK_MS = 1_000;
const MAX_HEAD_LINES = 6;

/**
 * Resolves when the user closes it. The user may move from agent to agent, one overlay after the other, because pi shows
 * one at a time.
 */
export async function openViewer(ctx: ExtensionContext, deps: ViewerDeps, agentId: string): Promise<void> {
	const { manager, dialogs } = deps;
	const { id } = findAgent(manager.store.snapshot().records, agentId);
	if (ctx.mode !== "tui") {
		const message = `The live conversation needs pi's own screen. Use /subagent view ${id} instead.`;
		throw new AgentError("bad_request", message);
	}
	for (let next: string | undefined = id; next !== undefined; ) {
		const current: string = next;
		next = await dialogs.inTurn(() => show(ctx, deps, current));
	}
}

/** Resolves with the agent to open next, if any. */
async function show(ctx: ExtensionContext, deps: ViewerDeps, id: string): Promise<string | undefined> {
	const { manager, host } = deps;
	const record = manager.store.record(id);
	if (!record) return undefined;
	await deps.flushLogs?.();
	const conversation = await openConversation(record, { sessionDir: host.sessionDir?.(), report: host.warn });
	const isPaused = await pauseOf(record, deps);
	let stop = () => {};
	let redraw = () => {};
	const tail = new LiveTail(manager, id, { clock: deps.clock, onChange: () => redraw() });
	const unsubscribe = conversation.onAppend(() => tail.arrived());
	try {
		return await ownUi(ctx.ui).custom<string | undefined>(
			(tui, theme, keys, close) => {
				const done = (next: string | undefined) => {
					deps.dialogs.closing();
					close(next);
				};
				redraw = () => tui.requestRender();
				const viewer = new ConversationViewer({
					source: conversation,
					theme: viewerTheme(theme, getMarkdownTheme()),
					keys,
					rows: () => tui.terminal.rows,
					title: agentLabel(record),
					head: headOf(id, deps, theme),
					isLive: () => isLive(manager, id),
					question: () => questionOf(manager, id),
					writing: () => (isLive(manager, id) ? tail.entry() : undefined),
					empty: () =>
						conversation.length > 0
							? "Reading the conversation …"
							: emptyText(manager.store.record(id) ?? record, manager.activityOf(id)),
					relatives: () => relativesOf(manager.store.snapshot().records, id),
					neighbours: () => neighboursOf(manager.store.snapshot().records, id),
					isPaused: () => isLive(manager, id) && isPaused(),
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
		redraw = () => {};
		unsubscribe();
		tail.close();
		stop();
	}
}

interface FollowCallbacks {
	redraw: () => void;
	/** pi removed the overlay without notice, as it does when another session is opened. */
	onGone: () => void;
}

/** Refreshes after events and while the agent is active. Returns a function that stops it. */
function follow(
	id: string,
	conversation: AgentConversation,
	{ manager, host, clock }: ViewerDeps,
	{ redraw, onGone }: FollowCallbacks,
): () => void {
	const session = host.session();
	let cancelTick: (() => void) | undefined;
	const stop = () => {
		unsubscribe();
		pacer.close();
		cancelTick?.();
	};
	const refresh = () => {
		if (host.session() !== session) {
			stop();
			return onGone();
		}
		redraw();
		const record = manager.store.record(id);
		void bestEffort("reading a conversation", host.warn, () => record && conversation.refresh(record));
	};
	const pacer = new Pacer({ clock, pauseMs: PAUSE_MS, work: refresh });
	const tick = () => {
		cancelTick = undefined;
		if (!isLive(manager, id)) return;
		cancelTick = clock.after(TICK_MS, () => {
			tick();
			refresh();
		});
	};
	const onEvent = () => {
		pacer.ask();
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
	return open && { text: [open.question, ...backgroundOf(open)].join(" · "), id: open };
}

function emptyText({ status, task }: AgentRecord, doing: string | undefined): string {
	const state = `${doing ?? (status === "queued" ? "Waiting for a slot" : "No answer yet")}.`.replace(/…\.$/, "…");
	return `${isSettled(status) ? "Its conversation was not kept." : capitalized(state)}\n\nTask: ${task}`;
}

function capitalized(text: string): string {
	return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function relativesOf(records: readonly AgentRecord[], id: string): Relative[] {
	const parentId = records.find((record) => record.id === id)?.parentAgentId;
	return records.flatMap((record): Relative[] => {
		const label = `${agentLabel(record)} ${lookOf(record).word}: ${sanitize(record.description)}`;
		if (record.id === parentId) return [{ id: record.id, relation: "parent", label }];
		return record.parentAgentId === id ? [{ id: record.id, relation: "child", label }] : [];
	});
}

/** In the order of the list of agents. */
function neighboursOf(records: readonly AgentRecord[], id: string): { previous?: string; next?: string } {
	const ids = treeOrder(records).map(({ agent }) => agent.id);
	const at = ids.indexOf(id);
	return at < 0 ? {} : defined({ previous: ids[at - 1], next: ids[at + 1] });
}

function actionsOf(
	id: string,
	conversation: AgentConversation,
	deps: ViewerDeps,
	open: (id: string) => void,
): ViewerActions {
	const { manager, copy = copyToClipboard } = deps;
	return {
		...workflowActions(id, deps),
		steer: (text) => {
			manager.steer(id, text);
			return "Message sent";
		},
		stop: () => {
			manager.abort(id, { by: "user" });
			return undefined;
		},
		answer: (text, question) => {
			if (!manager.questions().some((asked) => asked === question.id))
				throw new AgentError("wrong_state", "It is no longer waiting for this answer.");
			manager.answer(id, text, "user");
			return "Answer sent";
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

/** Whether a workflow is paused, asked for each frame. */
async function pauseOf(record: AgentRecord, { workflows, host }: ViewerDeps): Promise<() => boolean> {
	if (record.runner !== "workflow" || !workflows) return () => false;
	let control: WorkflowControl | undefined;
	await bestEffort("loading workflows", host.warn, async () => {
		control = await workflows.load();
	});
	return () => control?.state(record)?.isPaused ?? false;
}

/** A workflow can be paused, and the call of each of its agents skipped or made again. */
function workflowActions(id: string, { manager, workflows }: ViewerDeps): ViewerActions {
	const record = manager.store.record(id);
	const parent = manager.store.record(record?.parentAgentId ?? "");
	if (!workflows || !record) return {};
	if (record.runner === "workflow")
		return {
			async pause() {
				const control = await workflows.load();
				const isPaused = control.state(record)?.isPaused;
				if (isPaused) control.continue(record);
				else control.pause(record);
				return isPaused ? "It launches agents again" : "It launches no more agents; those that run continue";
			},
		};
	if (parent?.runner !== "workflow") return {};
	const decide = async (what: "skip" | "retry") => {
		const { label } = (await workflows.load()).decide(parent, what, id);
		return `${what === "skip" ? "Skipped" : "Runs again"}: ${sanitize(label)}`;
	};
	return { skip: () => decide("skip"), retry: () => decide("retry") };
}

/** Cached until an event or a tick, because drawing many agents is slow. */
function headOf(id: string, { manager, clock, head }: ViewerDeps, theme: Theme): (width: number) => readonly string[] {
	if (head) return (width) => head(id, width, theme);
	let drawn: { key: string; lines: readonly string[] } | undefined;
	return (width) => {
		const now = clock.now();
		const key = `${manager.store.seq} ${width} ${Math.floor(now / TICK_MS)} ${theme.fg("accent", "")}`;
		if (drawn?.key !== key) {
			const activityOf = (each: string) => manager.activityOf(each);
			const options = { mode: "focused", width, maxLines: MAX_HEAD_LINES, now, focusId: id, activityOf } as const;
			const lines = renderTree(manager.store.snapshot().records, { ...options, theme: piTheme(theme) });
			const notes = [
				dialogLine(manager, width, theme),
				costLine(manager, id, width, theme),
				attemptLines(manager.store.record(id), width, theme),
			];
			drawn = { key, lines: [...lines, ...notes.flat()] };
		}
		return drawn.lines;
	};
}

/** Dialogs of extensions open when this view is closed: one at a time. */
function dialogLine({ store }: Manager, width: number, theme: Theme): string[] {
	const asking = store.currentRecords().find(({ status, question }) => status === "waiting" && question === undefined);
	if (!asking) return [];
	const text = `An extension in agent ${sanitize(agentLabel(asking))} asks you something: close this view to answer.`;
	return [theme.fg("warning", clip(text, width))];
}

/** What it cost, alone and with its sub-agents. */
function costLine({ store }: Manager, id: string, width: number, theme: Theme): string[] {
	const text = costText(store.snapshot().records, id);
	return text === "" ? [] : [theme.fg("dim", clip(`cost ${text}`, width))];
}

/** Why it runs with another model than the preset's first. */
function attemptLines(record: AgentRecord | undefined, width: number, theme: Theme): string[] {
	const attempts = record ? attemptsText(record) : "";
	return attempts === "" ? [] : [theme.fg("warning", clip(sanitize(`${record?.model}, ${attempts}`), width))];
}
