/**
 * Shows the dialogs and notices of extensions inside agents to the user, one dialog at a time. The first line is ours and
 * says which agent it is; what follows is the extension's. Where that is long, the agent is named again below it, so that
 * the extension can neither hide our line nor push it off the screen.
 */
import {
	type ExtensionContext,
	ExtensionEditorComponent,
	type ExtensionUIDialogOptions,
} from "@earendil-works/pi-coding-agent";
import type { AgentRecord, AskedDialog, DialogAnswer, ExtensionNotice, ShowDialog, Store } from "@pi-subagents/core";
import { clip, defined } from "@pi-subagents/core/internal/base";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import type { CommandHost } from "../host.ts";
import { distinctLines } from "../text/distinct-lines.ts";
import { confirmSafely, type Dialogs } from "./dialogs.ts";
import { ownUi } from "./other-dialogs.ts";

export interface ExtensionDialogs {
	show: ShowDialog;
	notify(agentId: string, notice: ExtensionNotice): void;
}

export function createExtensionDialogs(
	host: Pick<CommandHost, "session">,
	store: () => Store,
	dialogs: Dialogs,
): ExtensionDialogs {
	/** How many notices an agent's extensions have shown. */
	const noticed = new Map<string, number>();
	return {
		show(asked, signal) {
			const who = () => {
				const record = store().record(asked.agentId);
				return record && `An extension in ${whoIs(record, store())}`;
			};
			const onDelay = () =>
				host.session()?.ui.notify(`${who()} asks you something. You see it when this dialog is closed.`, "warning");
			const show = async () => {
				const session = host.session();
				const head = who();
				if (signal.aborted || !session?.hasUI || head === undefined) return undefined;
				return showOn(session, asked, head, signal);
			};
			return dialogs.inTurn(show, { session: () => host.session(), signal, onDelay });
		},
		notify(agentId, { text, level }) {
			const session = host.session();
			const record = store().record(agentId);
			const count = (noticed.get(agentId) ?? 0) + 1;
			if (!session?.hasUI || !record || record.outcome || count > MAX_NOTICES) return;
			if (noticed.size > MAX_COUNTED) noticed.clear();
			noticed.set(agentId, count);
			const who = `An extension in ${whoIs(record, store())}`;
			session.ui.notify(`${who}: ${clip(sanitizeBlock(text), NOTICE_CHARACTERS)}`, level);
			if (count === MAX_NOTICES) session.ui.notify(`${who} says more, which is not shown.`, "info");
		},
	};
}

/** A notice for every call of a tool would push the conversation off the screen. */
const MAX_NOTICES = 20;
const NOTICE_CHARACTERS = 500;
const MAX_COUNTED = 10_000;

async function showOn(
	session: ExtensionContext,
	{ dialog, leftMs }: AskedDialog,
	who: string,
	signal: AbortSignal,
): Promise<DialogAnswer | undefined> {
	const ui = ownUi(session.ui);
	const said = [dialog.title, ...(dialog.kind === "confirm" ? [dialog.message] : [])].map(shown);
	const isLong = said.join("\n").split("\n").length > FEW_LINES || said.join("").length > FEW_CHARACTERS;
	const [title = "", message = ""] = [`${who} asks:\n${said[0]}`, ...said.slice(1)];
	const signed = (text: string) => (isLong ? `${text}\n\n(${who} asks this.)` : text);
	const options: ExtensionUIDialogOptions = { signal, ...defined({ timeout: leftMs() }) };
	switch (dialog.kind) {
		case "select": {
			const lines = distinctLines(dialog.options, OPTION_CHARACTERS);
			const choice = lines.indexOf((await ui.select(signed(title), lines, options)) ?? NONE);
			return choice < 0 ? undefined : { choice };
		}
		case "confirm":
			return { confirmed: await confirmSafely(session, title, signed(message), options) };
		case "input":
			return textAnswer(await ui.input(signed(title), sanitize(dialog.placeholder ?? ""), options));
		case "editor":
			return textAnswer(await edit(session, signed(title), sanitizeBlock(dialog.prefill ?? ""), signal));
	}
}

const OPTION_CHARACTERS = 200;
/** What surely fits on the screen, with the line above it. */
const FEW_LINES = 5;
const FEW_CHARACTERS = 300;
/** No line can be this. */
const NONE = "\n";

function textAnswer(text: string | undefined): DialogAnswer | undefined {
	return text === undefined ? undefined : { text };
}

/** pi's own editor dialog cannot be withdrawn; on a screen, the same component as a dialog of ours can. */
async function edit(
	{ mode, ui: shared }: ExtensionContext,
	title: string,
	text: string,
	signal: AbortSignal,
): Promise<string | undefined> {
	const ui = ownUi(shared);
	const withdrawn = Promise.withResolvers<undefined>();
	const onAbort = () => withdrawn.resolve(undefined);
	signal.addEventListener("abort", onAbort, { once: true });
	try {
		if (mode !== "tui") return await Promise.race([ui.editor(title, text), withdrawn.promise]);
		return await ui.custom<string | undefined>((tui, _theme, keys, done) => {
			void withdrawn.promise.then(done);
			return new ExtensionEditorComponent(tui, keys, title, text, done, () => done(undefined));
		});
	} finally {
		signal.removeEventListener("abort", onAbort);
	}
}

/** Which agent it is, by the names of those that launched it: `agent planner › scout (Explore, x7k2)`. */
function whoIs({ id, name, type, ...record }: AgentRecord, store: Store): string {
	const path = [name ?? type];
	let { parentAgentId } = record;
	while (parentAgentId !== undefined && path.length < MAX_PATH) {
		const parent = store.record(parentAgentId);
		path.unshift(parent?.name ?? parent?.type ?? parentAgentId);
		parentAgentId = parent?.parentAgentId;
	}
	const about = name === undefined ? [id] : [type, id];
	return `agent ${path.map(nameText).join(" › ")} (${about.map(nameText).join(", ")})`;
}

const MAX_PATH = 4;
const NAME_CHARACTERS = 60;

function nameText(name: string): string {
	return clip(sanitize(name), NAME_CHARACTERS);
}

/** What an extension says, within what a screen can show. */
function shown(text: string): string {
	const lines = sanitizeBlock(text).split("\n");
	const kept = lines.slice(0, MAX_LINES).map((line) => clip(line, LINE_CHARACTERS));
	return lines.length > kept.length
		? [...kept, `[${lines.length - kept.length} more lines]`].join("\n")
		: kept.join("\n");
}

const MAX_LINES = 200;
const LINE_CHARACTERS = 2_000;
