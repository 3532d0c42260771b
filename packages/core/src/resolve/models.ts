/**
 * Finds the available model for a name written by a person, a file or a model, as pi's `--model` does: an exact name
 * wins; else the newest model that matches the words, the session's provider first. Pure.
 */

import type { ThinkingLevel } from "@pi-subagents/progress";
import { isThinkingLevel } from "@pi-subagents/progress";
import { AgentError, quoted } from "../base/error.ts";
import { nameKey, visibleName } from "../base/names.ts";
import { defined } from "../base/values.ts";

/** An available model. */
export interface ModelFact {
	provider: string;
	/** May hold slashes. */
	id: string;
	/** What people call it: `Claude Sonnet 4.5`. */
	name?: string;
	/** Whether the user's list of enabled models contains it. Absent without such a list. */
	inScope?: boolean;
}

export interface ModelMatch {
	model: ModelFact;
	/** From a name like `provider/id:high`. */
	thinking?: ThinkingLevel;
}

const MAX_CANDIDATES = 12;

/** `preferProvider` is the session's: its models come first. */
export function matchModel(wanted: string, models: readonly ModelFact[], preferProvider?: string): ModelMatch {
	const { name, thinking } = splitThinking(visibleName(wanted, "model", "unknown_model"), models);
	const found = candidates(name, models, preferProvider);
	if (found.length === 1 && found[0]) return { model: found[0], ...defined({ thinking }) };
	throw new AgentError(
		found.length === 0 ? "unknown_model" : "ambiguous_model",
		found.length === 0
			? `No available model matches ${quoted(wanted)}. ${listed("Available", models)}`
			: `${quoted(wanted)} could be ${found.length} models; give the full name. ${listed("Candidates", found)}`,
	);
}

/**
 * The nearest model for a name written for other providers or older versions: without the provider, then by its tier.
 * `claude-3-5-sonnet-20241022` finds the newest Sonnet.
 */
export function nearestModel(
	wanted: string,
	models: readonly ModelFact[],
	preferProvider?: string,
): ModelMatch | undefined {
	const { name, thinking } = splitThinking(wanted.trim(), models);
	const id = name.slice(name.lastIndexOf("/") + 1);
	const tier = tokensOf(id).find((token) => typeof token === "string" && TIERS.has(token));
	for (const each of [id, ...(typeof tier === "string" ? [tier] : [])]) {
		const [model, ...others] = candidates(each, models, preferProvider);
		if (model && others.length === 0) return { model, ...defined({ thinking }) };
	}
	return undefined;
}

/** Words that name a kind of model across its versions. */
const TIERS = new Set(["sonnet", "opus", "haiku"]);

/** The usual `provider/id`. */
export function modelName({ provider, id }: Pick<ModelFact, "provider" | "id">): string {
	return `${provider}/${id}`;
}

/** The parts of such a name. An id may contain slashes; a name without one has no provider. */
export function splitModelName(name: string): Pick<ModelFact, "provider" | "id"> {
	const slash = name.indexOf("/");
	return { provider: name.slice(0, Math.max(0, slash)), id: name.slice(slash + 1) };
}

/** A suffix counts only if the whole is not a model: some ids end in `:something`. */
function splitThinking(wanted: string, models: readonly ModelFact[]): { name: string; thinking?: ThinkingLevel } {
	const colon = wanted.lastIndexOf(":");
	const suffix = wanted.slice(colon + 1).toLowerCase();
	if (colon < 0 || !isThinkingLevel(suffix) || exact(wanted, models).length > 0) return { name: wanted };
	return { name: wanted.slice(0, colon), thinking: suffix };
}

/** One, none, or several that only the caller can choose between. */
function candidates(name: string, models: readonly ModelFact[], preferProvider: string | undefined): ModelFact[] {
	const same = exact(name, models);
	const own = same.filter(({ provider }) => provider === preferProvider);
	// The same id at several providers: pi does not choose either.
	if (same.length > 0) return own.length > 0 ? own : same;
	const { provider, id } = splitModelName(name);
	if (id.trim() === "") return []; // a provider is not a model
	const ofProvider = models.filter((model) => model.provider.toLowerCase() === provider.toLowerCase());
	return (
		(provider === "" ? undefined : best(id, ofProvider, preferProvider)) ?? best(name, models, preferProvider) ?? []
	);
}

function exact(name: string, models: readonly ModelFact[]): ModelFact[] {
	const wanted = nameKey(name);
	const full = models.filter((model) => nameKey(modelName(model)) === wanted);
	return full.length > 0 ? full.slice(0, 1) : models.filter(({ id }) => nameKey(id) === wanted);
}

/** How well a model fits; lower is better, compared in order. */
type Fit = readonly number[];

