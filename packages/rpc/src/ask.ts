/** One question on the bus, and the one answer to it. Whatever ends it, no listener and no timer is left behind. */
import { type Bus, listen } from "./bus.ts";
import { isReply, type Method, type Replies, type Requests, replyChannel, requestChannels } from "./protocol.ts";

export interface AskOptions {
	/** Absent: as long as it takes. */
	timeoutMs?: number | undefined;
	signal?: AbortSignal | undefined;
	/** Holds, while the question is open, the way to end it with an error. */
	open?: Set<(error: unknown) => void>;
}

/** A request that was not done, or not answered in time. The message is the server's, or says what is wrong. */
export class RpcError extends Error {
	override readonly name = "RpcError";
	/** `refused`: the server said no. `timeout`: nobody answered. `unsupported`: this server cannot. `closed`: by us. */
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
			if (!isReply(reply)) return; // the bus is open to everybody: the answer may still come
			if (reply.success) end(() => resolve(reply.data as Replies[M]));
			else fail(new RpcError("refused", reply.error));
		});
		const timer =
			timeoutMs === undefined
				? undefined
				: patiently(timeoutMs, () => {
						fail(new RpcError("timeout", `Nobody answered "${requestChannels[method]}" within ${timeoutMs} ms.`));
					});
		signal?.addEventListener("abort", onAbort, { once: true });
		open?.add(fail);
		try {
			bus.emit(requestChannels[method], { requestId, ...request });
		} catch (error) {
			fail(error); // a bus that was taken from us, as pi's is from an extension that was reloaded
		}
	});
}

/** A timer that keeps no process alive. */
export function patiently(ms: number, work: () => void): ReturnType<typeof setTimeout> {
	const timer = setTimeout(work, ms);
	(timer as { unref?: () => void }).unref?.();
	return timer;
}
