/** Talks to pi's RPC mode: commands and responses, dialogs and notices of extensions, and everything else as events. */

import type { Dialog, DialogAnswer, ExtensionNotice } from "@pi-subagents/core";
import { isObject, parseJson } from "@pi-subagents/core/internal/base";
import { dialogIn } from "@pi-subagents/core/internal/run";
import { MAX_LINE_BYTES, NOTICE_LEVELS, textDelta } from "@pi-subagents/progress";
import { parseNotice, parseRequest, type TunnelNotice, type TunnelRequest } from "./tunnel.ts";

export interface RpcOptions {
	send: (line: string) => void;
	/** A session event, as it came. */
	onEvent: (raw: Record<string, unknown>) => void;
	/** A request from our child extension, which waits for the reply. */
	onRequest: (request: TunnelRequest, reply: (value: string) => void) => void;
	/** A notice from our child extension, which does not wait. */
	onTunnelNotice: (word: TunnelNotice) => void;
	/** A message for people. */
	onNotice: (text: string) => void;
	/** A dialog of another extension, which waits for the reply. Undefined dismisses it. */
	onDialog: (dialog: Dialog, reply: (answer: DialogAnswer | undefined) => void) => void;
	/** A notice of another extension. */
	onExtensionNotice: (notice: ExtensionNotice) => void;
}

export interface RpcResponse {
	success: boolean;
	error: string;
	data: Record<string, unknown>;
}

export class Rpc {
	readonly #options: RpcOptions;
	readonly #pending = new Map<string, (response: RpcResponse) => void>();
	#count = 0;
	#skipped = 0;

	constructor(options: RpcOptions) {
		this.#options = options;
	}

	/** Never resolves if pi does not answer. */
	request(command: { type: string } & Record<string, unknown>): Promise<RpcResponse> {
		const id = `subagent-${++this.#count}`;
		return new Promise((resolve) => {
			this.#pending.set(id, resolve);
			this.#send({ id, ...command });
		});
	}

	hear(line: string): void {
		const raw = parseJson(line);
		if (!isObject(raw)) return; // not a message for us
		switch (raw.type) {
			case "response":
				this.#respond(raw);
				break;
			case "extension_ui_request":
				this.#dialog(raw);
				break;
			case "extension_error":
				this.#options.onNotice(`The extension ${raw.extensionPath} failed in ${raw.event}: ${raw.error}`);
				break;
			default:
				this.#options.onEvent(raw);
		}
	}

	skip(bytes: number): void {
		const size = `${(bytes / 1024 / 1024).toFixed(1)} MB`;
		const limit = `${MAX_LINE_BYTES / 1024 / 1024} MB`;
		this.#options.onNotice(
			`pi printed a line of ${size}, which was skipped: at most ${limit} are read (skipped so far: ${++this.#skipped}).`,
		);
	}

	#respond({ id, success, error, data }: Record<string, unknown>): void {
		if (typeof id !== "string") return;
		const resolve = this.#pending.get(id);
		this.#pending.delete(id);
		resolve?.({
			success: success === true,
			error: typeof error === "string" ? error : "",
			data: isObject(data) ? data : {},
		});
	}

	/** Ours, or that of another extension. What is neither a dialog nor a notice draws on a screen that a child has not. */
	#dialog(raw: Record<string, unknown>): void {
		const { id, method, title, message, notifyType } = raw;
		const word = method === "notify" ? parseNotice(message) : undefined;
		const request = method === "input" ? parseRequest(title) : undefined;
		if (word) this.#options.onTunnelNotice(word);
		else if (request) this.#options.onRequest(request, (value) => this.#reply({ id, value }));
		else if (DIALOGS.includes(String(method))) this.#ask(raw);
		else if (method === "notify" && typeof message === "string") {
			const level = NOTICE_LEVELS.find((each) => each === notifyType) ?? "info";
			this.#options.onExtensionNotice({ text: message, level });
		}
	}

	#ask({ id, method, timeout, ...fields }: Record<string, unknown>): void {
		const dialog = dialogIn({ ...fields, kind: method, timeoutMs: timeout });
		if (dialog) {
			this.#options.onDialog(dialog, (answer) => this.#reply({ id, ...responseTo(dialog, answer) }));
			return;
		}
		this.#reply({ id, cancelled: true });
		this.#options.onNotice("A dialog of an extension is too large to be shown, so it was dismissed.");
	}

	#reply(response: Record<string, unknown>): void {
		this.#send({ type: "extension_ui_response", ...response });
	}

	#send(message: Record<string, unknown>): void {
		this.#options.send(`${JSON.stringify(message)}\n`);
	}
}

const DIALOGS = ["select", "confirm", "input", "editor"];

/** The answer in pi's words. */
function responseTo(dialog: Dialog, answer: DialogAnswer | undefined): Record<string, unknown> {
	if (!answer) return { cancelled: true };
	if ("choice" in answer) return { value: dialog.kind === "select" ? dialog.options[answer.choice] : undefined };
	return "text" in answer ? { value: answer.text } : answer;
}

/** Most of pi's output: pieces of messages that arrive complete later. */
export function isDelta(line: string): boolean {
	return line.startsWith(MESSAGE_UPDATE) || line.startsWith('{"type":"tool_execution_update"');
}

const MESSAGE_UPDATE = '{"type":"message_update"';

/** The text added to a message; empty for other lines, most of which are not even parsed. */
export function textIn(line: string): string {
	return line.startsWith(MESSAGE_UPDATE) && line.includes('"text_delta"') ? textDelta(parseJson(line)) : "";
}
