/** What people read about a settled run below its figures, made from the details of a result. Pure. */
import type { OutcomeFacts, Unstructured } from "@pi-subagents/progress";
import { complaints } from "./structured.ts";
import { worktreeLines, worktreeProblems } from "./worktree-text.ts";

export interface PeopleText {
	outcome: OutcomeFacts;
	/** How its answer fared against the output schema. */
	structured?: { ok: true } | Unstructured | undefined;
	/** What it said. */
	said: string;
}

/** An answer stands first; of a run that did not complete, what was wrong with it does. */
export function outcomeForPeople({ outcome, structured, said }: PeopleText): string {
	const { worktree } = outcome;
	const problems = worktreeProblems(worktree);
	const checkout = [...worktreeLines(worktree), ...(problems.length > 0 ? ["About its worktree:", ...problems] : [])];
	const wrong = outcome.status === "failed" ? complaints({ ...outcome, structured: unaccepted(structured) }) : [];
	const parts =
		outcome.status === "completed" ? [said, checkout.join("\n")] : [wrong.join("\n"), checkout.join("\n"), said];
	return parts
		.map((part) => part.trim())
		.filter((part) => part !== "")
		.join("\n\n");
}

function unaccepted(structured: PeopleText["structured"]): Unstructured | undefined {
	return structured?.ok === false ? structured : undefined;
}

/** Of a workflow that was interrupted. */
export function pausedText(id: string): string {
	return `/workflow resume ${id} continues it`;
}
