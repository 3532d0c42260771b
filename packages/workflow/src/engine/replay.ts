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
	/** Made when it is needed. */
	#byHash: Map<string, CallState[]> | undefined;
	readonly #taken = new Set<string>();
	#hasChanged: boolean;

	/** `recorded` is what earlier runs left; what this one adds is not replayed. */
	constructor(recorded: Iterable<CallState>, { hasChanged }: { hasChanged: boolean }) {
		this.#byPath = new Map(Array.from(recorded, (call) => [call.path, { ...call }]));
		this.#hasChanged = hasChanged;
	}

	take(path: string, hash: string): Match {
		const here = this.#byPath.get(path);
		if (here?.hash === hash && !this.#taken.has(path)) {
			this.#taken.add(path);
			return { call: here };
		}
		const expected = here && here.hash !== hash ? { expected: here } : {};
		if (expected.expected) this.#hasChanged = true;
		const elsewhere = this.#elsewhere(hash);
		return elsewhere ? { call: elsewhere, movedFrom: elsewhere.path, ...expected } : expected;
	}

	/** Only if the script is another one: a call that is new in the same script must not take the answer of a later one. */
	#elsewhere(hash: string): CallState | undefined {
		if (!this.#hasChanged) return undefined;
		this.#byHash ??= Map.groupBy(this.#byPath.values(), (call) => call.hash);
		const calls = this.#byHash.get(hash) ?? [];
		// Those in front are taken for good: a list is walked once in all.
		while (calls[0] && this.#taken.has(calls[0].path)) calls.shift();
		const found = calls[0];
		if (found) this.#taken.add(found.path);
		return found;
	}
}
