/** What a child last said, as needed to judge how its run ended. Pure. */
import { type AssistantText, type ChildEvent, MAX_LINE_BYTES, type Outcome } from "@pi-subagents/progress";
import { outcomeOf } from "./outcome.ts";

export class FinalMessage {
	/** Its last message. */
	last: AssistantText | undefined;
	/** Its last non-blank text. */
	said: string | undefined;
	/** Whether all tools of its last message say that no answer needs to follow. */
	#isHandedIn = false;
	#hasResult = false;
	/** The part of the message that is being written. */
	#writing = "";

	/** Its last text with the part of the message it is writing: for a run that ends mid-message. */
	get partial(): string | undefined {
		const writing = this.#writing.trim();
		if (writing === "") return this.said;
		return this.said === undefined ? writing : `${this.said.trim()}\n\n${writing}`;
	}

	/** Extends the message that is being written, up to the length of any complete message. */
	write(delta: string): void {
		if (this.#writing.length < MAX_LINE_BYTES) this.#writing += delta;
	}

	hear(event: ChildEvent): void {
		if (event.type === "assistant_text") {
			this.last = event;
			this.#writing = "";
			this.#hasResult = false;
			this.#isHandedIn = false;
			if (event.text.trim() !== "") this.said = event.text;
		} else if (event.type === "tool_result") {
			this.#isHandedIn = event.terminates === true && (this.#isHandedIn || !this.#hasResult);
			this.#hasResult = true;
		}
	}

	/** A run that ended with such a tool succeeded if the child said something with it. */
	outcome(): Outcome {
		const { last, said } = this;
		return outcomeOf(last && this.#isHandedIn ? { ...last, stopReason: "stop" } : last, said);
	}
}
