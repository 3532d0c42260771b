/** What a child last said, as far as it takes to judge how its run ended. Pure. */
import type { AssistantText, ChildEvent, Outcome } from "@pi-subagents/progress";
import { outcomeOf } from "./outcome.ts";

export class LastWords {
	/** Its last message. */
	last: AssistantText | undefined;
	/** The last thing it said that was not blank. */
	said: string | undefined;
	/** Whether all tools of its last message say that nothing needs to be said after them. */
	#isHandedIn = false;
	#hasResult = false;

	hear(event: ChildEvent): void {
		if (event.type === "assistant_text") {
			this.last = event;
			this.#hasResult = false;
			this.#isHandedIn = false;
			if (event.text.trim() !== "") this.said = event.text;
		} else if (event.type === "tool_result") {
			this.#isHandedIn = event.terminates === true && (this.#isHandedIn || !this.#hasResult);
			this.#hasResult = true;
		}
	}

	/** A run that ended with such a tool ended as it should, if the child said something with it. */
	outcome(): Outcome {
		const { last, said } = this;
		return outcomeOf(last && this.#isHandedIn ? { ...last, stopReason: "stop" } : last, said);
	}
}
