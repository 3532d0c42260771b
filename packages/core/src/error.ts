/**
 * The caller's mistakes, as one error class with a closed set of codes.
 * A run that fails is not an error but an `Outcome`; a bad file among good ones is a problem beside the results.
 */
import { sanitize } from "@pi-subagents/progress";

export type AgentErrorCode =
	/** No agent has this id. */
	| "unknown_agent"
	/** The agent exists, but not in a state in which this can be done. */
	| "wrong_state"
	/** No slot is free, and the settings say to refuse rather than to queue. */
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
	/** The preset asks for a tool that is not there, or that its project may not have. */
	| "unknown_tool"
	| "forbidden_tool"
	/** No preset has this name. */
	| "unknown_preset"
	/** The preset asks for something that no runner here can do. */
	| "unsupported"
	/** The preset is switched off. */
	| "disabled_preset"
	/** The working directory does not exist or is not one. */
	| "bad_cwd"
	/** The agent cannot have a checkout of its own there. */
	| "no_worktree"
	/** The task is blank. */
	| "no_task"
	/** The call contradicts itself or says too little. */
	| "bad_request"
	/** What the answer should match is no usable JSON Schema. */
	| "bad_schema"
	/** The manager was shut down. */
	| "shut_down";

export class AgentError extends Error {
	override readonly name = "AgentError";
	readonly code: AgentErrorCode;

	constructor(code: AgentErrorCode, message: string) {
		super(message);
		this.code = code;
	}
}

/** More of what somebody wrote would bury the message. */
const MOST_QUOTED = 80;

/**
 * What somebody wrote, as an error repeats it: in quotes, on one line, and not all of it if it is long.
 *
 * @example
 * ```ts
 * throw new AgentError("unknown_preset", `There is no preset ${quoted(name)}.`);
 * ```
 */
export function quoted(text: string): string {
	const line = sanitize(text);
	return `"${line.length > MOST_QUOTED ? `${line.slice(0, MOST_QUOTED - 1).replace(/[\ud800-\udbff]$/, "")}…` : line}"`;
}
