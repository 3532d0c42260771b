/** The schemas of events, outcomes and usage, for code that reads them from outside. Needs `typebox`. */
export { childEventSchemas, event } from "./events.ts";
export {
	anyObject,
	count,
	id,
	listOf,
	maybeAmount,
	maybeFlag,
	maybeText,
	maybeTexts,
	maybeTrue,
	type Of,
	oneOf,
	runNumber,
	schema,
	text,
	texts,
	time,
} from "./kinds.ts";
export {
	outcomeFactsSchema,
	outcomeSchema,
	structuredSchema,
	usageSchema,
	verificationSchema,
	worktreeReportSchema,
} from "./outcome.ts";
