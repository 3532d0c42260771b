/**
 * From the name a person or a model wrote to one available model: exactly, else by its parts, else not at all.
 * Pure. Never guesses between two.
 */
import { AgentError, quoted } from "./error.ts";
import { isThinkingLevel, type ThinkingLevel } from "./runner.ts";

/** A model that can be used now. */
export interface ModelFact {
	provider: string;
	/** May hold slashes. */
	id: string;
	/** Whether the user's list of enabled models holds it. Absent where there is no such list. */
	inScope?: boolean;
}

export interface ModelMatch {
	model: ModelFact;
	/** From a name like `provider/id:high`. */
	thinking?: ThinkingLevel;
}

const MOST_CANDIDATES = 12;

/** `preferProvider` settles a tie between providers that offer the same model. */
export function matchModel(wanted: string, models: readonly ModelFact[], preferProvider?: string): ModelMatch {
	const { name, thinking } = splitThinking(wanted.trim(), models);
	const found = exact(name, models) ?? only(byParts(name, models), preferProvider);
	if (found.length === 1 && found[0]) return { model: found[0], ...(thinking === undefined ? {} : { thinking }) };
	throw new AgentError(
		found.length === 0 ? "unknown_model" : "ambiguous_model",
		found.length === 0
			? `No available model matches ${quoted(wanted)}. ${listed("Available", models)}`
			: `${quoted(wanted)} could be ${found.length} models; give the full name. ${listed("Candidates", found)}`,
	);
}

/** `provider/id`, as everybody writes it. */
export function modelName({ provider, id }: Pick<ModelFact, "provider" | "id">): string {
	return `${provider}/${id}`;
}

/** The parts of such a name. An id may hold further slashes; a name without any has no provider. */
export function splitModelName(name: string): Pick<ModelFact, "provider" | "id"> {
	const slash = name.indexOf("/");
	return { provider: name.slice(0, Math.max(0, slash)), id: name.slice(slash + 1) };
}

/** A suffix counts only when the whole is not itself a model: some ids end in `:something`. */
function splitThinking(wanted: string, models: readonly ModelFact[]): { name: string; thinking?: ThinkingLevel } {
	const colon = wanted.lastIndexOf(":");
	const suffix = wanted.slice(colon + 1).toLowerCase();
	if (colon < 0 || !isThinkingLevel(suffix) || exact(wanted, models)) return { name: wanted };
	return { name: wanted.slice(0, colon), thinking: suffix };
}

function exact(name: string, models: readonly ModelFact[]): ModelFact[] | undefined {
	const full = models.filter((model) => modelName(model).toLowerCase() === name.toLowerCase());
	if (full.length > 0) return full.slice(0, 1);
	const byId = models.filter((model) => model.id.toLowerCase() === name.toLowerCase());
	return byId.length === 1 ? byId : undefined;
}

/** Every word of the name occurs in the model's: `sonnet 4.5` finds `anthropic/claude-sonnet-4-5-20250929`. */
function byParts(name: string, models: readonly ModelFact[]): ModelFact[] {
	const wanted = words(name);
	if (wanted.length === 0) return [];
	const hits = models.filter((model) => {
		const has = words(modelName(model));
		return wanted.every((word) => has.some((part) => part === word || (word.length > 2 && part.includes(word))));
	});
	const sameWords = hits.filter((model) => words(model.id).join(" ") === wanted.join(" "));
	return sameWords.length > 0 ? sameWords : hits;
}

/** Separators are noise, and so is a trailing release date. */
function words(name: string): string[] {
	return name
		.toLowerCase()
		.split(/[^a-z0-9]+/)
		.filter((word) => word !== "" && !/^20\d{6}$/.test(word));
}

function only(hits: ModelFact[], preferProvider: string | undefined): ModelFact[] {
	const preferred = hits.filter((model) => model.provider === preferProvider);
	return preferred.length === 1 ? preferred : hits;
}

function listed(label: string, models: readonly ModelFact[]): string {
	if (models.length === 0) return `${label}: none.`;
	const names = models.slice(0, MOST_CANDIDATES).map(modelName).join(", ");
	const more = models.length - MOST_CANDIDATES;
	return `${label}: ${names}${more > 0 ? `, and ${more} more` : ""}.`;
}
