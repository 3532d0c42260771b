/** Names given by people and models: one normal form, and no invisible characters. Pure. */
import { AgentError, type AgentErrorCode, quoted } from "./error.ts";

/** The form in which a name is stored and shown: the same letters are the same code points. */
export function normalName(name: string): string {
	return name.trim().normalize("NFC");
}

/**
 * Two names are the same when their keys are equal.
 *
 * @example
 * ```ts
 * const named = records.find(({ name }) => nameKey(name) === nameKey(wanted));
 * ```
 */
export function nameKey(name: string): string {
	return normalName(name).replaceAll("\ufe0f", "").toLowerCase(); // only selects how an emoji looks
}

/** The first invisible character in a name, as errors spell it: `U+200B`. */
function invisibleIn(name: string): string | undefined {
	const [found] = INVISIBLE.exec(name.replace(EMOJI, "")) ?? [];
	return found === undefined ? undefined : codePointOf(found);
}

/** A name in its normal form. Throws if it has invisible characters: it would look like another name. */
export function visibleName(name: string, what: string, code: AgentErrorCode = "bad_request"): string {
	const normal = normalName(name);
	const invisible = invisibleIn(normal);
	if (invisible === undefined) return normal;
	throw new AgentError(
		code,
		`The ${what} ${quoted(normal)} contains an invisible character, ${invisible}. Leave it out.`,
	);
}

/** Zero-width and direction characters, soft hyphens, fillers, variation selectors and tags among them. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** Emoji sequences, where such characters are legitimate. */
const EMOJI =
	/\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?(?:\u200d\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)*/gu;

function codePointOf(character: string): string {
	return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
