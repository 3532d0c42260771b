/** How a project's settings join the user's own: a project may ask for less than the user set, never for more. Pure. */
import { isObject } from "@pi-subagents/core/internal/base";
import type { Limit } from "./schema/kinds.ts";
import { choicesOf, isGroup, partOf, type Shape } from "./shape.ts";

export interface Joined {
	values: unknown;
	/** The keys for which the project would have allowed more than the user does. */
	held: Held[];
}

interface Held {
	at: readonly string[];
	/** What counts there. */
	counts: unknown;
}

/**
 * What the project's values become beside the user's. Keys that only one of them sets stay as they are: a default is not
 * the user's limit.
 */
export function joinLayers(shape: Shape, users: unknown, projects: unknown, at: readonly string[] = []): Joined {
	if (!isObject(users) || !isObject(projects)) return { values: projects, held: [] };
	const held: Held[] = [];
	const entries = Object.entries(projects).map(([key, asked]): [string, unknown] => {
		const part = partOf(shape, key);
		const own = Object.hasOwn(users, key) ? users[key] : undefined;
		if (!part || own === undefined) return [key, asked];
		const here = [...at, key];
		if (isGroup(part) && part.properties) {
			const inner = joinLayers(part, own, asked, here);
			held.push(...inner.held);
			return [key, inner.values];
		}
		const counts = narrower(part, own, asked);
		if (!isSame(counts, asked)) held.push({ at: here, counts });
		return [key, counts];
	});
	return { values: Object.fromEntries(entries), held };
}

/** What counts where the user says `own` and the project `asked`. */
function narrower(shape: Shape, own: unknown, asked: unknown): unknown {
	const rule: Limit = shape.limit ?? "none";
	switch (rule) {
		case "none":
		case "fields": // both are kept, and joined when a preset is looked up
		case "users": // such keys of a project were left out before
			return asked;
		case "first":
			return own;
		case "smaller":
			return smaller(own, asked);
		case "least":
			return Math.min(Number(own), Number(asked));
		case "both":
			return own === true && asked === true;
		case "common":
			return common(own, asked);
		case "either":
			return [...new Set([...listOf(own), ...listOf(asked)])];
		case "stricter":
			return stricter(shape, own, asked);
	}
}

/** 0 is no limit. One number for all and numbers by name cannot be joined in either form: then the user's counts. */
function smaller(own: unknown, asked: unknown): unknown {
	if (typeof own === "number" && typeof asked === "number")
		return own === 0 || asked === 0 ? Math.max(own, asked) : Math.min(own, asked);
	if (!isObject(own) || !isObject(asked)) return isUnlimited(own) ? asked : own;
	const names = new Set([...Object.keys(own), ...Object.keys(asked)]);
	const of = (limits: Record<string, unknown>, name: string) => (Object.hasOwn(limits, name) ? limits[name] : 0);
	return Object.fromEntries([...names].map((name) => [name, smaller(of(own, name), of(asked, name))]));
}

function isUnlimited(limit: unknown): boolean {
	return limit === 0 || (isObject(limit) && Object.values(limit).every((each) => each === 0));
}

/** `true` stands for everything, `false` for nothing. */
function common(own: unknown, asked: unknown): unknown {
	if (own === true) return asked;
	if (asked === true) return own;
	if (own === false || asked === false) return false;
	const allowed = listOf(own);
	return listOf(asked).filter((each) => allowed.includes(each));
}

function stricter(shape: Shape, own: unknown, asked: unknown): unknown {
	const order = choicesOf(shape).map((choice) => choice.const);
	return order.indexOf(own) > order.indexOf(asked) ? own : asked;
}

function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

function isSame(a: unknown, b: unknown): boolean {
	return JSON.stringify(a) === JSON.stringify(b);
}
