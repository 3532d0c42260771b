/** The calls that the script waits for, and what goes back for each: its answer, null, or an error. */
import { messageOf } from "@pi-subagents/core/internal/base";
import type { Answer } from "../journal/events.ts";
import type { OnError } from "../script/meta.ts";
import type { CheckedScript } from "../script/script.ts";
import type { ScriptCall, ScriptFailure } from "../thread/messages.ts";
import type { Asked } from "./answers.ts";
import type { ScriptThread } from "./thread.ts";

/** When an answer came, and what all agents had used by then. */
export interface Moment {
	at: number;
	spent: number;
}

/** Moves neither the clock nor what was used: nothing about an error is in the journal. */
const NO_MOMENT: Moment = { at: 0, spent: 0 };

export class Replies {
	readonly #thread: ScriptThread;
	readonly #onError: OnError;
	readonly #open = new Map<number, { call: ScriptCall; asked?: Asked }>();
	/** What a called workflow does with failures, by the beginning of its paths. */
	readonly #nested = new Map<string, OnError>();

	/** `onError` is what the script does with failures where a call does not say. */
	constructor(thread: ScriptThread, onError: OnError) {
		this.#thread = thread;
		this.#onError = onError;
	}

	get areAllGiven(): boolean {
		return this.#open.size === 0;
	}

	/** A call was made; what it asks for is known once its options have been checked. */
	expect(call: ScriptCall, asked?: Asked): void {
		this.#open.set(call.id, { call, ...(asked ? { asked } : {}) });
	}

	waiting(id: number): ScriptCall | undefined {
		return this.#open.get(id)?.call;
	}

	answer(call: ScriptCall, answer: Answer, moment: Moment): void {
		const { id } = call;
		const isNull = !answer.ok && this.#isNull(call, answer.status);
		this.#open.delete(id);
		if (answer.ok || isNull) {
			const value = answer.ok ? JSON.stringify(answer.value) : "null";
			this.#thread.post({ type: "answer", id, ...moment, value });
			return;
		}
		const error = { name: "AgentFailed", message: answer.error };
		this.#thread.post({ type: "error", id, ...moment, error, outcome: JSON.stringify(answer) });
	}

	#isNull({ id, kind, path }: ScriptCall, status: string): boolean {
		if (kind === "ask" || status === "skipped") return true;
		const nested = [...this.#nested].find(([beginning]) => path.startsWith(beginning))?.[1];
		return (this.#open.get(id)?.asked?.agent?.onError ?? nested ?? this.#onError) === "null";
	}

	/** What can never run is the script's mistake, and ends it. */
	mistake(call: ScriptCall, error: unknown): void {
		this.refuse(call, { name: "Error", message: messageOf(error), isFatal: true });
	}

	refuse({ id }: ScriptCall, error: ScriptFailure): void {
		this.#open.delete(id);
		this.#thread.post({ type: "error", id, error, ...NO_MOMENT });
	}

	/** The called workflow runs in the thread; its end comes from there. */
	runNested({ id, path }: ScriptCall, { program, meta }: CheckedScript, args: unknown): void {
		this.#nested.set(`${path}:/`, meta.onError);
		this.#thread.post({ type: "run", id, program, args: JSON.stringify(args ?? null) });
	}
}
