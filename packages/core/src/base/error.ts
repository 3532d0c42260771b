/**
 * Caller mistakes as one error class with a closed set of codes. A run that fails is not an error but an `Outcome`; a
 * bad file among good ones is a problem beside the results.
 */
import { sanitize } from "@pi-subagents/progress";

export type AgentErrorCode =
	/** No agent has this id. */
	| "unknown_agent"
	/** The agent's state does not allow this. */
	| "wrong_state"
	/** No slot is free, and the settings say to refuse instead of queueing. */
	| "slots_full"
	/** Agents may not launch agents at this depth. */
	| "too_deep"
	/** The agent's preset does not allow it to launch this one. */
	| "forbidden_preset"
	/** No runner of this name was given to the manager. */
	| "unknown_runner"
	/** No available model has this name, or several could be meant. */
	| "unknown_model"
	| "ambiguous_model"
	/** Neither the call nor the preset names a model, and none may be inherited. */
	| "no_model"
	/** The model is not among those the user enabled. */
	| "model_out_of_scope"
	/** The preset names a tool that does not exist, or that its project may not use. */
	| "unknown_tool"
	| "forbidden_tool"
	/** No preset has this name. */
	| "unknown_preset"
	/** The preset asks for something that no runner here supports. */
	| "unsupported"
	/** The preset is switched off. */
	| "disabled_preset"
	/** The working directory does not exist or is not one. */
	| "bad_cwd"
	/** The agent cannot have its own checkout there. */
	| "no_worktree"
	/** The task is blank. */
	| "no_task"
	/** The call contradicts itself or says too little. */
	| "bad_request"
	/** A settings file, or something in it that limits agents, is not understood. */
	| "bad_settings"
	/** A hook of the user does not allow it. */
	| "refused"
	/** The output schema is not a usable JSON Schema. */
	| "bad_schema"
	/** The manager was shut down. */
	| "shut_down";

export class AgentError extends Error {
	override readonly name = "AgentError";
	readonly code: AgentErrorCode;

	constructor(code: AgentErrorCode, message: string) {
		super(clip(message, MAX_MESSAGE));
		this.code = code;
	}
}

/** Bounds how much of a call an error repeats to a model. */
const MAX_MESSAGE = 4_000;

/** More of the quoted text would bury the message. */
const MAX_QUOTED = 80;
/** Paths may be longer, and their end matters too. */
const MAX_PATH = 300;

/**
 * User or model text as an error quotes it: on one line and clipped.
 *
 * @example
 * ```ts
 * throw new AgentError("unknown_preset", `There is no preset ${quoted(name)}.`);
 * ```
 */
export function quoted(text: string): string {
	// The start is enough, unless most of it is unprintable.
	return `"${clip(sanitize(text.slice(0, 10 * MAX_QUOTED)), MAX_QUOTED)}"`;
}

/** A path as an error quotes it: on one line, with a long middle left out. */
export function quotedPath(path: string): string {
	const line = sanitize(path.length > MAX_PATH ? `${path.slice(0, MAX_PATH / 2)}…${path.slice(-MAX_PATH / 2)}` : path);
	return line.toWellFormed();
}

/** The start of a text, never ending in half a character. */
export function clip(text: string, most: number): string {
	return text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : text;
}
