/** What a child is told beside what it is asked: at once where it can hear it, else as soon as it can. */
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import type { Clock } from "../clock.ts";

export class Mailbox {
	readonly #clock: Clock;
	/** What came before the child could hear it. */
	readonly #waiting: string[] = [];
	/** What it has heard. */
	readonly #told: string[] = [];

	constructor(clock: Clock) {
		this.#clock = clock;
	}

	say(session: AgentSession | undefined, text: string): void {
		if (session?.isStreaming) this.#tell(session, text);
		else this.#waiting.push(text);
	}

	/** The child can hear now. */
	deliver(session: AgentSession): void {
		for (const text of this.#waiting.splice(0)) this.#tell(session, text);
	}

	/** What comes when the child has just finished is one more thing to do. */
	takeNext(): string | undefined {
		const text = this.#waiting.shift();
		if (text !== undefined) this.#told.push(text);
		return text;
	}

	/** The child has forgotten all that it heard; it will hear it again. */
	beginAnew(): void {
		this.#waiting.unshift(...this.#told.splice(0));
	}

	/** Queued at once, unlike with `session.steer`, so that it is there when pi looks for messages after this turn. */
	#tell(session: AgentSession, text: string): void {
		this.#told.push(text);
		session.agent.steer({ role: "user", content: [{ type: "text", text }], timestamp: this.#clock.now() });
	}
}
