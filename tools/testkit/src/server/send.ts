/** Sends a reply over HTTP, with everything that can go wrong on a wire. Stops as soon as the client is gone. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Fault, Reply } from "../script/reply.ts";
import type { RequestView } from "../script/request.ts";
import { chunksOf } from "./openai-chunks.ts";

const EVENT_STREAM = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

/** Resolves when the answer is out or the connection closed; the caller tells which from the response. */
export async function sendReply(response: ServerResponse, reply: Reply, request: RequestView): Promise<void> {
	const closed = once(response, "close").then(() => "closed" as const);
	const gate = reply.gate?.then(
		() => undefined,
		() => undefined,
	);
	const chunksBeforeGate = reply.chunksBeforeGate ?? 0;

	if (gate && chunksBeforeGate === 0 && (await Promise.race([gate, closed])) === "closed") return;
	if (reply.error !== undefined) return sendError(response, reply.error);
	switch (reply.fault?.kind) {
		case "http":
			return sendStatus(response, reply.fault);
		case "hang":
			await closed;
			return;
		case "garbage":
			response.writeHead(200, EVENT_STREAM).end(reply.fault.data);
			return;
	}

	response.writeHead(200, EVENT_STREAM);
	response.flushHeaders();
	const cutAfter = reply.fault?.kind === "cut" ? reply.fault.afterChunks : Number.POSITIVE_INFINITY;
	for (const [index, chunk] of chunksOf(reply, request).entries()) {
		if (index >= cutAfter) break;
		if (index > 0 && index === chunksBeforeGate && (await Promise.race([gate, closed])) === "closed") return;
		// real time: the test asked for a slow answer
		if (reply.chunkDelayMs) await Promise.race([delay(reply.chunkDelayMs, undefined, { ref: false }), closed]);
		if (response.destroyed) return;
		await Promise.race([write(response, `data: ${chunk}\n\n`), closed]);
	}
	if (reply.fault?.kind === "cut") response.destroy();
	else response.end();
}

/** Status 400: what pi does not retry. */
function sendError(response: ServerResponse, message: string): void {
	sendStatus(response, { kind: "http", status: 400, body: { error: { message, type: "scripted_error" } } });
}

export function sendStatus(response: ServerResponse, fault: Extract<Fault, { kind: "http" }>): void {
	const isText = typeof fault.body === "string";
	const type = isText ? "text/plain; charset=utf-8" : "application/json";
	response.writeHead(fault.status, { "content-type": type, ...fault.headers });
	response.end(isText ? fault.body : JSON.stringify(fault.body ?? {}));
}

/** Waits until the bytes are handed to the socket, so that a cut comes after them. */
function write(response: ServerResponse, data: string): Promise<void> {
	return new Promise((resolve) => response.write(data, () => resolve()));
}
