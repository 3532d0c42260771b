/**
 * What the schemas of a run's files are made of. They follow the shapes in `layout.ts` and allow unknown fields. Each is
 * built on first use: most sessions read no run at all, and building them would delay their start.
 */
import { type TProperties, type TSchema, Type } from "typebox";

export const text = Type.String();
export const maybeText = Type.Optional(text);
export const texts = Type.Array(text);
export const amount = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const maybeAmount = Type.Optional(amount);
export const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Milliseconds since the epoch, within the range of `Date`. */
export const time = Type.Number({ minimum: 0, maximum: 8.64e15 });
/** It becomes a directory name, so it must not lead elsewhere. */
export const id = Type.String({ pattern: "^[\\w-][\\w.-]{0,255}$" });
export const runNumber = Type.Integer({ minimum: 1, maximum: 1_000_000 });

export function oneOf<const T extends string>(...values: T[]) {
	return Type.Enum(values);
}

/** Fails to compile if a field of `Shape` has no schema. */
export function objectOf<Shape>() {
	return <const Fields extends TProperties & Record<keyof Shape & string, TSchema>>(fields: Fields) =>
		Type.Object(fields);
}

export const cutBy = oneOf("timeout", "budget");

export const aborter = oneOf("user", "parent", "turns", "timeout", "idle", "budget", "shutdown", "lost");
