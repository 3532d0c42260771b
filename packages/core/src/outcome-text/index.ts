export { type AgentDetails, cachedPercentOf, detailsOf, durationOf } from "./details.ts";
export { forPeople, reportFor } from "./for-model.ts";
export {
	attemptsText,
	complaints,
	proseIn,
	type StructuredDetails,
	structuredDetails,
	structuredElement,
} from "./structured.ts";
export { filledFrom, lostText, resultFileOf, wholeOutcome } from "./whole-outcome.ts";
export { statText, worktreeLabel, worktreeLines, worktreeProblems } from "./worktree-text.ts";
