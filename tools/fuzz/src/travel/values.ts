/** Values made from a schema, so that a field that is added to the definition of a run is covered without a change here. */
import fc from "fast-check";
import type { TSchema } from "typebox";

/** What this reads of a schema: typebox's are JSON Schemas. */
interface Shape {
	type?: string;
	const?: unknown;
	enum?: readonly unknown[];
	anyOf?: readonly Shape[];
	properties?: Readonly<Record<string, Shape>>;
	required?: readonly string[];
	items?: Shape;
	patternProperties?: Readonly<Record<string, Shape>>;
	minimum?: number;
	maximum?: number;
}

/** A field, by the names that lead to it. */
export interface Field {
	path: readonly string[];
	/** Its values, where it has more than one. */
	values: fc.Arbitrary<unknown>;
	isOptional: boolean;
}

const word = fc.stringMatching(/^[a-z]{9}$/);

/** A value with every field of the schema. */
export function samplesOf(schema: TSchema): fc.Arbitrary<unknown> {
	return arbitrary(schema as Shape);
}

/** Every field of the schema, also those of objects in it. One whose only value is known says nothing. */
export function fieldsOf(schema: TSchema, above: readonly string[] = []): Field[] {
	const { properties = {}, required = [] } = schema as Shape;
	return Object.entries(properties).flatMap(([name, shape]) => {
		const path = [...above, name];
		const isOptional = !required.includes(name);
		const inside = shape.properties ? fieldsOf(shape as TSchema, path) : [];
		if (shape.const !== undefined && !isOptional) return [];
		return [...(shape.properties && !isOptional ? [] : [{ path, values: arbitrary(shape), isOptional }]), ...inside];
	});
}

function arbitrary(shape: Shape): fc.Arbitrary<unknown> {
	if (shape.const !== undefined) return fc.constant(shape.const);
	if (shape.enum) return fc.constantFrom(...shape.enum);
	if (shape.anyOf) return fc.oneof(...shape.anyOf.map(arbitrary));
	switch (shape.type) {
		case "object": {
			const [keyed] = Object.values(shape.patternProperties ?? {});
			if (!shape.properties && keyed) return fc.dictionary(word, arbitrary(keyed), { minKeys: 1, maxKeys: 2 });
			const fields = Object.entries(shape.properties ?? {}).map(([name, each]) => [name, arbitrary(each)]);
			return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>);
		}
		case "array":
			return fc.array(arbitrary(shape.items ?? {}), { minLength: 1, maxLength: 3 });
		case "boolean":
			return fc.boolean();
		case "integer":
		case "number":
			return fc.integer({ min: Math.max(1, shape.minimum ?? 1), max: Math.min(100, shape.maximum ?? 100) });
		default:
			return word; // a text, or anything
	}
}

/** The value with the field changed: to another value, or, where there is none, without it. */
export function changed(value: object, { path, values, isOptional }: Field, seed: number): object | undefined {
	const before = JSON.stringify(at(value, path));
	const other = fc.sample(values, { numRuns: 50, seed }).find((each) => JSON.stringify(each) !== before);
	if (other === undefined && !isOptional) return undefined;
	return withValue(value, path, other);
}

function at(value: unknown, path: readonly string[]): unknown {
	return path.reduce((found, name) => (found as Record<string, unknown> | undefined)?.[name], value);
}

function withValue(value: object, [name = "", ...rest]: readonly string[], other: unknown): object {
	const { [name]: inner, ...others } = value as Record<string, unknown>;
	if (rest.length > 0) return { ...others, [name]: withValue((inner ?? {}) as object, rest, other) };
	return other === undefined ? others : { ...others, [name]: other };
}
