/**
 * Waits for agents. A server that supports `wait` is asked; with one of version 2 we listen to the events, also of agents
 * that are not waited for yet. A server that announces itself may be a new one: then all open waits are asked again.
 */
import { RpcError } from "./ask.ts";
import type { LifecycleEvent } from "./lifecycle.ts";
import type { Outcome } from "./outcome.ts";
import { parseSettled } from "./status.ts";

export interface WaitsDeps {
	subscribe(event: LifecycleEvent, handler: (payload: never) => void): () => void;
	/** Whether the server supports `wait`. */
	canAsk(): boolean;
	ask(id: string, signal: AbortSignal): Promise<unknown>;
	/** Updates the server info. */
	refreshServer(): Promise<void>;
}

export interface Waits {
	wait(id: string, signal: AbortSignal | undefined): Promise<Outcome>;
	close(reason: unknown): void;
}

interface Wait {
	id: string;
	settle(outcome: Outcome): void;
	fail(error: unknown): void;
	/** Cancels the open request for it. */
	asking?: AbortController;
}

/** How many outcomes are kept for later waits. */
const MAX_REMEMBERED = 1_000;

export function createWaits({ subscribe, canAsk, ask, refreshServer }: WaitsDeps): Waits {
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
			.then((answer) => wait.settle(parseOutcome(answer, wait.id)))
			.catch((error: unknown) => {
				if (asking.signal.aborted) return; // replaced by another request, or the wait has ended
				wait.fail(error instanceof RpcError ? refusal(wait.id, error) : error);
			});
	};
	const remember = (payload: unknown) => {
		const agent = parseSettled(payload);
		if (!agent) return;
		const { id, outcome } = agent;
		settled.delete(id); // moves it to the end
		settled.set(id, outcome);
		const [oldest] = settled.keys();
		if (settled.size > MAX_REMEMBERED && oldest !== undefined) settled.delete(oldest);
		for (const wait of open) if (wait.id === id) wait.settle(outcome);
	};
	const forget = (payload: unknown) => {
		const id = parseId(payload);
		if (id !== undefined) settled.delete(id); // it was resumed, so its old outcome is obsolete
	};
	const updateListeners = () => {
		if (canAsk()) for (const stop of listening.splice(0)) stop();
		else if (listening.length === 0)
			listening.push(subscribe("started", forget), subscribe("completed", remember), subscribe("failed", remember));
	};

	const stopListening = subscribe("ready", async () => {
		const couldAsk = canAsk();
		const left = [...open];
		try {
			await refreshServer();
			updateListeners();
		} catch {
			return; // the server or the bus is gone; the next `ready` tries again
		}
		for (const wait of left.filter((each) => open.has(each))) {
			if (canAsk()) begin(wait);
			else if (!couldAsk)
				wait.settle(LOST); // its agents ended with the previous server, and no event will come
			else wait.fail(new RpcError("refused", `The server that ran agent ${wait.id} has been replaced.`));
		}
	});
	updateListeners();

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
			stopListening();
			for (const wait of open) wait.fail(reason);
		},
	};
}

const LOST: Outcome = { status: "aborted", by: "lost", reason: "The server that ran it has been replaced." };

function refusal(id: string, { code, message }: RpcError): RpcError {
	return new RpcError(code, `Agent ${id} cannot be waited for: ${message}`);
}

/** The outcome in a server's reply. */
export function parseOutcome(answer: unknown, id: string): Outcome {
	const settled = parseSettled(answer);
	if (settled) return settled.outcome;
	throw new RpcError("refused", `The server's answer does not contain the outcome of agent ${id}.`);
}

/** The agent id in an untrusted message. */
function parseId(payload: unknown): string | undefined {
	try {
		const { id } = payload as { id?: unknown };
		return typeof id === "string" ? id : undefined;
	} catch {
		return undefined; // not an object, or a getter threw
	}
}
