/**
 * The validation thread: checks one JSON value against one schema. Models wrote both, so it may run forever or take
 * all memory; the parent ends it then. Bundles all it needs, since pi's shared modules are not available here.
 */
import { parentPort, workerData } from "node:worker_threads";
import { Check, Errors } from "typebox/value";
import type { Finding, Order } from "./validate.ts";

parentPort?.postMessage("ready");
parentPort?.postMessage(findErrors(workerData));

export function findErrors({ schema, json }: Order): Finding {
	try {
		const value: unknown = JSON.parse(json, bare);
		if (Check(schema, value)) return { errors: [] };
		const errors = Errors(schema, value).map(({ instancePath, keyword, message, params }) => ({
			path: instancePath,
			message: keyword === "boolean" ? "is not allowed here" : withDetail(message, params),
		}));
		return { errors };
	} catch (error) {
		// Stack overflow: a deeply nested answer, or a schema that refers from part to part.
		return { problem: error instanceof Error ? error.message : String(error) };
	}
}

/** Inherited names such as `constructor` would count as properties of the answer. */
function bare(_key: string, value: unknown): unknown {
	return typeof value === "object" && value !== null && !Array.isArray(value)
		? Object.setPrototypeOf(value, null)
		: value;
}

/** Some messages do not say what is allowed. */
function withDetail(message: string, params: object): string {
	const { allowedValues, allowedValue }: { allowedValues?: unknown; allowedValue?: unknown } = params;
	const allowed = allowedValues ?? (allowedValue === undefined ? undefined : [allowedValue]);
	return Array.isArray(allowed) ? `${message}: ${JSON.stringify(allowed).slice(1, -1).slice(0, 200)}` : message;
}
