/** Walks the settings schema: what a key stands for, and what may be there, in words. Pure. */
import type { TSchema } from "typebox";
import type { Limit } from "./schema/kinds.ts";
import { settingsSchema } from "./schema.ts";

/** What is read of a schema here. */
export interface Shape {
	readonly type?: string;
	readonly title?: string;
	readonly description?: string;
	readonly default?: unknown;
	/** Whether it limits agents, and how a project's value joins the user's. Its parts inherit it. */
	readonly limit?: Limit;
	readonly const?: unknown;
	readonly minimum?: number;
	readonly maximum?: number;
	readonly maxLength?: number;
	readonly pattern?: string;
	readonly anyOf?: readonly Shape[];
	readonly items?: Shape;
	readonly required?: readonly string[];
	/** `false`: it counts as a whole or not at all, unlike a group. */
	readonly additionalProperties?: unknown;
	/** A group: its keys are set one by one. */
	readonly properties?: Readonly<Record<string, Shape>>;
	/** A group too, under names of the user's choice. */
	readonly patternProperties?: Readonly<Record<string, Shape>>;
}

export const settingsShape: Shape = settingsSchema as TSchema;

export function isGroup({ properties, patternProperties }: Shape): boolean {
	return properties !== undefined || patternProperties !== undefined;
}

/** What the key of a group holds, if there is such a key. */
export function partOf({ properties = {}, patternProperties = {} }: Shape, key: string): Shape | undefined {
	return Object.hasOwn(properties, key) ? properties[key] : Object.values(patternProperties)[0];
}

/** Whether agents could do more if a value of it, or of a part of it, were lost. */
export function isLimiting(shape: Shape): boolean {
	if (shape.limit !== undefined) return shape.limit !== "none";
	return Object.values(shape.properties ?? {}).some(isLimiting);
}

/** Whether every part of a group limits agents, so that an unknown key in it was probably meant to as well. */
export function isAllLimiting({ limit, properties = {} }: Shape): boolean {
	const parts = Object.values(properties);
	return limit === undefined ? parts.length > 0 && parts.every(isAllLimiting) : limit !== "none";
}

/** What a key goes by: names of the user's choice are those of presets, where case does not matter. */
export function nameOf({ patternProperties }: Shape, key: string): string {
	return patternProperties ? key.toLowerCase() : key;
}

/** The values to choose from, if the setting is a choice. */
export function choicesOf({ anyOf = [], items }: Shape): readonly Shape[] {
	if (items) return choicesOf(items);
	return anyOf.every((option) => option.const !== undefined) ? anyOf : [];
}

/** What may be there, in words. */
export function expected(shape: Shape): string {
	const choices = choicesOf(shape).map((option) => JSON.stringify(option.const));
	if (choices.length > 0) return `${shape.items ? "a list of any" : "one"} of ${choices.join(", ")}`;
	if (shape.const !== undefined) return JSON.stringify(shape.const);
	if (shape.anyOf) return shape.anyOf.map(expected).join(", or ");
	const [named] = Object.values(shape.patternProperties ?? {});
	if (named) return `an object with ${expected(named)} for each name`;
	switch (shape.type) {
		case "boolean":
			return "true or false";
		case "string":
			if (shape.pattern !== undefined && shape.default === undefined)
				return `a text: ${shape.description?.replace(/\.$/, "")}`;
			if (shape.pattern !== undefined) return `a text like ${JSON.stringify(shape.default)}`;
			return `a text of at most ${shape.maxLength} characters`;
		case "object": {
			const { properties = {}, required = [], additionalProperties } = shape;
			const parts = (additionalProperties === false ? required : []).map(
				(key) => `"${key}": ${expected(properties[key] ?? {})}`,
			);
			return parts.length > 0 ? `an object with ${parts.join(", ")}` : "an object";
		}
		case "array":
			return "a list of names";
		default:
			return `a ${shape.type === "integer" ? "whole " : ""}number from ${shape.minimum} to ${shape.maximum}`;
	}
}
