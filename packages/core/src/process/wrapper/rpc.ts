/** Speaks with pi's RPC mode: commands and their responses, dialogs of extensions, and everything else as events. */
import { MAX_LINE_BYTES } from "@pi-subagents/progress";
import { requestIn, type TunnelRequest } from "../child/tunnel.ts";
import { parseJson } from "../read.ts";

export interface RpcOptions {
	send: (line: string) => void;
	/** A session event, as it came. */
	onEvent: (raw: Record<string, unknown>) => void;
	/** Our entry in the child asks. It waits until it gets a reply. */
	onRequest: (request: TunnelRequest, reply: (value: string) => void) => void;
	/** Something that a person should know. */
	onNotice: (text: string) => void;
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

	/** Waits for ever when pi does not answer. */
	request(command: { type: string } & Record<string, unknown>): Promise<RpcResponse> {
		const id = `subagent-${++this.#count}`;
		return new Promise((resolve) => {
			this.#pending.set(id, resolve);
			this.#send({ id, ...command });
		});
	}

	hear(line: string): void {
		const raw = parseJson(line);
		if (!isRecord(raw)) return; // whatever printed that, it was not for us
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
			`Line ${++this.#skipped} of those over ${limit} that pi printed was skipped: it had ${size}.`,
		);
	}

	#respond({ id, success, error, data }: Record<string, unknown>): void {
		if (typeof id !== "string") return;
		const resolve = this.#pending.get(id);
		this.#pending.delete(id);
		resolve?.({
			success: success === true,
			error: typeof error === "string" ? error : "",
			data: isRecord(data) ? data : {},
		});
	}

	#dialog({ id, method, title }: Record<string, unknown>): void {
		const request = method === "input" ? requestIn(title) : undefined;
		if (request) this.#options.onRequest(request, (value) => this.#reply({ id, value }));
		// Nobody is there for the dialogs of other extensions; what is not a dialog needs no reply.
		else if (DIALOGS.includes(String(method))) this.#reply({ id, cancelled: true });
	}

	#reply(response: Record<string, unknown>): void {
		this.#send({ type: "extension_ui_response", ...response });
	}

	#send(message: Record<string, unknown>): void {
		this.#options.send(`${JSON.stringify(message)}\n`);
	}
}

const DIALOGS = ["select", "confirm", "input", "editor"];

/** Most of what pi prints: pieces of messages that come whole later. */
export function isDelta(line: string): boolean {
	return line.startsWith('{"type":"message_update"') || line.startsWith('{"type":"tool_execution_update"');
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
