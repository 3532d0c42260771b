/** The menu for RPC clients, built on pi's plain dialogs. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import type { Item, Screen } from "@pi-subagents/widget/dialogs";
import { layout } from "@pi-subagents/widget/dialogs";
import type { Dialogs } from "../questions/dialogs.ts";
import { distinctLines } from "../text/distinct-lines.ts";

const OPTION_COLUMNS = 200;
const TEXT_COLUMNS = 100;

export function rpcScreen({ ui }: ExtensionContext, dialogs: Dialogs): Screen {
	const notify: Screen["notify"] = (text, level = "info") => ui.notify(sanitizeBlock(text), level);
	const choose: Screen["choose"] = async ({ title, intro, items, empty }) => {
		const shown = items();
		const options = optionsFor(shown);
		if (options.length === 0) {
			notify(empty ?? "There is nothing here.");
			return undefined;
		}
		const chosen = await dialogs.inTurn(() => ui.select(withTitle(title, intro), options));
		return chosen === undefined ? undefined : shown[options.indexOf(chosen)]?.value;
	};
	return {
		notify,
		choose,
		async pick(choice) {
			const value = await choose(choice);
			return value === undefined ? undefined : { value };
		},
		input: ({ title, intro, fault, value }) =>
			dialogs.inTurn(() => ui.input(withTitle(title, fault, intro), sanitize(value ?? ""))),
		confirm: ({ title, intro }) => dialogs.inTurn(() => ui.confirm(sanitize(title), sanitizeBlock(intro))),
		edit: (title, text) => dialogs.inTurn(() => ui.editor(sanitize(title), sanitizeBlock(text))),
		async read(title, blocks) {
			notify(withTitle(title, layout(blocks, TEXT_COLUMNS).join("\n")));
		},
		busy(title, work) {
			notify(title);
			return work(new AbortController().signal, () => undefined);
		},
		inSequence: (work) => work(),
		async copy(text) {
			notify(text); // this machine's clipboard is not the client's
		},
	};
}

/** One unique line per item, because a client answers with the line. */
export function optionsFor(items: readonly Item[]): string[] {
	const lines = items.map(({ branch = "", mark, label, tag, about, figure, end }) => {
		const named = branch + [mark?.text, label].filter(Boolean).join(" ");
		return [named, tag?.text, about, figure, end].filter(Boolean).join(" · ");
	});
	return distinctLines(lines, OPTION_COLUMNS);
}

function withTitle(title: string, ...texts: readonly (string | undefined)[]): string {
	return sanitizeBlock([title, ...texts].filter(Boolean).join("\n"));
}
