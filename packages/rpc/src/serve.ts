/** Answers requests on a bus: each with exactly one reply, whatever was sent and whatever becomes of it. */
import { type Bus, listen } from "./bus.ts";
import { type Method, PROTOCOL_VERSION, type Replies, type Reply, replyChannel, requestChannels } from "./protocol.ts";
import { type Checked, readRequest, requestIdOf } from "./request.ts";

/** What is done for each method. What they throw becomes the error of the reply, its message only. */
export type Handlers = Required<Pick<AllHandlers, "spawn" | "stop">> & AllHandlers;

type AllHandlers = {
	[M in Exclude<Method, "ping">]?: (request: Checked[M]) => Replies[M] | Promise<Replies[M]>;
};

export interface ServeOptions {
	/** What `ping` names beside the methods that have a handler, such as `outputSchema`. */
	capabilities?: readonly string[];
	/** Hears of answers that the bus did not take. Must not throw. */
	report?: (problem: string) => void;
}

/** More would be a report, not a message. */
const MOST_ERROR = 4_000;

/**
 * Answers on the bus until the function that it returns is called; what was asked until then is still answered.
 *
 * A request without a usable `requestId` (a text of up to 256 characters, or a number) has no place for an answer:
 * nothing is done. Handlers run after whoever asked has returned, so that a request which is sent from inside an event
 * finds everything done that belongs to it.
 *
 * @example
 * ```ts
 * const stop = serve(pi.events, {
 * 	spawn: async ({ type, prompt }) => ({ id: await launch(type, prompt) }),
 * 	stop: ({ agentId }) => abort(agentId),
 * });
 * ```
 */
export function serve(bus: Bus, handlers: Handlers, { capabilities = [], report }: ServeOptions = {}): () => void {
	const served = (Object.keys(requestChannels) as Method[]).filter((method) => method in handlers);
	const beyond = served.filter((method) => method !== "spawn" && method !== "stop");
	const ping = () => ({ version: PROTOCOL_VERSION, capabilities: [...beyond, ...capabilities] });
	const all: Readonly<Record<string, unknown>> = { ...handlers, ping };
	const answer = async (method: Method, requestId: string, work: () => unknown) => {
		const reply = await replyTo(work);
		try {
			bus.emit(replyChannel(method, requestId), reply);
		} catch (error) {
			report?.(`The answer to a ${method} request could not be sent: ${messageOf(error)}`);
		}
	};
	const stops = (["ping", ...served] as const).map((method) => {
		const handle = all[method] as (request: unknown) => unknown;
		return listen(bus, requestChannels[method], (payload) => {
			const requestId = requestIdOf(payload);
			if (requestId !== undefined) void answer(method, requestId, workFor(method, payload, handle));
		});
	});
	return () => {
		for (const stop of stops) stop();
	};
}

/** The request is read at once, since whoever sent it may change it later. */
function workFor(method: Method, payload: unknown, handle: (request: unknown) => unknown): () => unknown {
	try {
		const request = readRequest(method, payload);
		return () => handle(request);
	} catch (error) {
		return () => {
			throw error;
		};
	}
}

async function replyTo(work: () => unknown): Promise<Reply> {
	try {
		await undefined; // whoever asked goes on first
		const data = await work();
		return data === undefined ? { success: true } : { success: true, data };
	} catch (error) {
		return { success: false, error: messageOf(error) };
	}
}

/** Of anything that was thrown, even if it throws when one looks at it. */
function messageOf(error: unknown): string {
	try {
		const message = error instanceof Error ? error.message : String(error);
		return typeof message === "string" && message !== "" ? message.slice(0, MOST_ERROR) : "It failed.";
	} catch {
		return "It failed.";
	}
}
