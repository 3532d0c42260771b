/**
 * Dialogs and notices of extensions inside agents, as plain data: they travel to the user's pi, and the answer travels
 * back. Pure. Where they come from another process or machine, {@link dialogIn} checks them.
 */
import type { NOTICE_LEVELS } from "@pi-subagents/progress";
import { isObject } from "../base/values.ts";

/** What an extension asks. Its texts are as the extension wrote them: who shows them makes them safe. */
export type Dialog =
	| { kind: "select"; title: string; options: readonly string[]; timeoutMs?: number }
	| { kind: "confirm"; title: string; message: string; timeoutMs?: number }
	| { kind: "input"; title: string; placeholder?: string; timeoutMs?: number }
	| { kind: "editor"; title: string; prefill?: string };

/** What the user answered: the index of an option, yes or no, or a text. */
export type DialogAnswer = { choice: number } | { confirmed: boolean } | { text: string };

/** What an extension says without waiting for an answer. */
export interface ExtensionNotice {
	text: string;
	level: (typeof NOTICE_LEVELS)[number];
}

/** What extensions inside agents can do on the user's screen. */
export interface AgentUi {
	/** Whether someone can answer now. An agent that begins while no one can tells its extensions so. */
	canAnswer(): boolean;
	/** Resolves with undefined if the dialog was dismissed, if no one can answer, and as soon as the signal fires. */
	ask(agentId: string, dialog: Dialog, signal: AbortSignal): Promise<DialogAnswer | undefined>;
	notify(agentId: string, notice: ExtensionNotice): void;
}

/** More than a person can answer; what is beyond waits for nobody and is dismissed. */
export const MAX_OPEN_DIALOGS = 16;
/** More than a screen can show. A larger dialog is dismissed rather than shown in part: the rest could matter. */
const MAX_OPTIONS = 1_000;
const MAX_CHARACTERS = 200_000;

/** Undefined if it is not a dialog, or a larger one than is shown. */
export function dialogIn(value: unknown): Dialog | undefined {
	if (!isObject(value)) return undefined;
	const { kind, title, options, message, placeholder, prefill, timeoutMs } = value;
	const texts = [title, message, placeholder, prefill, ...(Array.isArray(options) ? options : [])];
	const characters = texts.reduce<number>((sum, text) => sum + (typeof text === "string" ? text.length : 0), 0);
	if (typeof title !== "string" || characters > MAX_CHARACTERS) return undefined;
	const timed = typeof timeoutMs === "number" && timeoutMs > 0 ? { timeoutMs } : {};
	switch (kind) {
		case "select":
			return isTexts(options) && options.length <= MAX_OPTIONS ? { kind, title, options, ...timed } : undefined;
		case "confirm":
			return { kind, title, message: typeof message === "string" ? message : "", ...timed };
		case "input":
			return { kind, title, ...(typeof placeholder === "string" ? { placeholder } : {}), ...timed };
		case "editor":
			return { kind, title, ...(typeof prefill === "string" ? { prefill } : {}) };
		default:
			return undefined;
	}
}

/** Undefined if it is not an answer to this dialog: the dialog then counts as dismissed. */
export function answerTo(dialog: Dialog, value: unknown): DialogAnswer | undefined {
	if (!isObject(value)) return undefined;
	const { choice, confirmed, text } = value;
	switch (dialog.kind) {
		case "select":
			return typeof choice === "number" && dialog.options[choice] !== undefined ? { choice } : undefined;
		case "confirm":
			return typeof confirmed === "boolean" ? { confirmed } : undefined;
		default:
			return typeof text === "string" ? { text } : undefined;
	}
}

function isTexts(value: unknown): value is string[] {
	return Array.isArray(value) && value.every((each) => typeof each === "string");
}
