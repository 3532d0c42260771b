/** Messages to a child besides its prompts: delivered immediately if it is running, else as soon as it is. */
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import type { Clock } from "@pi-subagents/core";

export class Mailbox {
	readonly #clock: Clock;
	/** Not delivered yet. */
	readonly #waiting: string[] = [];
	/** Delivered. */
	readonly #told: string[] = [];

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	say(session: AgentSession | undefined, text: string): void {
		if (session?.isStreaming) this.#steer(session, text);
		else this.#waiting.push(text);
	}

	/** The child is running now. */
	deliver(session: AgentSession): void {
		for (const text of this.#waiting.splice(0)) this.#steer(session, text);
	}

	/** A message to a child that has just finished is its next prompt. */
	takeNext(): string | undefined {
		const text = this.#waiting.shift();
		if (text !== undefined) this.#told.push(text);
		return text;
	}

	/** The conversation was rewound; all messages will be delivered again. */
	restart(): void {
		this.#waiting.unshift(...this.#told.splice(0));
	}

	/** Queued immediately, unlike with `session.steer`, so that pi finds it after this turn. */
	#steer(session: AgentSession, text: string): void {
		this.#told.push(text);
		session.agent.steer({ role: "user", content: [{ type: "text", text }], timestamp: this.#clock.now() });
	}
}
