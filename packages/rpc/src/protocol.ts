/**
 * The messages that extensions exchange over pi's event bus: protocol version 2 and additions to it.
 * Types and names only: nothing here listens, sends or keeps state.
 */
import type { Status } from "@pi-subagents/progress";
import type { SettledAgent } from "./lifecycle.ts";

export const PROTOCOL_VERSION = 2;

/** The channels of requests. The first four are version 2; the others exist only if `ping` lists them as capabilities. */
export const requestChannels = {
	ping: "subagents:rpc:ping",
	spawn: "subagents:rpc:spawn",
	stop: "subagents:rpc:stop",
	consume: "subagents:rpc:consume",
	status: "subagents:rpc:status",
	result: "subagents:rpc:result",
	wait: "subagents:rpc:wait",
	list: "subagents:rpc:list",
	steer: "subagents:rpc:steer",
	registerAgents: "subagents:rpc:registerAgents",
	cost: "subagents:rpc:cost",
	workflow: "subagents:rpc:workflow",
} as const;

export type Method = keyof typeof requestChannels;

/** The parameters of each method, besides `requestId`. */
export interface Requests {
	ping: Record<never, never>;
	spawn: { type: string; prompt: string; options?: SpawnOptions };
	stop: { agentId: string };
	/** The caller has shown the result itself, so the session is not notified. */
	consume: { agentId: string };
	status: { agentId: string };
	result: { agentId: string };
	/** Answered when the agent has settled, without a timeout. */
	wait: { agentId: string };
	list: Record<never, never>;
	steer: { agentId: string; message: string };
	/** Presets for as long as the session is open. They replace those that the same owner registered before. */
	registerAgents: AgentRegistration;
	/** Of one agent with those that it launched; of all agents of the session without an id. */
	cost: { agentId?: string };
	/** Runs a workflow. It is an agent from then on: `wait`, `result`, `status` and `stop` take its id. */
	workflow: WorkflowRequest;
}

/** The result of each method on success. */
export interface Replies {
	ping: ServerInfo;
	spawn: { id: string };
	stop: undefined;
	consume: undefined;
	status: AgentInfo;
	result: SettledAgent;
	wait: SettledAgent;
	list: AgentInfo[];
	steer: undefined;
	registerAgents: { count: number; exclusive: boolean };
	cost: Cost;
	workflow: { id: string };
}

/** The server that answers. */
export interface ServerInfo {
	version: number;
	/** What the server supports beyond version 2: more methods, `outputSchema` and `verify`. Absent: nothing. */
	capabilities?: readonly string[];
}

/**
 * How an agent is started. Absent, `undefined` and `null` are the same. Unknown fields are ignored; so are fields about the
 * owner of an agent (`depth`, `parentAgentId`, …), because the server determines them.
 */
export interface SpawnOptions {
	/** Three to five words, for people. */
	description?: string | null;
	/** A second identifier besides the id. */
	name?: string | null;
	/** `provider/id`, or pi's own model object. */
	model?: string | { provider: string; id: string } | null;
	/** After this many turns it is asked to finish; 0 is no limit. */
	maxTurns?: number | null;
	thinkingLevel?: string | null;
	/** Without extensions and skills. */
	isolated?: boolean | null;
	/** `worktree`: in its own git worktree. */
	isolation?: "worktree" | "off" | null;
	/** Where it runs: a machine of the user's settings, `local` or `here`. */
	machine?: string | null;
	/** `lost`: it is run again, once and from the start, if that machine loses it. */
	retry?: "lost" | "off" | null;
	/** Start with the conversation of the session. */
	inheritContext?: boolean | null;
	/** Deliver the result to the session. Otherwise only the caller gets it, by events or requests. */
	isBackground?: boolean | null;
	/** Part of version 2, without effect here: every agent waits in the queue. */
	bypassQueue?: boolean | null;
	/** The absolute path of an existing directory. */
	cwd?: string | null;
	/** Stops the agent when it fires. */
	signal?: AbortSignal | null;
	/** A JSON Schema that the answer must match. */
	outputSchema?: Readonly<Record<string, unknown>> | null;
	/**
	 * A command that checks the agent's work after its answer: text for the shell, a program with its arguments, or both
	 * with a time limit in seconds and JSON output.
	 */
	verify?:
		| string
		| readonly string[]
		| {
				command: string | readonly string[];
				timeout?: number | string;
				output?: "json";
				schema?: Readonly<Record<string, unknown>>;
		  }
		| null;
	/** Other names of `outputSchema`. A compiled schema is accepted if it holds the JSON Schema it was made from. */
	structuredOutput?: object | null;
	schema?: object | null;
	/** The preset to use if there is none of that name; `false`: none. Default: the user's setting. */
	fallbackSubagent?: string | false | null;
	/** Awaited with the agent's worktree when it has ended by itself, before the worktree is closed. */
	onBeforeWorktreeCleanup?: ((path: string) => unknown) | null;
	/** What the caller shows about the launch. Kept as it is, for readers of the record. */
	invocation?: Readonly<Record<string, unknown>> | null;
}

