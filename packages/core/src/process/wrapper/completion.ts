/**
 * When a child is done. What it says decides, not whether its process ends: one that lingers after its answer must not
 * keep anybody waiting, and one that pauses before a retry must not be cut off. Knows no process.
 */
import type { AssistantText, ChildEvent } from "@pi-subagents/progress";
import type { Clock } from "../../clock.ts";

/** Something may still come right after what looks like the end. */
export const GRACE_MS = 250;

/** How long after its answer a pi that says when it is idle may take to say so: other extensions still do their work. */
export const PATIENCE_MS = 60_000;

export class Completion {
	readonly #clock: Pick<Clock, "after">;
	readonly #onDone: () => void;
	#state: "working" | "answered" | "idle" | "done" = "working";
	#isCompacting = false;
	#saysWhenIdle = false;
	#cancel = (): void => undefined;

	/** `onDone` is called once, unless the child is then given more to do. */
	constructor(clock: Pick<Clock, "after">, onDone: () => void) {
		this.#clock = clock;
		this.#onDone = onDone;
	}

	/** Whether there is an answer, should the child end now. */
	get hasAnswered(): boolean {
		return this.#state !== "working";
	}

	/** This pi says when it has nothing left to do, so an answer alone is no end yet. */
	expectIdle(): void {
		this.#saysWhenIdle = true;
	}

	hear(event: ChildEvent): void {
		switch (event.type) {
			case "usage":
			case "turn":
				break; // they follow every answer, also the last
			case "idle":
				this.#isCompacting = false;
				this.#enter("idle");
				break;
			case "assistant_text":
				this.#enter(isTerminal(event) ? "answered" : "working");
				break;
			case "compacting":
				this.#isCompacting = true;
				this.#cancel();
				break;
			case "compacted":
				this.#isCompacting = false;
				this.#enter(this.#state);
				break;
			case "retrying":
			case "falling_back":
			case "tool_call":
			case "tool_result":
				this.#enter("working");
		}
	}

	/** It goes on, though no event says so yet. */
	goOn(): void {
		this.#enter("working");
	}

	/** It is idle and has just said that nothing is under way: there is nothing to wait for. */
	confirm(): void {
		if (this.#state === "idle") this.#finish();
	}

	/** Whatever happens, nobody wants to know any more. */
	close(): void {
		this.#enter("done");
	}

	#enter(state: "working" | "answered" | "idle" | "done"): void {
		this.#cancel();
		this.#state = state;
		if (this.#isCompacting || state === "working" || state === "done") return;
		const ms = state === "answered" && this.#saysWhenIdle ? PATIENCE_MS : GRACE_MS;
		this.#cancel = this.#clock.after(ms, () => this.#finish());
	}

	#finish(): void {
		this.#enter("done");
		this.#onDone();
	}
}

function isTerminal({ stopReason }: AssistantText): boolean {
	return stopReason !== undefined && stopReason !== "toolUse";
}
