export { type AgentDetails, cachedPercentOf, type DetailFacts, detailsOf, durationOf } from "./details.ts";
export { factsIn, factsOf } from "./facts.ts";
export { leftForModel, leftText, outcomeForModel, outcomesForModel, type SettledRun } from "./for-model.ts";
export { outcomeForPeople, type PeopleText, pausedText } from "./for-people.ts";
export { mergeCommand } from "./merge-command.ts";
export { type MarkedText, type Said, type SaidPart, saidIn, saidOf } from "./said.ts";
export {
	attemptsText,
	complaints,
	lostText,
	proseIn,
	type StructuredDetails,
	type StructuredElement,
	structuredDetails,
	structuredElement,
} from "./structured.ts";
export { statText, worktreeLabel, worktreeLines, worktreeProblems } from "./worktree-text.ts";
