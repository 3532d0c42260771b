/** The kinds of values that settings have, each with the words that a menu and the docs use for it. */
import { Type } from "typebox";

export type About<Value> = {
	/** What a menu calls it. */
	title: string;
	description: string;
	default: Value;
	/** Every setting says whether it limits agents: one that does must not be lost. */
	limit: Limit;
};

/**
 * How a project's value joins the user's own, for a setting that limits agents: a value of it that is not understood
 * refuses launches, and a project never widens what the user set. `none` limits nothing: there a bad value is dropped,
 * and a project's replaces the user's.
 */
export type Limit =
	| "none"
	/** The user's, if it is set. */
	| "first"
	/** The project's does not count. */
	| "users"
	/** The smaller; 0 is no limit. By name: each the smaller. */
	| "smaller"
	/** The smaller, also if that is 0. */
	| "least"
	/** On only if both say so. */
	| "both"
	/** What both name; `true` is everything, `false` nothing. */
	| "common"
	/** What either names. */
	| "either"
	/** The later in the list of choices. */
	| "stricter"
	/** Field by field, as the table of a preset's fields says. */
	| "fields";

/** Timers reach no further than this. */
export const MAX_DAYS = 24;

export const count = (about: About<number>) => Type.Integer({ minimum: 0, maximum: 100_000, ...about });

export const amount = (maximum: number, about: About<number>) => Type.Number({ minimum: 0, maximum, ...about });

export const countOrCounts = (about: About<number>) => {
	const one = Type.Integer({ minimum: 0, maximum: 100_000 });
	return Type.Union([one, Type.Record(Type.String(), one, { additionalProperties: false })], about);
};

export const yesOrNo = (about: About<boolean>) => Type.Boolean(about);

/** The values, each with what it means. */
export const choice = <Name extends string>(meanings: Record<Name, string>, about?: About<NoInfer<Name>>) =>
	Type.Unsafe<Name>(
		Type.Union(
			Object.entries<string>(meanings).map(([name, description]) => Type.Literal(name, { description })),
			about,
		),
	);

export const names = (about?: About<string[]>) =>
	Type.Array(Type.String({ maxLength: 200 }), { maxItems: 500, ...about });

export const severalOf = <Name extends string>(meanings: Record<Name, string>, about: About<NoInfer<Name>[]>) =>
	Type.Array(choice(meanings), about);
