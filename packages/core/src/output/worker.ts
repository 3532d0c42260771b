/**
 * Runs in a thread of its own: checks one JSON value against one schema. Both were written by models, so it may take for
 * ever or all memory there is; whoever started the thread ends it then. Holds all that it needs, since nothing that pi
 * lends its extensions can be had here.
 */
import { parentPort, workerData } from "node:worker_threads";
import { Check, Errors } from "typebox/value";
import type { Finding, Order } from "./validate.ts";

const { schema, json }: Order = workerData;

parentPort?.postMessage("ready");
parentPort?.postMessage(find());

function find(): Finding {
	try {
		const value: unknown = JSON.parse(json, bare);
		if (Check(schema, value)) return { errors: [] };
		const errors = Errors(schema, value).map(({ instancePath, keyword, message, params }) => ({
			path: instancePath,
			message: keyword === "boolean" ? "is not allowed here" : withDetail(message, params),
		}));
		return { errors };
	} catch (error) {
		// The stack is used up: an answer that is nested too deeply, or a schema that leads from one part to the next.
		return { problem: error instanceof Error ? error.message : String(error) };
	}
}

/** What every object inherits, `constructor` for one, would count as a property that the answer has. */
function bare(_key: string, value: unknown): unknown {
	return typeof value === "object" && value !== null && !Array.isArray(value)
		? Object.setPrototypeOf(value, null)
		: value;
}

/** Some messages do not say what would be right. */
function withDetail(message: string, params: object): string {
	const { allowedValues, allowedValue }: { allowedValues?: unknown; allowedValue?: unknown } = params;
	const allowed = allowedValues ?? (allowedValue === undefined ? undefined : [allowedValue]);
	return Array.isArray(allowed) ? `${message}: ${JSON.stringify(allowed).slice(1, -1).slice(0, 200)}` : message;
}
