/** What the log of a run says so far, for whoever has to tell how it ended. Pure: it reads no file. */
import type { ChildEvent, Outcome, Usage } from "@pi-subagents/progress";
import { LastWords } from "../last-words.ts";
import { abortedOutcome } from "../outcome.ts";
import { type RunIdentity, runIdOf, type Stop } from "../runner.ts";
import { addUsage, NO_USAGE } from "../usage.ts";
import { identityIn } from "./identity.ts";
import type { EventLine, ProcessIdentity, ResultFile } from "./layout.ts";

export class Account {
	/** pi itself, as soon as it was started. */
	child: ProcessIdentity | undefined;
	#startedAt: number | undefined;
	readonly #words = new LastWords();
	#model: string | undefined;
	#isIdle = false;
	#turns = 0;
	#toolUses = 0;
	#usage: Usage = NO_USAGE;

	add(line: EventLine): void {
		this.#startedAt ??= line.at;
		switch (line.type) {
			case "child_started":
				this.child = identityIn(line);
				return;
			case "question":
			case "question_over":
			case "checkpoint":
			case "granted":
			case "notice":
				return;
			default:
				this.#observe(line);
		}
	}

	/** The last thing the child said that was not blank. */
	get said(): string | undefined {
		return this.#words.said;
	}

	/** How a run ended that nobody can tell any more. A child that had nothing left to do had given its answer. */
	judge(reason: string): Outcome {
		return this.#isIdle ? this.#words.outcome() : abortedOutcome({ by: "lost", reason }, this.said);
	}

	stopped(stop: Stop): Outcome {
		return abortedOutcome(stop, this.said);
	}

	result(identity: RunIdentity, outcome: Outcome, now: number): ResultFile {
		const text = outcome.status === "completed" ? outcome.text : outcome.partialText;
		const { last } = this.#words;
		return {
			format: 1,
			runId: runIdOf(identity),
			agentId: identity.agentId,
			run: identity.run,
			writtenBy: "watcher",
			outcome,
			...(text === undefined ? {} : { finalText: text }),
			...(last?.stopReason === undefined ? {} : { stopReason: last.stopReason }),
			...(this.#model === undefined ? {} : { resolvedModel: this.#model }),
			startedAt: this.#startedAt ?? now,
			completedAt: now,
			turns: this.#turns,
			toolUses: this.#toolUses,
			usage: this.#usage,
		};
	}

	#observe(event: ChildEvent): void {
		this.#isIdle = event.type === "idle";
		this.#words.hear(event);
		if (event.type === "turn") this.#turns++;
		if (event.type === "tool_call") this.#toolUses++;
		if (event.type === "usage") this.#usage = addUsage(this.#usage, event.usage);
		if (event.type === "assistant_text") this.#model = event.model ?? this.#model;
	}
}
