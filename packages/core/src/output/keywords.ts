/**
 * What the keywords of a JSON Schema (2020-12 and draft-07) must look like: the validator accepts anything, and a
 * schema with a typo would accept any answer. The published meta-schemas would say the same in nine vendored files, but
 * their refusals name branches of `anyOf` and `$dynamicRef` instead of what to write. Pure.
 */
import { quoted } from "../base/error.ts";
import { isObject } from "../base/values.ts";

/** A schema and where it is in the root schema. */
export interface SchemaNode {
	schema: Record<string, unknown>;
	/** A JSON Pointer. */
	path: string;
}

/** What is wrong, and where. */
export class SchemaFault extends Error {
	readonly path: string;

	constructor(path: string, message: string) {
		super(message);
		this.path = path;
	}
}

type Kind =
	| "schema"
	| "schemas"
	| "schema or schemas"
	| "map of schemas"
	| "map of schemas or names"
	| "map of names"
	| "names"
	| "number"
	| "positive number"
	| "count"
	| "boolean"
	| "string"
	| "pattern"
	| "list"
	| "type";

/** The validator ignores unknown keywords, as the standard demands. */
const KINDS = new Map<string, Kind>(
	(
		[
			[
				"schema",
				"additionalItems additionalProperties contains contentSchema else if not propertyNames then unevaluatedItems unevaluatedProperties",
			],
			["schemas", "allOf anyOf oneOf prefixItems"],
			["schema or schemas", "items"],
			["map of schemas", "$defs definitions dependentSchemas patternProperties properties"],
			["map of schemas or names", "dependencies"],
			["map of names", "dependentRequired"],
			["names", "required"],
			["number", "exclusiveMaximum exclusiveMinimum maximum minimum"],
			["positive number", "multipleOf"],
			["count", "maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties"],
			["boolean", "uniqueItems"],
			["string", "$anchor $dynamicAnchor $dynamicRef $id $ref $schema format"],
			["pattern", "pattern"],
			["list", "enum"],
			["type", "type"],
		] as const
	).flatMap(([kind, words]) => words.split(" ").map((word): [string, Kind] => [word, kind])),
);

const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];

/** Throws a `SchemaFault` for the first bad keyword. Returns the direct subschemas. */
export function checkKeywords({ schema, path }: SchemaNode): SchemaNode[] {
	const inside: SchemaNode[] = [];
	for (const [word, value] of Object.entries(schema)) {
		const kind = KINDS.get(word);
		if (kind === undefined) continue;
		const at = `${path}/${pointerPart(word)}`;
		if (kind === "type") checkType(value, at);
		else if (kind === "pattern") checkPattern(value, at);
		else if (kind.includes("schema")) inside.push(...schemasIn(word, kind, value, at));
		else if (!isOfKind(kind, value)) throw new SchemaFault(at, `must be ${kindText(kind)}`);
	}
	return inside;
}

function pointerPart(word: string): string {
	return word.replaceAll("~", "~0").replaceAll("/", "~1");
}

function schemasIn(word: string, kind: Kind, value: unknown, at: string): SchemaNode[] {
	if (kind === "schema" || (kind === "schema or schemas" && !Array.isArray(value))) return schemaAt(value, at);
	if (kind === "schemas" || kind === "schema or schemas") {
		if (!Array.isArray(value) || (value.length === 0 && kind === "schemas"))
			throw new SchemaFault(at, "must be a list of schemas, with at least one");
		return value.flatMap((each, index) => schemaAt(each, `${at}/${index}`));
	}
	if (!isObject(value)) throw new SchemaFault(at, "must be an object of schemas");
	return Object.entries(value).flatMap(([name, each]) => {
		const where = `${at}/${pointerPart(name)}`;
		if (word === "patternProperties") checkPattern(name, where);
		return kind === "map of schemas or names" && isNames(each) ? [] : schemaAt(each, where);
	});
}

function schemaAt(value: unknown, path: string): SchemaNode[] {
	if (typeof value === "boolean") return [];
	if (!isObject(value)) throw new SchemaFault(path, "must be a schema: an object, true or false");
	return [{ schema: value, path }];
}

function isOfKind(kind: Kind, value: unknown): boolean {
	switch (kind) {
		case "number":
			return typeof value === "number";
		case "positive number":
			return typeof value === "number" && value > 0;
		case "count":
			return Number.isInteger(value) && Number(value) >= 0;
		case "names":
			return isNames(value);
		case "map of names":
			return isObject(value) && Object.values(value).every(isNames);
		case "list":
			return Array.isArray(value);
		default:
			return typeof value === kind;
	}
}

function kindText(kind: Kind): string {
	if (kind === "count") return "a whole number that is not negative";
	if (kind === "names") return "a list of names";
	if (kind === "map of names") return "an object of lists of names";
	return `a ${kind}`;
}

function isNames(value: unknown): boolean {
	return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function checkType(value: unknown, at: string): void {
	const types: unknown[] = Array.isArray(value) ? value : [value];
	const wrong = types.find((each) => typeof each !== "string" || !TYPES.includes(each));
	if (types.length > 0 && wrong === undefined) return;
	const given = typeof wrong === "string" ? `${quoted(wrong)} is no type; ` : "";
	throw new SchemaFault(at, `${given}must be one of ${TYPES.join(", ")}, or a list of them`);
}

/** The validator compiles patterns the same way. */
function checkPattern(value: unknown, at: string): void {
	if (typeof value !== "string") throw new SchemaFault(at, "must be a string");
	try {
		new RegExp(value, "u");
	} catch (error) {
		const why = error instanceof Error ? error.message.slice(error.message.lastIndexOf(": ") + 2) : "";
		throw new SchemaFault(at, `${quoted(value)} is no regular expression: ${why}`);
	}
}
