/**
 * Dialogs of extensions inside agents. Only the user answers them, never a model: they are mostly permissions. The agent
 * waits meanwhile as it does with a question of its own: it lends its slot, and its clocks stop. Private to the manager.
 */
import { beginningOf, sanitize } from "@pi-subagents/progress";
import { type Clock, steadyClock } from "../base/clock.ts";
import { untilStopped } from "../base/timeouts.ts";
import { type Dialog, type DialogAnswer, MAX_OPEN_DIALOGS } from "../model/dialog.ts";
import type { Audience } from "../model/question.ts";
import type { Store } from "../model/store.ts";
import type { LiveAgent } from "./live-agents.ts";
import type { RunLifecycle } from "./run-lifecycle.ts";
import { announceAnswer, announceDialog } from "./waiting.ts";

/** Shows a dialog to the user. Undefined: dismissed. Must not reject. */
export type ShowDialog = (dialog: AskedDialog, signal: AbortSignal) => Promise<DialogAnswer | undefined>;

export interface AskedDialog {
	agentId: string;
	dialog: Dialog;
	/** How much of its time is left; undefined if it has as much as the user needs. */
	leftMs(): number | undefined;
}

export interface ExtensionDialogsOptions {
	store: Store;
	lifecycle: RunLifecycle;
	clock: Clock;
	audience: Audience | undefined;
	show: ShowDialog | undefined;
	/** See `Questions.block`. */
	block: (id: string) => () => void;
}

/** Of what the record and the log keep of it. */
const MAX_TITLE = 400;

export class ExtensionDialogs {
	readonly #options: ExtensionDialogsOptions;
	readonly #clock: Clock;

	constructor(options: ExtensionDialogsOptions) {
		this.#options = options;
		this.#clock = steadyClock(options.clock);
	}

	/** Resolves with undefined without an answer, and at once when the agent settles or the signal fires. */
	async ask(live: LiveAgent, dialog: Dialog, signal: AbortSignal): Promise<DialogAnswer | undefined> {
		const { audience, show, block } = this.#options;
		const isFull = live.dialogs.size >= MAX_OPEN_DIALOGS;
		if (!show || isFull || live.abort.signal.aborted || signal.aborted || !audience?.userCanAnswer()) return undefined;
		const timeoutMs = "timeoutMs" in dialog ? dialog.timeoutMs : undefined;
		const late = new AbortController();
		const endsAt = this.#clock.now() + (timeoutMs ?? 0);
		const cancel = timeoutMs === undefined ? undefined : this.#clock.after(timeoutMs, () => late.abort());
		const over = AbortSignal.any([live.abort.signal, signal, late.signal]);
		const title = beginningOf(sanitize(dialog.title), MAX_TITLE);
		const open = { title, dismiss: () => late.abort() };
		live.dialogs.add(open);
		const takeBack = block(live.id);
		announceDialog(this.#options, live.id, title);
		const leftMs = () => (timeoutMs === undefined ? undefined : Math.max(1, endsAt - this.#clock.now()));
		let answer: DialogAnswer | undefined;
		try {
			answer = await untilStopped(show({ agentId: live.id, dialog, leftMs }, over), over);
			return answer;
		} finally {
			cancel?.();
			live.dialogs.delete(open);
			const isLive = this.#options.lifecycle.live(live.id) === live;
			if (isLive) announceAnswer(this.#options, live, answer ? "user" : "nobody");
			takeBack();
		}
	}
}