/** The best match. */
function best(name: string, models: readonly ModelFact[], preferProvider: string | undefined): ModelFact[] | undefined {
	const wanted = tokensOf(name);
	if (wanted.length === 0) return undefined;
	const words = wanted.filter((token) => typeof token === "string");
	let chosen: { model: ModelFact; fit: Fit } | undefined;
	for (const model of models) {
		const text = `${modelName(model)} ${model.name ?? ""}`.toLowerCase();
		if (!words.every((word) => text.includes(word))) continue; // a cheap check first: there may be many
		const fit = fitOf(wanted, model, preferProvider);
		const difference = fit && chosen ? compare(fit, chosen.fit) || chosen.model.id.localeCompare(model.id) : -1;
		if (fit && difference < 0) chosen = { model, fit };
	}
	return chosen && [chosen.model];
}

function fitOf(wanted: readonly Token[], model: ModelFact, preferProvider: string | undefined): Fit | undefined {
	const id = model.id.toLowerCase();
	const provider = tokensOf(model.provider).map(String);
	const isOnlyProvider = wanted.every((token) => provider.includes(String(token))); // that would match all its models
	const full = isOnlyProvider ? [] : [modelName(model)];
	const spellings = [id, id.slice(id.lastIndexOf("/") + 1), model.name ?? "", ...full];
	const [rest] = spellings
		.flatMap((spelling) => {
			const tokens = tokensOf(spelling);
			const rest = restOf(wanted, tokens);
			return rest ? [{ ...rest, tokens }] : [];
		})
		.sort((a, b) => a.loose - b.loose || a.words - b.words || a.versions - b.versions);
	if (!rest) return undefined;
	const isSame = rest.loose + rest.words + rest.versions === 0;
	const [major = 0, minor = 0] = rest.tokens.find((token) => typeof token !== "string") ?? [];
	const date = Number(DATE.exec(id)?.[0].replaceAll("-", "") ?? 0);
	return [
		isSame ? 0 : 1,
		model.provider === preferProvider ? 0 : 1,
		rest.loose,
		rest.words,
		-major,
		-minor,
		date === 0 ? 0 : 1, // undated names are kept up to date by providers
		-date,
	];
}

function compare(a: Fit, b: Fit): number {
	return a.map((figure, index) => figure - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

/** A word, or a version: `4-5`, `4.5` and `v4.5` are `[4, 5]`, so that the 5 of 3.5 never matches a 5. */
type Token = string | readonly number[];

const DATE = /20\d{2}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])(?!\d)/;

/** Words that say nothing about which model it is. */
const NOISE = new Set(["latest", "preview"]);

function tokensOf(name: string): Token[] {
	const tokens: Token[] = [];
	let version: number[] | undefined;
	for (const part of name
		.toLowerCase()
		.replace(DATE, " date ")
		.split(/[^a-z0-9]+/)) {
		const number = /^v?(\d{1,2})$/.exec(part)?.[1];
		if (number !== undefined && version && !part.startsWith("v")) version.push(Number(number));
		else if (number !== undefined) {
			version = [Number(number)];
			tokens.push(version);
		} else {
			version = undefined;
			if (part !== "" && part !== "date" && !NOISE.has(part)) tokens.push(part);
		}
	}
	return tokens.map((token) => (typeof token === "string" ? token : withoutZeros(token)));
}

/** Some write `4` as `4-0`. */
function withoutZeros(version: readonly number[]): readonly number[] {
	const [major = 0, ...others] = version;
	return others.some((number) => number !== 0) ? version : [major];
}

interface Rest {
	/** How many wanted words match only partially. */
	loose: number;
	/** How many words and versions the model's name has beyond those. */
	words: number;
	versions: number;
}

/** A region does not distinguish models. */
const REGIONS = new Set(["us", "eu", "apac", "jp", "au", "global"]);

/** What a model's name has beyond the wanted words; undefined if one is missing. */
function restOf(wanted: readonly Token[], has: readonly Token[]): Rest | undefined {
	const left = [...has];
	let loose = 0;
	for (const token of wanted) {
		const [equal = -1, part = -1] = [isEqual, isPart].map((fits) => left.findIndex((each) => fits(token, each)));
		if (part < 0 && equal < 0) return undefined;
		if (equal < 0) loose++;
		left.splice(equal < 0 ? part : equal, 1);
	}
	const words = left.filter((token) => typeof token === "string");
	return {
		loose,
		words: words.filter((word) => !REGIONS.has(word)).length,
		versions: left.length - words.length,
	};
}

function isEqual(wanted: Token, token: Token): boolean {
	return String(wanted) === String(token);
}

/** `4` is part of `4.5`, and `son` of `sonnet`. */
function isPart(wanted: Token, token: Token): boolean {
	if (typeof wanted === "string") return typeof token === "string" && wanted.length > 2 && token.includes(wanted);
	return typeof token !== "string" && wanted.every((number, index) => number === token[index]);
}

function listed(label: string, models: readonly ModelFact[]): string {
	if (models.length === 0) return `${label}: none.`;
	const names = models.slice(0, MAX_CANDIDATES).map(modelName).join(", ");
	const more = models.length - MAX_CANDIDATES;
	return `${label}: ${names}${more > 0 ? `, and ${more} more` : ""}.`;
}
