/** What a script may ask for in a call, checked before anything starts. Errors say what is allowed. Pure. */
import { isObject } from "@pi-subagents/core/internal/base";
import type { OnError } from "../script/meta.ts";

/** One `agent()` of a script. */
export interface AgentRequest {
	prompt: string;
	/** A few words for lists, and a name for `resume`. */
	label?: string;
	phase?: string;
	/** The preset. */
	agentType?: string;
	model?: string;
	effort?: string;
	isolation?: "worktree";
	/** Where it runs: a machine of the user's settings, `local` or `here`. */
	machine?: string;
	/** It is run again, once and from the start, if that machine loses it. */
	retry?: "lost";
	/** An earlier agent that continues: its label, or its id. */
	resume?: string;
	/** The JSON Schema of the answer. */
	schema?: Readonly<Record<string, unknown>>;
	maxTurns?: number;
	/** A command that must succeed when the agent is done, as in presets. */
	verify?: unknown;
	onError?: OnError;
}

export interface AskRequest {
	question: string;
	/** The answer if no one gives one. */
	default?: string;
}

export interface WorkflowRequest {
	name: string;
	args: unknown;
}

const TEXTS = ["label", "phase", "agentType", "model", "effort", "machine", "resume"] as const;
const KNOWN = [...TEXTS, "isolation", "retry", "schema", "maxTurns", "verify", "gate", "onError"];
const MAX_PROMPT = 1_000_000;
const MAX_SHORT = 500;

/** Throws an error that names the option. */
export function agentRequest(input: unknown): AgentRequest {
	const { value: prompt, options } = parts(input, "prompt");
	if (typeof prompt !== "string" || prompt.trim() === "")
		throw new Error("agent() takes a prompt: a text that is not blank.");
	if (prompt.length > MAX_PROMPT)
		throw new Error(`The prompt of agent() is too long: at most ${MAX_PROMPT} characters.`);
	for (const key of options.keys) {
		if (!KNOWN.includes(key))
			throw new Error(`agent() does not know the option \`${key}\`. Known: ${KNOWN.join(", ")}.`);
	}
	const { isolation, retry, schema, maxTurns, verify, gate, onError } = options.values;
	const request: AgentRequest = { prompt };
	for (const key of TEXTS) {
		const text = options.values[key];
		if (text === undefined || text === null) continue;
		if (typeof text !== "string" || text.length > MAX_SHORT)
			throw new Error(`\`${key}\` of agent() must be a short text.`);
		request[key] = text;
	}
	if (isolation !== undefined && isolation !== null) {
		if (isolation !== "worktree") throw new Error('`isolation` of agent() must be "worktree".');
		request.isolation = isolation;
	}
	if (retry !== undefined && retry !== null) {
		if (retry !== "lost") throw new Error('`retry` of agent() must be "lost".');
		request.retry = retry;
	}
	if (schema !== undefined && schema !== null) {
		if (!isObject(schema)) throw new Error("`schema` of agent() must be a JSON Schema: an object.");
		request.schema = schema;
	}
	if (maxTurns !== undefined && maxTurns !== null) {
		if (!Number.isInteger(maxTurns) || Number(maxTurns) < 1)
			throw new Error("`maxTurns` of agent() must be a whole number from 1.");
		request.maxTurns = Number(maxTurns);
	}
	if (verify != null && gate != null) throw new Error("`verify` and `gate` of agent() are the same: give one of them.");
	const command = verify ?? gate;
	if (command != null) {
		if (typeof command !== "string" && !isObject(command) && !Array.isArray(command))
			throw new Error("`verify` of agent() must be a command: a text, a list, or an object with `command`.");
		request.verify = command;
	}
	if (onError !== undefined) {
		if (onError !== "throw" && onError !== "null" && onError !== null)
			throw new Error('`onError` of agent() must be "throw" or "null".');
		request.onError = onError ?? "null";
	}
	return request;
}

export function askRequest(input: unknown): AskRequest {
	const { value: question, options } = parts(input, "question");
	if (typeof question !== "string" || question.trim() === "")
		throw new Error("ask() takes a question: a text that is not blank.");
	const unknown = options.keys.find((key) => key !== "default");
	if (unknown !== undefined) throw new Error(`ask() does not know the option \`${unknown}\`. Known: default.`);
	const fallback = options.values.default;
	if (fallback === undefined) return { question };
	return { question, default: typeof fallback === "string" ? fallback : JSON.stringify(fallback) };
}

export function workflowRequest(input: unknown): WorkflowRequest {
	const { name, args } = isObject(input) ? input : {};
	if (typeof name !== "string" || name.trim() === "") throw new Error("workflow() takes the name of a saved workflow.");
	return { name, args };
}

/** What people see of a call. */
export function labelOf({ label, prompt }: AgentRequest): string {
	const text = label ?? prompt;
	const line = text.trim().split("\n", 1)[0] ?? "";
	return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function parts(
	input: unknown,
	name: string,
): { value: unknown; options: { keys: string[]; values: Record<string, unknown> } } {
	const { options, keys, [name]: value } = isObject(input) ? input : {};
	if (!isObject(options)) throw new Error("The options of a call must be an object.");
	return { value, options: { keys: Array.isArray(keys) ? keys.map(String) : [], values: options } };
}
