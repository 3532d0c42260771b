/** Reads untrusted requests from the bus. Each known field is read once; everything else is ignored. */
import type { Method, Requests, WorkflowRequest } from "../protocol.ts";
import { readRegistration } from "./agent-definitions.ts";
import { type Fields, fieldsOf, MAX_ID, MAX_TEXT, optional, optionalBoolean, optionalText, text } from "./fields.ts";
import { copyJson } from "./json.ts";
import { type CheckedOptions, optionalSignal, readOptions } from "./spawn-options.ts";

/** A validated spawn request: without unset fields, and with one spelling per field. */
export interface CheckedSpawn {
	type: string;
	prompt: string;
	options: CheckedOptions;
}

/** A validated workflow request: exactly one of the first three is there. */
export type CheckedWorkflow = {
	[Key in Exclude<keyof WorkflowRequest, "args">]?: NonNullable<WorkflowRequest[Key]>;
} & { args?: unknown };

/** The validated request of each method. */
export type Checked = Omit<Requests, "spawn" | "workflow"> & { spawn: CheckedSpawn; workflow: CheckedWorkflow };

/** More than any model could read. */
const MAX_PROMPT = 1_000_000;

/** The id for the reply; `undefined` when there is none, and then the request is ignored. */
export function requestIdOf(payload: unknown): string | undefined {
	try {
		const id = fieldsOf(payload, "request")("requestId");
		if (typeof id === "number" && Number.isFinite(id)) return String(id);
		return typeof id === "string" && id !== "" && id.length <= MAX_ID ? id : undefined;
	} catch {
		return undefined; // not an object, or a getter threw
	}
}

/**
 * Validates a request. Throws an error for the caller when a field is missing or invalid.
 *
 * @example
 * ```ts
 * readRequest("spawn", { type: "Explore", prompt: "look", options: { cwd: null, depth: 3 } });
 * // { type: "Explore", prompt: "look", options: {} }
 * ```
 */
export function readRequest<M extends Method>(method: M, payload: unknown): Checked[M] {
	return READERS[method](fieldsOf(payload, "request"));
}

/** Reads a request at once, because its sender may change it later. What is wrong with it is thrown when it is asked for. */
export function readNow<M extends Method>(method: M, payload: unknown): () => Checked[M] {
	try {
		const request = readRequest(method, payload);
		return () => request;
	} catch (error) {
		return () => {
			throw error;
		};
	}
}

const agentId = (get: Fields) => ({ agentId: text(get, "agentId", MAX_ID) });

const READERS: { [M in Method]: (get: Fields) => Checked[M] } = {
	ping: () => ({}),
	list: () => ({}),
	stop: agentId,
	consume: agentId,
	status: agentId,
	result: agentId,
	wait: agentId,
	cost(get) {
		const id = optionalText(get, "agentId", MAX_ID);
		return id === undefined ? {} : { agentId: id };
	},
	steer: (get) => ({ ...agentId(get), message: text(get, "message", MAX_PROMPT) }),
	registerAgents: readRegistration,
	spawn(get) {
		const type = text(get, "type", MAX_ID);
		const prompt = text(get, "prompt", MAX_PROMPT);
		const options = get("options") ?? {};
		return { type, prompt, options: readOptions(fieldsOf(options, "options")) };
	},
	workflow: readWorkflow,
};

const SOURCES = { script: MAX_PROMPT, path: MAX_TEXT, name: MAX_ID } as const;

function readWorkflow(get: Fields): CheckedWorkflow {
	const keys = (Object.keys(SOURCES) as (keyof typeof SOURCES)[]).filter((key) => optional(get, key) !== undefined);
	const [source] = keys;
	if (source === undefined || keys.length > 1) throw new Error("give exactly one of script, path and name");
	const args = optional(get, "args");
	const isBackground = optionalBoolean(get, "isBackground");
	const signal = optionalSignal(get, "signal");
	return {
		[source]: text(get, source, SOURCES[source]),
		...(args === undefined ? {} : { args: copyJson(args, "args") }),
		...(isBackground === undefined ? {} : { isBackground }),
		...(signal === undefined ? {} : { signal }),
	};
}
