/**
 * Which call of the journal a call of the script is. By its path, whatever finished first; and if the script has changed,
 * by what it asks for, wherever that was asked before. Each recorded call is taken once.
 */
import type { CallState } from "../journal/state.ts";

export interface Match {
	/** The recorded call, perhaps with its answer, perhaps with the agent that worked on it. */
	call?: CallState;
	/** Where it was recorded, if elsewhere. */
	movedFrom?: string;
	/** What the journal holds here instead. */
	expected?: CallState;
}

export class Replay {
	readonly #byPath: ReadonlyMap<string, CallState>;
	readonly #byHash: Map<string, CallState[]>;
	readonly #taken = new Set<string>();

	/** `recorded` is what earlier runs left; what this one adds is not replayed. */
	constructor(recorded: Iterable<CallState>) {
		const calls = [...recorded].map((call) => ({ ...call }));
		this.#byPath = new Map(calls.map((call) => [call.path, call]));
		this.#byHash = Map.groupBy(calls, ({ hash }) => hash);
	}

	take(path: string, hash: string): Match {
		const here = this.#byPath.get(path);
		if (here?.hash === hash && !this.#taken.has(path)) {
			this.#taken.add(path);
			return { call: here };
		}
		const expected = here && here.hash !== hash ? { expected: here } : {};
		const elsewhere = this.#elsewhere(hash);
		return elsewhere ? { call: elsewhere, movedFrom: elsewhere.path, ...expected } : expected;
	}

	/** Answers that the script did not ask for again. */
	unused(): CallState[] {
		return [...this.#byPath.values()].filter(({ path, answer }) => answer && !this.#taken.has(path));
	}

	/** Those in front are taken for good: a list is walked once in all. */
	#elsewhere(hash: string): CallState | undefined {
		const calls = this.#byHash.get(hash) ?? [];
		while (calls[0] && this.#taken.has(calls[0].path)) calls.shift();
		const found = calls.find((call) => !this.#taken.has(call.path));
		if (found) this.#taken.add(found.path);
		return found;
	}
}
