/** Finds the field of a frontmatter key, in any spelling. No lookups in plain objects, because keys are untrusted. */
import { type Field, fields } from "./fields.ts";

const bySpelling = new Map<string, Field>();
for (const field of fields) for (const name of [field.name, ...field.aliases]) bySpelling.set(squash(name), field);

/**
 * The field of a frontmatter key, in any of its spellings.
 *
 * @example
 * findField("maxTurns")?.name; // "max_turns"
 */
export function findField(spelling: string): Field | undefined {
	return spelling.length > 40 ? undefined : bySpelling.get(squash(spelling));
}

/** Makes `maxTurns`, `max-turns` and `max_turns` equal. */
export function squash(name: string): string {
	return name.replace(/[_-]/g, "").toLowerCase();
}

/** Fields of other tools without meaning here that limit nothing, so that they are not reported as typos. */
export const foreignFields: ReadonlySet<string> = new Set(
	`acceptance acceptanceRole advertise aliases async author autoExit background canMessage capabilities category
	checkpointBeforeDeadlineMs completionGuard defaultProgress defaultReads displayName emoji hidden inheritGlobalContext
	inheritProjectContext initialPrompt metadata mode mutationTools options output outputTranscript package
	persistSession priority runInBackground sessionDir skillPath subagentOnlyExtensions tags temperature topP type version
	vibe`
		.split(/\s+/)
		.map(squash),
);

/** The unit of a number without one under this name, in milliseconds. */
export function bareUnitMs(key: string): number {
	return squash(key).endsWith("ms") ? 1 : 1000;
}
