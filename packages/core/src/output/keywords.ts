/**
 * What the words of a JSON Schema must be, in draft 2020-12 and draft-07: the validator takes whatever it is given, and a
 * schema with a slip in it would accept any answer. Pure.
 */
import { quoted } from "../error.ts";

/** A schema with its place in the whole. */
export interface Place {
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

/** Words that are not here mean nothing to the validator, as the standard wants it. */
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

/** Throws a `SchemaFault` for the first word that is wrong. Returns the schemas directly inside. */
export function checkKeywords({ schema, path }: Place): Place[] {
	const inside: Place[] = [];
	for (const [word, value] of Object.entries(schema)) {
		const kind = KINDS.get(word);
		if (kind === undefined) continue;
		const at = `${path}/${pointerPart(word)}`;
		if (kind === "type") checkType(value, at);
		else if (kind === "pattern") checkPattern(value, at);
		else if (kind.includes("schema")) inside.push(...schemasIn(word, kind, value, at));
		else if (!isOfKind(kind, value)) throw new SchemaFault(at, `must be ${inWords(kind)}`);
	}
	return inside;
}

function pointerPart(word: string): string {
	return word.replaceAll("~", "~0").replaceAll("/", "~1");
}

export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function schemasIn(word: string, kind: Kind, value: unknown, at: string): Place[] {
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

function schemaAt(value: unknown, path: string): Place[] {
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

function inWords(kind: Kind): string {
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

/** The validator reads patterns in this way, too. */
function checkPattern(value: unknown, at: string): void {
	if (typeof value !== "string") throw new SchemaFault(at, "must be a string");
	try {
		new RegExp(value, "u");
	} catch (error) {
		const why = error instanceof Error ? error.message.slice(error.message.lastIndexOf(": ") + 2) : "";
		throw new SchemaFault(at, `${quoted(value)} is no regular expression: ${why}`);
	}
}