/** The workflow to run: one of the first three. */
export interface WorkflowRequest {
	/** The text of a script. */
	script?: string | null;
	/** A script file: of a project that the user trusts, or among the user's own workflows. */
	path?: string | null;
	/** The name of a saved workflow. */
	name?: string | null;
	/** What the script finds as `args`: JSON. */
	args?: unknown;
	/** Deliver the result to the session. Otherwise only the caller gets it. */
	isBackground?: boolean | null;
	/** Stops the workflow and its agents when it fires. */
	signal?: AbortSignal | null;
}

/** Presets that an extension brings along. */
export interface AgentRegistration {
	agents: readonly AgentDefinition[];
	/** Only these and the built-in presets exist meanwhile; the user's files are not used. */
	exclusive?: boolean | null;
	/** Whose presets these are: a later registration of the same owner replaces them. Default: they replace those with which they share a name. */
	owner?: string | null;
}

/** A preset as an object. Besides these, every field of a preset file may be set, by any of its names. */
export interface AgentDefinition {
	name: string;
	/** The agent's instructions; the body of a preset file. */
	systemPrompt: string;
	/** When to use it. Default: the name. */
	description?: string;
	displayName?: string;
	model?: string;
	thinking?: string;
	tools?: readonly string[] | string;
	extensions?: boolean | readonly string[];
	skills?: boolean | readonly string[];
	maxTurns?: number;
	promptMode?: "append" | "replace" | "auto";
	[field: string]: unknown;
}

/** The state of an agent. */
export interface AgentInfo {
	id: string;
	name?: string;
	/** The name of its preset. */
	type: string;
	description: string;
	status: Status;
	/** 1 for an agent started by the session. */
	depth: number;
	/** The agent that started it, if any. */
	parentAgentId?: string;
	isBackground: boolean;
	/** `provider/id`. */
	model?: string;
	/** What it is doing, in one line for people. */
	activity?: string;
	/** Its question, while it waits for the answer. */
	question?: string;
	turns: number;
	toolUses: number;
	tokens: Tokens;
	/** Milliseconds since the epoch. */
	queuedAt: number;
	startedAt?: number;
	completedAt?: number;
}

/** What agents cost. */
export interface Cost {
	/** In US dollars. */
	cost: number;
	tokens: Tokens;
	/** In pi's format. */
	usage: Readonly<Record<string, unknown>>;
	/** How many agents are counted. */
	agents: number;
}

/** `total` is input, output and cache writes, without cache reads. */
export interface Tokens {
	input: number;
	output: number;
	total: number;
}

/** Every request gets exactly one of these, on its reply channel. */
export type Reply<Data = unknown> = { success: true; data?: Data } | { success: false; error: string };

/**
 * The channel on which the reply to a request arrives.
 *
 * @example
 * ```ts
 * pi.events.on(replyChannel("ping", "42"), (reply) => console.log(reply));
 * pi.events.emit(requestChannels.ping, { requestId: "42" });
 * ```
 */
export function replyChannel(method: Method, requestId: string): string {
	return `${requestChannels[method]}:reply:${requestId}`;
}

/** Whether a message on a reply channel is a reply. Any extension can send anything there. */
export function isReply(value: unknown): value is Reply {
	if (typeof value !== "object" || value === null) return false;
	try {
		const { success, error } = value as { success?: unknown; error?: unknown };
		return success === true || (success === false && typeof error === "string");
	} catch {
		return false; // a getter or proxy of the sender threw
	}
}

/** The server info in a reply to `ping`; `undefined` if it is none. Later versions include version 2, so any version is valid. */
export function parseServerInfo(value: unknown): ServerInfo | undefined {
	try {
		const { version, capabilities } = value as { version?: unknown; capabilities?: unknown };
		if (typeof version !== "number") return undefined;
		if (!Array.isArray(capabilities)) return { version };
		return { version, capabilities: capabilities.filter((each) => typeof each === "string") };
	} catch {
		return undefined; // not an object, or a getter threw
	}
}
