/** From a word in a file to a field of the table, in any of its spellings. No plain-object lookups: words are hostile. */
import type { Field } from "./field.ts";
import { fields } from "./fields.ts";

const bySpelling = new Map<string, Field>();
for (const field of fields) for (const name of [field.name, ...field.aliases]) bySpelling.set(squash(name), field);

/**
 * The field that a frontmatter key means, in any of its spellings.
 *
 * @example
 * findField("maxTurns")?.name; // "max_turns"
 */
export function findField(spelling: string): Field | undefined {
	return spelling.length > 40 ? undefined : bySpelling.get(squash(spelling));
}

/** `maxTurns`, `max-turns` and `max_turns` are one word. */
export function squash(name: string): string {
	return name.replace(/[_-]/g, "").toLowerCase();
}

/** Words of other tools that have no meaning here, so that they are named as such and not as typos. */
export const foreignFields: ReadonlySet<string> = new Set(
	`acceptance acceptanceRole advertise aliases allowNestedSubagents async autoExit background canMessage completionGuard
	defaultContext defaultProgress defaultReads disable displayName hidden hooks inheritGlobalContext
	inheritProjectContext initialPrompt maxDepth maxSubagentDepth mcpServers mode mutationTools output outputTranscript
	package permission permissionMode persistSession runInBackground sessionDir skillPath subagentOnlyExtensions
	temperature topP`
		.split(/\s+/)
		.map(squash),
);
