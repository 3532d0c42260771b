/**
 * What the user can set, as one schema that gives types, defaults and checks. Pure.
 * A bad value falls back alone, and its problem says which file, which key, what was there and what was expected.
 */
import { messageOf } from "@pi-subagents/core";
import { type Static, type TSchema, Type } from "typebox";
import { Check } from "typebox/value";

const count = (options: { default: number; description: string }) =>
	Type.Integer({ minimum: 0, maximum: 100_000, ...options });

const countOrCounts = (description: string) =>
	Type.Union([Type.Integer({ minimum: 0 }), Type.Record(Type.String(), Type.Integer({ minimum: 0 }))], {
		default: 0,
		description,
	});

const settingsSchema = {
	maxConcurrent: count({ default: 8, description: "How many agents may run at once; 0 is no limit." }),
	maxPerProvider: countOrCounts("The same for each provider, or for those named."),
	maxPerModel: countOrCounts("The same for each model, or for those named as provider/id."),
	whenFull: Type.Union([Type.Literal("queue"), Type.Literal("refuse")], {
		default: "queue",
		description: "What happens to a launch when that many run.",
	}),
	defaultMaxTurns: count({
		default: 0,
		description: "After so many turns an agent is asked to finish; 0 is no limit.",
	}),
	graceTurns: count({ default: 5, description: "How many turns it then has left." }),
	idleTimeoutMinutes: Type.Number({
		minimum: 0,
		default: 0,
		description: "An agent in which nothing happens for so long is stopped; 0 is no limit.",
	}),
	builtins: Type.Boolean({ default: true, description: "Whether the built-in presets exist." }),
	imports: Type.Array(Type.Union([Type.Literal("claude"), Type.Literal("opencode")]), {
		default: [],
		description: "Other tools whose agent files are used as presets.",
	}),
	projectPresets: Type.Union([Type.Literal("allow"), Type.Literal("trusted"), Type.Literal("off")], {
		default: "allow",
		description: "Whether presets of the project are used: always, only in projects you have trusted, or never.",
	}),
	scopeModels: Type.Union([Type.Literal("off"), Type.Literal("warn"), Type.Literal("deny")], {
		default: "off",
		description: "What happens when a model outside pi's enabled models is asked for.",
	}),
	defaultModel: Type.String({ default: "", description: "The model of presets that name none; empty: the session's." }),
	agentOverrides: Type.Record(Type.String(), Type.Unknown(), {
		default: {},
		description: "Fields that replace those of the preset of this name.",
	}),
};

type Key = keyof typeof settingsSchema;

export type Settings = { readonly [K in Key]: Static<(typeof settingsSchema)[K]> };

export interface SettingsFile {
	path: string;
	text: string;
}

/** Later files win, key by key. */
export function readSettings(files: readonly SettingsFile[]): { settings: Settings; problems: string[] } {
	const problems: string[] = [];
	const values: Record<string, unknown> = {};
	for (const { path, text } of files) {
		const parsed = parseObject(text);
		if (typeof parsed === "string") problems.push(`${path}: ${parsed}`);
		else for (const key of keys) take(key, parsed, path, values, problems);
	}
	const defaults = Object.fromEntries(keys.map((key) => [key, (settingsSchema[key] as { default?: unknown }).default]));
	return { settings: { ...defaults, ...values } as Settings, problems };
}

const keys = Object.keys(settingsSchema) as Key[];

function take(key: Key, from: object, path: string, values: Record<string, unknown>, problems: string[]): void {
	if (!Object.hasOwn(from, key)) return;
	const value: unknown = (from as Record<string, unknown>)[key];
	const schema: TSchema = settingsSchema[key];
	if (Check(schema, value)) values[key] = value;
	else
		problems.push(
			`${path}: "${key}" is ${JSON.stringify(value).slice(0, 80)}, expected ${expected(schema)}; the default is used`,
		);
}

function parseObject(text: string): object | string {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? value : "not a JSON object; ignored";
	} catch (error) {
		return `not valid JSON (${messageOf(error)}); ignored`;
	}
}

/** In words, from the schema itself. */
function expected(schema: { type?: string; anyOf?: { const?: unknown; type?: string }[]; items?: object }): string {
	if (schema.anyOf?.every((option) => option.const !== undefined)) {
		return `one of ${schema.anyOf.map((option) => JSON.stringify(option.const)).join(", ")}`;
	}
	if (schema.anyOf) return schema.anyOf.map(expected).join(" or ");
	if (schema.type === "array") return `a list of ${expected(schema.items ?? {})}`;
	return WORDS[schema.type ?? ""] ?? "an object";
}

const WORDS: Record<string, string> = {
	boolean: "true or false",
	string: "a text",
	integer: "a whole number from 0 on",
	number: "a number from 0 on",
};
