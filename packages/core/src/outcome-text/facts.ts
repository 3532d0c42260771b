/** How a run ended, as data that is small enough to be kept beside a result or a message: without what was said. */
import { checkOutput, type Outcome, type OutcomeFacts } from "@pi-subagents/progress";
import { outcomeFactsSchema } from "@pi-subagents/progress/schema";
import { Check } from "typebox/value";
import { clip } from "../base/error.ts";
import { defined } from "../base/values.ts";

/** No sentence shows more of an error or a reason. */
const MAX_CAUSE = 1_000;
const MAX_PROBLEMS = 20;

export function factsOf(outcome: Outcome): OutcomeFacts {
	const worktree = outcome.worktree && {
		...outcome.worktree,
		...defined({ problems: outcome.worktree.problems?.slice(0, MAX_PROBLEMS).map((each) => clip(each, MAX_CAUSE)) }),
	};
	switch (outcome.status) {
		case "completed": {
			const { status, wrappedUp, by, verification } = outcome;
			return { status, ...defined({ wrappedUp, by, verification, worktree }) };
		}
		case "failed": {
			const { status, error, claimedBy } = outcome;
			const tail = checkOutput(outcome) || undefined;
			const verification = outcome.verification && { ...outcome.verification, ...defined({ tail }) };
			return { status, error: clip(error, MAX_CAUSE), ...defined({ claimedBy, verification, worktree }) };
		}
		case "aborted": {
			const { status, by, reason, claimedBy } = outcome;
			const short = reason === undefined ? undefined : clip(reason, MAX_CAUSE);
			return { status, by, ...defined({ reason: short, claimedBy, worktree }) };
		}
	}
}

/** From a session file, which may be old, edited, or of a newer version: undefined if it cannot be read. */
export function factsIn(value: unknown): OutcomeFacts | undefined {
	return Check(outcomeFactsSchema(), value) ? (value as OutcomeFacts) : undefined;
}
