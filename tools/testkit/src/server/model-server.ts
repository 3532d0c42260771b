/**
 * A model endpoint for the real pi binary: OpenAI-compatible chat completions on the loopback interface,
 * answering by the rules of the test and recording the requests of all pi processes.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type RequestView, viewOf } from "../script/request.ts";
import { RequestLog } from "../script/request-log.ts";
import { answer, type Rule } from "../script/rules.ts";
import { parseJson, partsOfBody } from "./openai-request.ts";
import { sendReply, sendStatus } from "./send.ts";

export interface ModelServerOptions {
	/** Asked in order; the first that applies answers. If none does, the model fails with a description of the request. */
	readonly rules: readonly Rule[];
}

export interface ServedRequest extends RequestView {
	/** The body as sent by pi. */
	readonly raw: unknown;
	readonly headers: IncomingHttpHeaders;
	/** The client left before the answer was complete. */
	readonly aborted: boolean;
	/** The answer was sent to its end. */
	readonly answered: boolean;
}

export interface ModelServer extends AsyncDisposable {
	/** For `models.json`. */
	readonly baseUrl: string;
	readonly requests: readonly ServedRequest[];
	/**
	 * The first request, already seen or still to come, for which the condition holds. It is checked again when
	 * `aborted` or `answered` changes.
	 */
	nextRequest(
		condition?: (request: ServedRequest) => boolean,
		options?: { readonly timeoutMs?: number },
	): Promise<ServedRequest>;
	/** Drops the recorded requests: thousands of them would not fit into memory. */
	forget(): void;
	/** Ends all connections, also those that hang. */
	close(): Promise<void>;
}

type Entry = { -readonly [Key in keyof ServedRequest]: ServedRequest[Key] };

export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
	const log = new RequestLog<Entry>();
	let closing = false;
	let asked = 0;

	const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
		const raw = parseJson(await text(incoming));
		if (incoming.method !== "POST" || incoming.url !== "/v1/chat/completions") {
			return sendStatus(response, { kind: "http", status: 404, body: `No ${incoming.method} ${incoming.url} here` });
		}
		const view = viewOf(++asked, partsOfBody(raw));
		const entry: Entry = { ...view, raw, headers: incoming.headers, aborted: false, answered: false };
		const reply = answer(options.rules, entry);
		response.once("close", () => {
			entry.answered = response.writableFinished;
			entry.aborted = !response.writableFinished && !closing && reply.fault?.kind !== "cut";
			log.changed();
		});
		log.add(entry);
		await sendReply(response, reply, entry);
	};

	const server = createServer((incoming, response) => {
		// Happens only when the client disconnects early, so there is no client to report to.
		serve(incoming, response).catch(() => response.destroy());
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject).listen(0, "127.0.0.1", resolve);
	});

	const close = async () => {
		if (closing) return;
		closing = true;
		const closed = new Promise<void>((resolve) => server.close(() => resolve()));
		server.closeAllConnections();
		await closed;
		log.end("The model server is closed");
	};
	return {
		baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
		requests: log.entries,
		nextRequest: (condition = () => true, waiting) => log.next(condition, waiting),
		forget: () => void log.entries.splice(0),
		close,
		[Symbol.asyncDispose]: close,
	};
}
