/**
 * What several settings files say about one preset, as one: the later of the user's own files wins field by field, and a
 * project's files may narrow what the user set, never widen it. Pure.
 */

import { fields, type Joining } from "../fields/fields.ts";
import type { PresetFields } from "../model/preset.ts";

/** What one settings file says about a preset. */
export interface OverrideSource {
	readonly fields: PresetFields;
	/** It is a project's file, so its author is not the user. */
	readonly isProjects: boolean;
}

export interface JoinedOverride {
	readonly fields: PresetFields;
	/** The names of the fields of which the project's value would have allowed more. */
	readonly held: readonly string[];
}

/**
 * Joins overrides, the weakest first. `preset` is the preset if it is the user's own file: what it limits, a project's
 * settings do not widen either.
 *
 * @example
 * const user = { fields: { tools: ["read"] }, isProjects: false };
 * const project = { fields: { tools: ["read", "bash"], color: "red" }, isProjects: true };
 * joinOverrides([user, project]).fields; // { tools: ["read"], color: "red" }
 */
export function joinOverrides(sources: readonly OverrideSource[], preset: PresetFields = {}): JoinedOverride {
	const said = (isProjects: boolean) =>
		Object.assign({}, ...sources.filter((source) => source.isProjects === isProjects).map((source) => source.fields));
	const users: Values = said(false);
	const projects: Values = said(true);
	const limits: Values = { ...preset, ...users };
	const held: string[] = [];
	const joined = { ...users, ...projects };
	for (const { key, name, joins } of fields) {
		const [own, asked] = [limits[key], projects[key]];
		if (joins === undefined || own === undefined || asked === undefined) continue;
		joined[key] = narrower(joins, own, asked);
		if (JSON.stringify(joined[key]) !== JSON.stringify(asked)) held.push(name);
	}
	return { fields: joined as PresetFields, held };
}

type Values = Record<string, unknown>;

function narrower(rule: Joining, own: unknown, asked: unknown): unknown {
	switch (rule) {
		case "users":
			return own;
		case "smaller":
			return own === 0 || asked === 0 ? Math.max(Number(own), Number(asked)) : Math.min(Number(own), Number(asked));
		case "both":
			return own === true && asked === true;
		case "either":
			return typeof own === "boolean" ? own || asked === true : [...new Set([...listOf(own), ...listOf(asked)])];
		case "common":
			return common(own, asked);
	}
}

/** `"*"` and `true` are everything, `false` is nothing. Of `ext:a` and `ext:a/tool` the latter is common to both. */
function common(own: unknown, asked: unknown): unknown {
	if (own === "*" || own === true) return asked;
	if (asked === "*" || asked === true) return own;
	if (own === false || asked === false) return false;
	const [mine, theirs] = [listOf(own), listOf(asked)];
	const within = (some: readonly string[], all: readonly string[]) =>
		some.filter((entry) => all.some((other) => covers(other, entry)));
	return [...new Set([...within(theirs, mine), ...within(mine, theirs)])];
}

function covers(wide: string, entry: string): boolean {
	const [a, b] = [wide.toLowerCase(), entry.toLowerCase()];
	return a === "*" || a === b || (/^(?:ext|mcp):/.test(a) && b.startsWith(`${a}/`));
}

function listOf(value: unknown): readonly string[] {
	return Array.isArray(value) ? value : [];
}
