/** From what somebody gave as an output schema to one that answers can be checked with. Pure. */
import { AgentError } from "../error.ts";
import type { OutputSpec } from "../runner.ts";
import { checkKeywords, isObject, type Place, SchemaFault } from "./keywords.ts";
import { type Located, References } from "./references.ts";

type Schema = OutputSpec["schema"];

/** It stands in the prompt. Whoever needs more wants a file, not an answer. */
const MOST_CHARACTERS = 50_000;
const MOST_DEPTH = 60;
const MOST_VALUES = 20_000;
/** References can chain all of them, and each is a step deeper for who follows them. */
const MOST_SCHEMAS = 1_000;

/**
 * A JSON Schema (draft 2020-12 or draft-07) as an object or as JSON. Undefined for what means free text: nothing, a blank
 * string, an empty object. Throws an `AgentError` for everything that cannot be one: the validator itself would take it
 * and then accept any answer, or none.
 *
 * @example
 * ```ts
 * parseOutputSchema('{"type": "object", "required": ["files"]}'); // { type: "object", required: ["files"] }
 * parseOutputSchema({ type: "strin" }); // throws: /type: "strin" is no type; must be one of …
 * ```
 */
export function parseOutputSchema(given: unknown, name = "output_schema"): Schema | undefined {
	const value = typeof given === "string" ? parse(given, name) : given;
	if (value === undefined || value === null) return undefined;
	if (!isObject(value))
		throw badSchema(`${name} must be a JSON Schema as an object or as JSON text, not ${nameOf(value)}.`);
	if (Object.keys(value).length === 0) return undefined;
	try {
		const schema = plain(value);
		check(schema);
		return schema;
	} catch (error) {
		if (!(error instanceof SchemaFault)) throw error;
		throw badSchema(`${name} is not a usable JSON Schema. At ${error.path || "its root"}: ${error.message}.`);
	}
}

function parse(text: string, name: string): unknown {
	if (text.trim() === "") return undefined;
	if (text.length > MOST_CHARACTERS) throw badSchema(`${name} is ${TOO_LONG}.`);
	try {
		return JSON.parse(text);
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
		throw badSchema(`${name} is a string that is not valid JSON: ${error.message}. Give the schema as an object.`);
	}
}

/** As it would be after a way through a file, and no longer in the hands of whoever gave it. */
function plain(value: Record<string, unknown>): Record<string, unknown> {
	refuseHuge(value);
	const text = JSON.stringify(value, (_key, each) => {
		if (typeof each === "bigint") throw new SchemaFault("", "it holds what JSON cannot say");
		return each;
	});
	if (text.length > MOST_CHARACTERS) throw new SchemaFault("", `it is ${TOO_LONG}`);
	return JSON.parse(text);
}

/** First of all, since everything else walks through it. Objects that contain themselves are too deep. */
function refuseHuge(root: unknown): void {
	let values = 0;
	const visit = (value: unknown, depth: number): void => {
		if (typeof value !== "object" || value === null) return;
		if (depth > MOST_DEPTH) throw new SchemaFault("", `it is nested deeper than ${MOST_DEPTH} levels`);
		if (++values > MOST_VALUES) throw new SchemaFault("", `it is ${TOO_LONG}`);
		for (const each of Object.values(value)) visit(each, depth + 1);
	};
	visit(root, 0);
}

function check(root: Record<string, unknown>): void {
	const places = placesIn(root);
	if (places.length > MOST_SCHEMAS) throw new SchemaFault("", `it has more than ${MOST_SCHEMAS} parts; ask for less`);
	const references = new References();
	for (const place of places) references.add(place);
	for (const place of places) references.check(place);
	refuseCircles(places, references);
	if (!canBeObject(root, references, new Map()))
		throw new SchemaFault(
			"",
			'no object can match it, and an answer is always a JSON object; put what you want into a property of { "type": "object" }',
		);
}

/** All schemas in it, each after the one that it is in. */
function placesIn(root: Record<string, unknown>): Located[] {
	const places: Located[] = [];
	const visit = (place: Place, outer?: string): void => {
		const base = References.baseOf(place, outer);
		places.push({ ...place, base });
		for (const inside of checkKeywords(place)) visit(inside, base);
	};
	visit({ schema: root, path: "" });
	return places;
}

/** What applies to the same value as the schema that it stands in. */
function inPlace(schema: Record<string, unknown>, references: References): Record<string, unknown>[] {
	const lists = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((each) => (Array.isArray(each) ? each : []));
	return [...references.of(schema), ...lists, schema.not, schema.if, schema.then, schema.else].filter(isObject);
}

/** To check a value against a schema that leads back to itself without looking into the value would never end. */
function refuseCircles(places: readonly Place[], references: References): void {
	const done = new Set<Record<string, unknown>>();
	const open = new Set<Record<string, unknown>>();
	const visit = (schema: Record<string, unknown>, path: string): void => {
		if (done.has(schema)) return;
		if (open.has(schema)) throw new SchemaFault(path, "it refers to itself without end");
		open.add(schema);
		for (const each of inPlace(schema, references)) visit(each, path);
		open.delete(schema);
		done.add(schema);
	};
	for (const { schema, path } of places) visit(schema, path);
}

/** `known` keeps what was found: references may lead to the same schema in more ways than can be walked. */
function canBeObject(schema: unknown, references: References, known: Map<unknown, boolean>): boolean {
	if (!isObject(schema)) return schema !== false;
	const before = known.get(schema);
	if (before !== undefined) return before;
	const can = (each: unknown) => canBeObject(each, references, known);
	const { type, enum: values, allOf, anyOf, oneOf } = schema;
	const all = [...references.of(schema), ...(Array.isArray(allOf) ? allOf : [])];
	const choices = [anyOf, oneOf].filter(Array.isArray);
	const answer =
		(type === undefined || [type].flat().includes("object")) &&
		(!Array.isArray(values) || values.some(isObject)) &&
		(!("const" in schema) || isObject(schema.const)) &&
		all.every(can) &&
		choices.every((each) => each.some(can));
	known.set(schema, answer);
	return answer;
}

const TOO_LONG = `longer than ${MOST_CHARACTERS} characters; ask for less`;

function nameOf(value: unknown): string {
	return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

function badSchema(message: string): AgentError {
	return new AgentError("bad_schema", message);
}
