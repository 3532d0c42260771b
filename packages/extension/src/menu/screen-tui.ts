/** The menu on pi's own screen: each dialog takes the place of the editor, as pi's own do. */
import { copyToClipboard, type ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";
import { messageOf, type Report, systemClock } from "@pi-subagents/core";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import type { Dialogs } from "../dialogs.ts";
import { BusyView } from "./busy-view.ts";
import type { Look } from "./frame.ts";
import { InputView } from "./input-view.ts";
import { ListView } from "./list-view.ts";
import { ReadView } from "./read-view.ts";
import type { Choice, Decision, Screen, Work } from "./screen.ts";

export function tuiScreen({ ui }: ExtensionCommandContext, dialogs: Dialogs, report: Report): Screen {
	const show = <Answer>(view: (look: Look, done: (answer: Answer) => void) => Component & { dispose?(): void }) =>
		dialogs.inTurn(() =>
			ui.custom<Answer>((tui, theme, keys, done) =>
				view({ theme, keys, rows: () => tui.terminal.rows, redraw: () => tui.requestRender() }, done),
			),
		);
	const choose = (choice: Choice) =>
		show<string | undefined>((look, done) => new ListView({ choice, look, clock: systemClock, report, done }));
	const notify: Screen["notify"] = (text, level = "info") => ui.notify(sanitizeBlock(text), level);
	return {
		choose,
		notify,
		input: (question) => show<string | undefined>((look, done) => new InputView({ question, look, done })),
		confirm: async (decision) => (await choose(decisionList(decision))) === YES,
		edit: (title, text) => dialogs.inTurn(() => ui.editor(sanitize(title), sanitizeBlock(text))),
		read: (title, blocks) => show<void>((look, done) => new ReadView({ title, blocks, look, done })),
		async busy<Result>(title: string, work: Work<Result>) {
			const ended = await show<Ended<Result>>((look, done) => {
				const over = new AbortController();
				const view = new BusyView({ title, look, onCancel: () => over.abort() });
				void finish(work, over.signal, view).then(done);
				return view;
			});
			if ("error" in ended) throw ended.error;
			return ended.result;
		},
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

const YES = "yes";

function decisionList({ title, intro, yes, no }: Decision): Choice {
	return {
		title,
		intro,
		items: () => [
			{ value: YES, label: yes },
			{ value: "no", label: no },
		],
	};
}

type Ended<Result> = { result: Result } | { error: unknown };

/** Never rejects: a dialog that waits for it must be closed whatever happens. */
async function finish<Result>(work: Work<Result>, signal: AbortSignal, view: BusyView): Promise<Ended<Result>> {
	try {
		return { result: await work(signal, (lines) => view.tell(lines)) };
	} catch (error) {
		return { error };
	}
}
