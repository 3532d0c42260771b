/** Sends one request on the bus and waits for its reply. Leaves no listener or timer behind. */
import { type Bus, listen } from "./bus.ts";
import { isReply, type Method, type Replies, type Requests, replyChannel, requestChannels } from "./protocol.ts";

export interface AskOptions {
	/** Absent: no timeout. */
	timeoutMs?: number | undefined;
	signal?: AbortSignal | undefined;
	/** While the request is open, contains a function that fails it. */
	open?: Set<(error: unknown) => void>;
}

/** A request that failed or was not answered in time. The message comes from the server or says what is wrong. */
export class RpcError extends Error {
	override readonly name = "RpcError";
	/** `refused`: by the server. `timeout`: no answer. `unsupported`: by this server. `closed`: `close` was called. */
	readonly code: "refused" | "timeout" | "unsupported" | "closed";

	constructor(code: RpcError["code"], message: string) {
		super(message);
		this.code = code;
	}
}

export function ask<M extends Method>(
	bus: Bus,
	method: M,
	request: Requests[M],
	{ timeoutMs, signal, open }: AskOptions = {},
): Promise<Replies[M]> {
	return new Promise((resolve, reject) => {
		if (signal?.aborted) return reject(signal.reason);
		const requestId = crypto.randomUUID();
		const end = (settle: () => void) => {
			stopListening();
			clearTimeout(timer);
			signal?.removeEventListener("abort", onAbort);
			open?.delete(fail);
			settle();
		};
		const fail = (error: unknown) => end(() => reject(error));
		const onAbort = () => fail(signal?.reason);
		const stopListening = listen(bus, replyChannel(method, requestId), (reply) => {
			if (!isReply(reply)) return; // any extension can send here; the real reply may still come
			if (reply.success) end(() => resolve(reply.data as Replies[M]));
			else fail(new RpcError("refused", reply.error));
		});
		const timer =
			timeoutMs === undefined
				? undefined
				: unrefTimeout(timeoutMs, () => {
						fail(new RpcError("timeout", `No answer to "${requestChannels[method]}" within ${timeoutMs} ms.`));
					});
		signal?.addEventListener("abort", onAbort, { once: true });
		open?.add(fail);
		try {
			bus.emit(requestChannels[method], { requestId, ...request });
		} catch (error) {
			fail(error); // the bus is gone, as pi's is after the extension was reloaded
		}
	});
}

/** A timer that does not keep the process alive. */
export function unrefTimeout(ms: number, work: () => void): ReturnType<typeof setTimeout> {
	const timer = setTimeout(work, ms);
	(timer as { unref?: () => void }).unref?.();
	return timer;
}
