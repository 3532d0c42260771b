/**
 * Combines the default texts with those of the user and compiles the templates, once per options object.
 * Settings are written by hand, so anything that is not a string is ignored.
 */
import { defaultNotices, defaultPhrases, type Notices, type Phrase } from "./phrases.ts";
import { compileTemplate, type Template } from "./template.ts";

/** Other texts, another language, another length. Reuse the object: its templates are compiled once. */
export interface DescribeOptions {
	/**
	 * Phrases by tool name that override the built-in ones; `*` is for every tool without its own phrases.
	 * A phrase may be partial.
	 */
	phrases?: Readonly<Record<string, Readonly<Partial<Phrase>>>>;
	/** Texts for what is not a tool, which override {@link defaultNotices}. */
	notices?: Readonly<Partial<Notices>>;
	/** The longest line, in UTF-16 units. Default: 400. */
	maxLength?: number;
}

/** The compiled texts of `describe`. */
export interface Wording {
	/** By tool name. A map, so that a tool called `constructor` is an ordinary key. */
	phrases: ReadonlyMap<string, PhraseChoices>;
	/** For tools that are not in `phrases`, and for results without a known call. */
	anyTool: PhraseChoices;
	/** For each notice the user's template, if any, then the default one. */
	notices: Readonly<Record<keyof Notices, readonly Template[]>>;
	maxLength: number;
}

/** Tried in order until one can be filled. The last needs only the tool's name. */
type PhraseChoices = readonly CompiledPhrase[];

type CompiledPhrase = Partial<Record<keyof Phrase, Template>>;

/** The texts for these options. The options are read once: to change them, pass a new object. */
export function wordingFor(options: DescribeOptions | undefined): Wording {
	if (!options) {
		defaultWording ??= compileWording({});
		return defaultWording;
	}
	const known = KNOWN.get(options);
	if (known) return known;
	const wording = compileWording(options);
	KNOWN.set(options, wording);
	return wording;
}

/** Made with the first event: many who load this describe none. */
let defaultWording: Wording | undefined;

const DEFAULT_MAX_LENGTH = 400;
const KNOWN = new WeakMap<DescribeOptions, Wording>();
const ANY_TOOL = "*";
const PHRASE_KEYS: readonly (keyof Phrase)[] = ["call", "done", "failed"];
// Marked as pure, so that bundlers can drop it when `describe` is not used.
const NOTICE_KEYS = /* @__PURE__ */ Object.keys(defaultNotices) as (keyof Notices)[];

function compileWording({ phrases, notices, maxLength }: DescribeOptions): Wording {
	const merged = new Map<string, CompiledPhrase>();
	for (const [tool, phrase] of Object.entries(defaultPhrases)) merged.set(tool, compile(phrase, PHRASE_KEYS));
	const builtInAny = merged.get(ANY_TOOL) ?? {};
	for (const [tool, phrase] of Object.entries(phrases ?? {})) {
		merged.set(tool, { ...merged.get(tool), ...compile(phrase, PHRASE_KEYS) });
	}
	const anyTool = [merged.get(ANY_TOOL) ?? {}, builtInAny];
	merged.delete(ANY_TOOL); // a tool really called that is an unknown tool
	return {
		phrases: new Map(Array.from(merged, ([tool, phrase]) => [tool, [phrase, ...anyTool]])),
		anyTool,
		notices: compileNotices(notices ?? {}),
		maxLength: typeof maxLength === "number" && maxLength >= 1 ? maxLength : DEFAULT_MAX_LENGTH,
	};
}

function compileNotices(own: Readonly<Partial<Notices>>): Wording["notices"] {
	const compiled = compile(own, NOTICE_KEYS);
	const fallback = compile(defaultNotices, NOTICE_KEYS) as Record<keyof Notices, Template>;
	const choices = {} as Record<keyof Notices, readonly Template[]>;
	for (const key of NOTICE_KEYS) choices[key] = [compiled[key] ?? fallback[key], fallback[key]];
	return choices;
}

/** Only the given keys, and only strings. */
function compile<Key extends string>(
	texts: Readonly<Partial<Record<Key, string>>> | undefined,
	keys: readonly Key[],
): Partial<Record<Key, Template>> {
	const compiled: Partial<Record<Key, Template>> = {};
	for (const key of keys) {
		const text: unknown = texts?.[key];
		if (typeof text === "string") compiled[key] = compileTemplate(text);
	}
	return compiled;
}
