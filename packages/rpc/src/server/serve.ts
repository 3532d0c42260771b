/** The server: answers every request on the bus with exactly one reply. */
import { type Bus, listen, requireBus } from "../bus.ts";
import { type Method, PROTOCOL_VERSION, type Replies, type Reply, replyChannel, requestChannels } from "../protocol.ts";
import { messageOf } from "./error-message.ts";
import { type Checked, readNow, requestIdOf } from "./request.ts";

/** The handler of each method. The message of an error that it throws is sent to the caller. */
export type Handlers = Required<Pick<AllHandlers, "spawn" | "stop">> & AllHandlers;

type AllHandlers = {
	[M in Exclude<Method, "ping">]?: (request: Checked[M]) => Replies[M] | Promise<Replies[M]>;
};

export interface ServeOptions {
	/** What `ping` lists besides the methods that have a handler, such as `outputSchema`. */
	capabilities?: readonly string[];
	/** Called when a reply could not be sent. Must not throw. */
	report?: (problem: string) => void;
}

/**
 * Answers requests until the returned function is called. Requests received before that are still answered.
 *
 * A request without a valid `requestId` (a string of up to 256 characters, or a number) cannot be answered and is ignored.
 * Handlers run after the sender has returned, so that a request sent inside an event handler sees that event completed.
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
	requireBus(bus);
	if (typeof handlers !== "object" || handlers === null)
		throw new TypeError(`handlers must be an object, not ${handlers === null ? "null" : typeof handlers}.`);
	const served = (Object.keys(requestChannels) as Method[]).filter((method) => method in handlers);
	const optional = served.filter((method) => method !== "spawn" && method !== "stop");
	const ping = () => ({ version: PROTOCOL_VERSION, capabilities: [...optional, ...capabilities] });
	const all: Readonly<Record<string, unknown>> = { ...handlers, ping };
	const answer = async (method: Method, requestId: string, work: () => unknown) => {
		const reply = await replyTo(work);
		try {
			bus.emit(replyChannel(method, requestId), reply);
		} catch (error) {
			report?.(`The reply to a ${method} request could not be sent: ${messageOf(error)}`);
		}
	};
	const stops = (["ping", ...served] as const).map((method) => {
		const handle = all[method] as (request: unknown) => unknown;
		return listen(bus, requestChannels[method], (payload) => {
			const requestId = requestIdOf(payload);
			if (requestId === undefined) return;
			const request = readNow(method, payload);
			void answer(method, requestId, () => handle(request()));
		});
	});
	return () => {
		for (const stop of stops) stop();
	};
}

async function replyTo(work: () => unknown): Promise<Reply> {
	try {
		await undefined; // let the sender return first
		const data = await work();
		return data === undefined ? { success: true } : { success: true, data };
	} catch (error) {
		return { success: false, error: messageOf(error) };
	}
}
