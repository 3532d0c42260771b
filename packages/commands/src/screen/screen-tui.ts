/** The menu in the TUI: each dialog replaces the editor, like pi's own. */
import { copyToClipboard, type ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";
import { type Report, systemClock } from "@pi-subagents/core";
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import type { Choice, Decision, DialogContext, Picked, Screen, Work } from "@pi-subagents/widget/dialogs";
import { BusyView, InputView, ListView, ReadView, TypedAhead } from "@pi-subagents/widget/dialogs";
import type { Dialogs } from "../questions/dialogs.ts";
import { ownUi } from "../questions/other-dialogs.ts";
import { rpcScreen } from "./screen-rpc.ts";

export interface ScreenDeps {
	dialogs: Dialogs;
	host: { warn: Report };
}

/** The screen of this session's mode. */
export function screenFor(ctx: ExtensionContext, { dialogs, host }: ScreenDeps): Screen {
	return ctx.mode === "tui" ? tuiScreen(ctx, dialogs, host.warn) : rpcScreen(ctx, dialogs);
}

export function tuiScreen({ ui: shared }: ExtensionContext, dialogs: Dialogs, report: Report): Screen {
	const ui = ownUi(shared);
	const { closedAt } = dialogs;
	const typedAhead = new TypedAhead({ listen: (hear) => ui.onTerminalInput(hear), closedAt, now: Date.now });
	const show = <Answer>(
		view: (context: DialogContext, done: (answer: Answer) => void, typed: string) => Component & { dispose?(): void },
		question?: string,
	) =>
		dialogs.inTurn(() => {
			const typed = typedAhead.take();
			return ui.custom<Answer>((tui, theme, keys, done) => {
				const context = { theme, keys, rows: () => tui.terminal.rows, redraw: () => tui.requestRender() };
				const close = (answer: Answer) => {
					dialogs.closing();
					done(answer);
				};
				return view(context, close, typed);
			}, waitingFor(question));
		});
	const pick = (choice: Choice, question?: string) =>
		show<Picked | undefined>((context, done) => {
			const pressed = (value: string | undefined, key?: string) =>
				done(value === undefined ? undefined : { value, ...defined({ key }) });
			return new ListView({ choice, context, clock: systemClock, report, done: pressed });
		}, question);
	const choose = async (choice: Choice, question?: string) => (await pick(choice, question))?.value;
	const notify: Screen["notify"] = (text, level = "info") => ui.notify(sanitizeBlock(text), level);
	return {
		choose: (choice) => choose(choice),
		pick: (choice) => pick(choice),
		notify,
		input: (question) =>
			show<string | undefined>(
				(context, done, typed) => new InputView({ question, context, done, typed }),
				question.title,
			),
		confirm: async (decision) => (await choose(decisionList(decision), decision.title)) === YES,
		edit: (title, text) => dialogs.inTurn(() => ui.editor(sanitize(title), sanitizeBlock(text))),
		read: (title, blocks) => show<void>((context, done) => new ReadView({ title, blocks, context, done })),
		async busy<Result>(title: string, work: Work<Result>) {
			const settled = await show<Settled<Result>>((context, done) => {
				const controller = new AbortController();
				const view = new BusyView({ title, context, onCancel: () => controller.abort() });
				void finish(work, controller.signal, view).then(done);
				return view;
			});
			if ("error" in settled) throw settled.error;
			return settled.result;
		},
		inSequence: (work) => typedAhead.during(work),
		async copy(text) {
			try {
				await copyToClipboard(text);
				notify(`Copied: ${text}`);
			} catch (error) {
				notify(`${text}\nIt could not be copied: ${messageOf(error)}`, "warning");
			}
		},
	};
}

/** Since pi 1.5, terminals can show that pi waits for an answer. Older ones ignore it. */
function waitingFor(question: string | undefined): object | undefined {
	return question === undefined ? undefined : { blocked: { kind: "question", message: sanitize(question) } };
}

const YES = "yes";

/** The safe choice comes first, so that Enter pressed too early changes nothing. */
function decisionList({ title, intro, yes, no }: Decision): Choice {
	return {
		title,
		intro,
		items: () => [
			{ value: "no", label: no },
			{ value: YES, label: yes },
		],
	};
}

type Settled<Result> = { result: Result } | { error: unknown };

/** Never rejects, so that the waiting dialog always closes. */
async function finish<Result>(work: Work<Result>, signal: AbortSignal, view: BusyView): Promise<Settled<Result>> {
	try {
		return { result: await work(signal, (lines) => view.setLines(lines)) };
	} catch (error) {
		return { error };
	}
}
