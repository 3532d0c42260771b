/**
 * What extensions in a child in this process have as `ctx.ui`: their dialogs and notices reach the user, with the
 * agent's name; everything else is as in pi's RPC mode, where there is no screen to draw on.
 */
import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import type { Clock, Dialog, DialogAnswer } from "@pi-subagents/core";
import { sleep } from "@pi-subagents/core/internal/base";
import { dialogIn } from "@pi-subagents/core/internal/run";
import type { SessionUi } from "./resources/host.ts";

export interface ChildUiOptions {
	agentId: string;
	/** Fires when the child is stopped or closed: dialogs that are open end without an answer. */
	ended: AbortSignal;
	clock: Pick<Clock, "after">;
}

/** An extension that asks until it gets an answer must not go on for ever after the end of its agent. */
const LATE_MS = 1_000;
const MAX_LATE = 3;

/** Own properties only: pi copies the object with a spread, which loses anything else. */
export function childUi(ui: SessionUi, { agentId, ended, clock }: ChildUiOptions): ExtensionUIContext {
	let late = 0;
	const ask = async (asked: Dialog, signal?: AbortSignal): Promise<DialogAnswer | undefined> => {
		// No rejection: one that the extension does not handle would end pi.
		if (ended.aborted) await (++late > MAX_LATE ? NEVER : sleep(LATE_MS, clock));
		const dialog = dialogIn(asked); // an extension may pass anything
		const over = signal ? AbortSignal.any([signal, ended]) : ended;
		return dialog && !over.aborted ? ui.ask(agentId, dialog, over) : undefined;
	};
	const text = (answer: DialogAnswer | undefined) => (answer && "text" in answer ? answer.text : undefined);
	return {
		async select(title, options, opts) {
			const answer = await ask({ kind: "select", title, options, ...timeOf(opts) }, opts?.signal);
			return answer && "choice" in answer ? options[answer.choice] : undefined;
		},
		async confirm(title, message, opts) {
			const answer = await ask({ kind: "confirm", title, message, ...timeOf(opts) }, opts?.signal);
			return answer !== undefined && "confirmed" in answer && answer.confirmed;
		},
		async input(title, placeholder = "", opts) {
			return text(await ask({ kind: "input", title, placeholder, ...timeOf(opts) }, opts?.signal));
		},
		async editor(title, prefill = "") {
			return text(await ask({ kind: "editor", title, prefill }));
		},
		notify(message, level = "info") {
			if (!ended.aborted) ui.notify(agentId, { text: message, level });
		},
		custom: async () => undefined as never, // what pi's RPC mode returns, whatever the type says
		onTerminalInput: () => ignore,
		setStatus: ignore,
		setWorkingMessage: ignore,
		setWorkingVisible: ignore,
		setWorkingIndicator: ignore,
		setHiddenThinkingLabel: ignore,
		setWidget: ignore,
		setFooter: ignore,
		setHeader: ignore,
		setTitle: ignore,
		pasteToEditor: ignore,
		setEditorText: ignore,
		getEditorText: () => "",
		addAutocompleteProvider: ignore,
		setEditorComponent: ignore,
		getEditorComponent: () => undefined,
		theme: ui.theme(),
		getAllThemes: () => [],
		getTheme: () => undefined,
		setTheme: () => ({ success: false, error: "An agent has no screen." }),
		getToolsExpanded: () => false,
		setToolsExpanded: ignore,
	};
}

const ignore = (): void => undefined;
const NEVER = new Promise<never>(ignore);

function timeOf(options: { timeout?: number } | undefined): { timeoutMs?: number } {
	return options?.timeout === undefined ? {} : { timeoutMs: options.timeout };
}
