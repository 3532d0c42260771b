/**
 * What the schemas of events, outcomes and runs are made of. A schema is built on first use: most processes check none,
 * and building them would delay every start. So each is a function, and its type is `Of<typeof thatFunction>`.
 */
import { type Static, type TSchema, Type } from "typebox";

/** The type of what a schema describes. */
export type Of<Schema extends () => TSchema> = Static<ReturnType<Schema>>;

/** Builds on the first call, and returns the same schema afterwards. */
export function schema<Built>(build: () => Built): () => Built {
	let built: { value: Built } | undefined;
	return () => {
		built ??= { value: build() };
		return built.value;
	};
}

export const text = Type.String();
export const maybeText = Type.Optional(text);
export const amount = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const maybeAmount = Type.Optional(amount);
export const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Milliseconds since the epoch, within the range of `Date`. */
export const time = Type.Number({ minimum: 0, maximum: 8.64e15 });
/** It becomes a directory name, so it must not lead elsewhere. */
export const id = Type.String({ pattern: "^[\\w-][\\w.-]{0,255}$" });
/** Counts from 1. */
export const runNumber = Type.Integer({ minimum: 1, maximum: 1_000_000 });
/** Something that is either said or not. */
export const maybeTrue = Type.Optional(Type.Literal(true));
export const maybeFlag = Type.Optional(Type.Boolean());

/** A list that its readers do not change. */
export function listOf<const Item extends TSchema>(item: Item) {
	return Type.Unsafe<readonly Static<Item>[]>(Type.Array(item));
}

export const texts = listOf(text);
export const maybeTexts = Type.Optional(texts);

/** A JSON object of any content. */
export const anyObject = Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Record(Type.String(), Type.Unknown()));

/** One value of a closed list. */
export function oneOf<const List extends readonly string[]>(list: List) {
	return Type.Unsafe<List[number]>(Type.Enum([...list]));
}
