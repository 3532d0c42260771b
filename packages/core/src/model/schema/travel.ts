/**
 * Marks each field of a spec with what happens to it on the way to another machine. A field without a mark does not
 * compile, so nothing that a later version adds travels by itself (decision 32).
 */
import type { TProperties, TSchema } from "typebox";

/** How a field goes to another machine. */
export type Travel =
	/** As it is. */
	| { how: "travels" }
	/** With the paths of this machine replaced by the agent's directory there. */
	| { how: "moved" }
	/** Not at all. */
	| { how: "stays"; why: string };

/** The schema of a field that says how it goes. */
export type Marked<Schema extends TSchema> = Schema & { readonly travel: Travel };

export function travels<Schema extends TSchema>(schema: Schema): Marked<Schema> {
	return marked(schema, { how: "travels" });
}

export function moved<Schema extends TSchema>(schema: Schema): Marked<Schema> {
	return marked(schema, { how: "moved" });
}

export function stays<Schema extends TSchema>(why: string, schema: Schema): Marked<Schema> {
	return marked(schema, { how: "stays", why });
}

/** Fields that are all marked. */
export function markedFields<Fields extends TProperties & Record<string, { readonly travel: Travel }>>(
	fields: Fields,
): Fields {
	return fields;
}

export function travelOf(schema: object): Travel | undefined {
	return (schema as Partial<Marked<TSchema>>).travel;
}

/** A copy: kinds such as `text` are shared by many fields. Descriptors, because typebox hides what makes a field optional. */
function marked<Schema extends TSchema>(schema: Schema, travel: Travel): Marked<Schema> {
	const copy = Object.create(Object.getPrototypeOf(schema), Object.getOwnPropertyDescriptors(schema));
	return Object.defineProperty(copy, "travel", { value: travel });
}
