/**
 * Who is waited for. A server that can is asked; from one that only knows version 2 the events are heard, also those of
 * agents that nobody waits for yet. When a server says that it is ready it may be another one: then everybody is asked
 * about again.
 */
import { RpcError } from "./ask.ts";
import type { LifecycleEvent } from "./lifecycle.ts";
import type { Outcome } from "./outcome.ts";
import { settledIn } from "./status.ts";

export interface WaitsDeps {
	hear(event: LifecycleEvent, handler: (payload: never) => void): () => void;
	/** Whether the server can be asked to wait. */
	canAsk(): boolean;
	ask(id: string, signal: AbortSignal): Promise<unknown>;
	/** Finds out who answers now. */
	meet(): Promise<void>;
}

export interface Waits {
	wait(id: string, signal: AbortSignal | undefined): Promise<Outcome>;
	close(reason: unknown): void;
}

interface Wait {
	id: string;
	settle(outcome: Outcome): void;
	fail(error: unknown): void;
	/** Ends the question that is being asked for it. */
	asking?: AbortController;
}

/** Whoever is not waited for by then will not be. */
const MOST_REMEMBERED = 1_000;

export function createWaits({ hear, canAsk, ask, meet }: WaitsDeps): Waits {
	const open = new Set<Wait>();
	const settled = new Map<string, Outcome>();
	const listening: (() => void)[] = [];

	const begin = (wait: Wait) => {
		const known = settled.get(wait.id);
		if (!canAsk()) return known && wait.settle(known);
		wait.asking?.abort();
		const asking = new AbortController();
		wait.asking = asking;
		ask(wait.id, asking.signal)
			.then((answer) => wait.settle(outcomeIn(answer, wait.id)))
			.catch((error: unknown) => {
				if (asking.signal.aborted) return; // another question has taken its place, or nobody waits any more
				wait.fail(error instanceof RpcError ? refusal(wait.id, error) : error);
			});
	};
	const remember = (payload: unknown) => {
		const agent = settledIn(payload);
		if (!agent) return;
		const { id, outcome } = agent;
		settled.delete(id); // so that it counts as the latest
		settled.set(id, outcome);
		const [oldest] = settled.keys();
		if (settled.size > MOST_REMEMBERED && oldest !== undefined) settled.delete(oldest);
		for (const wait of open) if (wait.id === id) wait.settle(outcome);
	};
	const forget = (payload: unknown) => {
		const id = idIn(payload);
		if (id !== undefined) settled.delete(id); // it was resumed: how it ended before does not count any more
	};
	const listenAsNeeded = () => {
		if (canAsk()) for (const stop of listening.splice(0)) stop();
		else if (listening.length === 0)
			listening.push(hear("started", forget), hear("completed", remember), hear("failed", remember));
	};

	const stopHearing = hear("ready", async () => {
		const couldAsk = canAsk();
		const left = [...open];
		try {
			await meet();
			listenAsNeeded();
		} catch {
			return; // it went away again, or the bus did; the next one that is ready is asked
		}
		for (const wait of left.filter((each) => open.has(each))) {
			if (canAsk()) begin(wait);
			else if (!couldAsk)
				wait.settle(LOST); // its agents ended with the server before, and it tells of none of them
			else wait.fail(new RpcError("refused", `The server that ran agent ${wait.id} has been replaced.`));
		}
	});
	listenAsNeeded();

	return {
		wait: (id, signal) =>
			new Promise((resolve, reject) => {
				if (signal?.aborted) return reject(signal.reason);
				const end = () => {
					open.delete(wait);
					wait.asking?.abort();
					signal?.removeEventListener("abort", onAbort);
				};
				const onAbort = () => wait.fail(signal?.reason);
				const wait: Wait = {
					id,
					settle(outcome) {
						end();
						resolve(outcome);
					},
					fail(error) {
						end();
						reject(error);
					},
				};
				open.add(wait);
				signal?.addEventListener("abort", onAbort, { once: true });
				begin(wait);
			}),
		close(reason) {
			stopHearing();
			for (const wait of open) wait.fail(reason);
		},
	};
}

const LOST: Outcome = { status: "aborted", by: "lost", reason: "The server that ran it has been replaced." };

function refusal(id: string, { code, message }: RpcError): RpcError {
	return new RpcError(code, `Agent ${id} cannot be waited for: ${message}`);
}

/** How the agent ended, as a server answers it. */
export function outcomeIn(answer: unknown, id: string): Outcome {
	const settled = settledIn(answer);
	if (settled) return settled.outcome;
	throw new RpcError("refused", `The server's answer does not say how agent ${id} ended.`);
}

/** The bus is open to everybody, so this may be anything. */
function idIn(payload: unknown): string | undefined {
	try {
		const { id } = payload as { id?: unknown };
		return typeof id === "string" ? id : undefined;
	} catch {
		return undefined; // nothing that has fields, or they throw when one looks at them
	}
}
