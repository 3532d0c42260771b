/** Finds the server on a bus, in whatever order both were loaded, and returns a typed client. */
import { type AskOptions, ask, RpcError, unrefTimeout } from "./ask.ts";
import { type Bus, listen, requireBus } from "./bus.ts";
import { createClient, type Subagents } from "./client.ts";
import { lifecycleChannels } from "./lifecycle.ts";
import { parseServerInfo, type ServerInfo } from "./protocol.ts";

export interface ConnectOptions {
	/** How long to wait for the server, and then for each of its replies. Default: 30 seconds. */
	timeoutMs?: number;
	/** Aborts connecting. */
	signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Resolves when a server answers: it pings at once, and again when a server announces that it is ready. Rejects when none
 * answers in time, for example because the extension is not installed.
 *
 * @example
 * ```ts
 * const subagents = await connect(pi.events, { timeoutMs: 5_000 });
 * const { id } = await subagents.spawn({ type: "Explore", prompt: "Where is the parser?", description: "find parser" });
 * const outcome = await subagents.wait(id);
 * ```
 */
export async function connect(bus: Bus, options: ConnectOptions = {}): Promise<Subagents> {
	requireBus(bus);
	const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
	const server = await findServer(bus, { timeoutMs, signal });
	return createClient(bus, server, timeoutMs);
}

function findServer(bus: Bus, { timeoutMs = 0, signal }: AskOptions): Promise<ServerInfo> {
	return new Promise((resolve, reject) => {
		if (signal?.aborted) return reject(signal.reason);
		const over = new AbortController();
		const end = (settle: () => void) => {
			over.abort();
			clearTimeout(timer);
			stopListening();
			signal?.removeEventListener("abort", onAbort);
			settle();
		};
		const ping = () => {
			ask(bus, "ping", {}, { signal: over.signal }).then(
				(answer) => {
					const server = parseServerInfo(answer);
					if (server) end(() => resolve(server));
				},
				// A server that refuses a ping is not ready; the next ping or the timeout decides.
				(error: unknown) => !(over.signal.aborted || error instanceof RpcError) && end(() => reject(error)),
			);
		};
		const onAbort = () => end(() => reject(signal?.reason));
		const stopListening = listen(bus, lifecycleChannels.ready, ping);
		const timer = unrefTimeout(timeoutMs, () => {
			const message = `No sub-agent server answered on the bus within ${timeoutMs} ms. Is the extension installed, and loaded in this session?`;
			end(() => reject(new RpcError("timeout", message)));
		});
		signal?.addEventListener("abort", onAbort, { once: true });
		ping();
	});
}
