/** Parses and checks an output schema. Pure. */
import { sanitize } from "@pi-subagents/progress";
import { AgentError, clip } from "../base/error.ts";
import { isObject } from "../base/values.ts";
import type { OutputSpec } from "../model/schema/spec.ts";
import { checkKeywords, SchemaFault, type SchemaNode } from "./keywords.ts";
import { type Located, References } from "./references.ts";

type Schema = OutputSpec["schema"];

/** It is part of the prompt. */
const MAX_CHARACTERS = 50_000;
const MAX_DEPTH = 60;
const MAX_MESSAGE = 2_000;
const MAX_VALUES = 20_000;
/** References can chain all of them, one stack frame each. */
const MAX_SCHEMAS = 1_000;

/**
 * A JSON Schema (2020-12 or draft-07) as an object or as JSON text. Undefined for nothing, a blank string or an empty
 * object: free text. Throws an `AgentError` for anything else: the validator itself would take it and then accept any
 * answer, or none.
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
		if (typesIn(schema).size === 0) throw new SchemaFault("", "no value can match it: its parts exclude each other");
		return schema;
	} catch (error) {
		if (!(error instanceof SchemaFault)) throw error;
		throw badSchema(`${name} is not a usable JSON Schema. At ${error.path || "its root"}: ${error.message}.`);
	}
}

/**
 * Whether no object can match it. Such an answer, a list or a text, is given as the `value` of an object, since an
 * answer is always the last JSON object of a message.
 */
export function isWrapped(schema: Schema): boolean {
	try {
		refuseHuge(schema);
		return !typesIn(schema).has("object");
	} catch (error) {
		if (error instanceof SchemaFault) return false; // from a file that was changed: the check of the answer reports it
		throw error;
	}
}

function parse(text: string, name: string): unknown {
	if (text.trim() === "") return undefined;
	if (text.length > MAX_CHARACTERS) throw badSchema(`${name} is ${TOO_LONG}.`);
	try {
		return JSON.parse(text);
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
		throw badSchema(`${name} is a string that is not valid JSON: ${error.message}. Give the schema as an object.`);
	}
}

/** A copy, as it would be after being stored as JSON. */
function plain(value: Record<string, unknown>): Record<string, unknown> {
	refuseHuge(value);
	const text = JSON.stringify(value, (_key, each) => {
		if (typeof each === "bigint") throw new SchemaFault("", "it contains values that JSON cannot express");
		return each;
	});
	if (text.length > MAX_CHARACTERS) throw new SchemaFault("", `it is ${TOO_LONG}`);
	return JSON.parse(text);
}

/** First, since everything else walks through it. Objects that contain themselves count as too deep. */
function refuseHuge(root: unknown): void {
	let values = 0;
	const visit = (value: unknown, depth: number): void => {
		if (typeof value !== "object" || value === null) return;
		if (depth > MAX_DEPTH) throw new SchemaFault("", `it is nested deeper than ${MAX_DEPTH} levels`);
		if (++values > MAX_VALUES) throw new SchemaFault("", `it is ${TOO_LONG}`);
		for (const each of Object.values(value)) visit(each, depth + 1);
	};
	visit(root, 0);
}

/** The types of the values that can match it. Throws a `SchemaFault` for a schema that cannot be used. */
function typesIn(root: Record<string, unknown>): Types {
	const nodes = nodesIn(root);
	if (nodes.length > MAX_SCHEMAS) throw new SchemaFault("", `it has more than ${MAX_SCHEMAS} parts; ask for less`);
	const references = new References();
	for (const node of nodes) references.add(node);
	for (const node of nodes) references.check(node);
	refuseCircles(nodes, references);
	return typesOf(root, references, new Map());
}

/** All schemas in it, parents before children. */
function nodesIn(root: Record<string, unknown>): Located[] {
	const nodes: Located[] = [];
	const visit = (node: SchemaNode, outer?: string): void => {
		const base = References.baseOf(node, outer);
		nodes.push({ ...node, base });
		for (const inside of checkKeywords(node)) visit(inside, base);
	};
	visit({ schema: root, path: "" });
	return nodes;
}

/** Subschemas that apply to the same value. */
function inPlace(schema: Record<string, unknown>, references: References): Record<string, unknown>[] {
	const lists = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((each) => (Array.isArray(each) ? each : []));
	return [...references.of(schema), ...lists, schema.not, schema.if, schema.then, schema.else].filter(isObject);
}

/** Validating against a schema that refers to itself without descending into the value would never end. */
function refuseCircles(nodes: readonly SchemaNode[], references: References): void {
	const done = new Set<Record<string, unknown>>();
	const open = new Set<Record<string, unknown>>();
	const visit = (schema: Record<string, unknown>, path: string): void => {
		if (done.has(schema)) return;
		if (open.has(schema)) throw new SchemaFault(path, "it refers to itself endlessly");
		open.add(schema);
		for (const each of inPlace(schema, references)) visit(each, path);
		open.delete(schema);
		done.add(schema);
	};
	for (const { schema, path } of nodes) visit(schema, path);
}

type Types = ReadonlySet<string>;

const ALL_TYPES: Types = new Set(["object", "array", "string", "number", "boolean", "null"]);
const NO_TYPES: Types = new Set();

/** `known` caches results: references may lead to the same schema in exponentially many ways. */
function typesOf(schema: unknown, references: References, known: Map<unknown, Types>): Types {
	if (!isObject(schema)) return schema === false ? NO_TYPES : ALL_TYPES;
	const before = known.get(schema);
	if (before) return before;
	const of = (each: unknown) => typesOf(each, references, known);
	const { type, enum: values, allOf, anyOf, oneOf } = schema;
	const all = [...references.of(schema), ...(Array.isArray(allOf) ? allOf : [])];
	const choices = [anyOf, oneOf].filter(Array.isArray);
	const limits: Types[] = [
		type === undefined
			? ALL_TYPES
			: new Set([type].flat().map((each) => (each === "integer" ? "number" : String(each)))),
		Array.isArray(values) ? new Set(values.map(typeOf)) : ALL_TYPES,
		"const" in schema ? new Set([typeOf(schema.const)]) : ALL_TYPES,
		...all.map(of),
		...choices.map((each) => new Set(each.flatMap((one) => [...of(one)]))),
	];
	const types = new Set([...ALL_TYPES].filter((each) => limits.every((some) => some.has(each))));
	known.set(schema, types);
	return types;
}

/** Of a JSON value. */
function typeOf(value: unknown): string {
	if (value === null) return "null";
	return Array.isArray(value) ? "array" : typeof value;
}

const TOO_LONG = `longer than ${MAX_CHARACTERS} characters; ask for less`;

function nameOf(value: unknown): string {
	return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

function badSchema(message: string): AgentError {
	return new AgentError("bad_schema", clip(sanitize(message), MAX_MESSAGE)); // it contains keys from an untrusted schema
}
