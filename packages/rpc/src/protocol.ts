/**
 * The words that extensions exchange over pi's event bus, protocol version 2 and what was added to it.
 * Types and names only: nothing here listens, sends or keeps state.
 */
import type { SettledAgent } from "./lifecycle.ts";

export const PROTOCOL_VERSION = 2;

/** Where requests go. The first four are version 2; the others count only where `ping` names them as capabilities. */
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
} as const;

export type Method = keyof typeof requestChannels;

/** What each method is asked with, beside its `requestId`. */
export interface Requests {
	ping: Record<never, never>;
	spawn: { type: string; prompt: string; options?: SpawnOptions };
	stop: { agentId: string };
	/** The caller has shown the result itself: the session is not told of it. */
	consume: { agentId: string };
	status: { agentId: string };
	result: { agentId: string };
	/** Answered when the agent has settled, however long that takes. */
	wait: { agentId: string };
	list: Record<never, never>;
	steer: { agentId: string; message: string };
}

/** What each method answers with on success. */
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
}

/** Who answers. */
export interface ServerInfo {
	version: number;
	/** What the server can do beyond version 2: further methods, and `outputSchema`. Absent: nothing. */
	capabilities?: readonly string[];
}

/**
 * How an agent is launched. Absent, `undefined` and `null` are the same. Names that are not here are ignored; so are
 * fields that would say who an agent belongs to (`depth`, `parentAgentId`, …): the server knows that itself.
 */
export interface SpawnOptions {
	/** Three to five words for people. */
	description?: string | null;
	/** A handle beside the id. */
	name?: string | null;
	/** `provider/id`, or pi's own model object. */
	model?: string | { provider: string; id: string } | null;
	/** After so many turns it is asked to finish; 0 is no limit. */
	maxTurns?: number | null;
	thinkingLevel?: string | null;
	/** Without extensions and skills. */
	isolated?: boolean | null;
	/** In a checkout of its own. */
	isolation?: "worktree" | "off" | null;
	/** It begins with the conversation of the session. */
	inheritContext?: boolean | null;
	/** The session is told of the result. Without it, only the caller is: by the events, or by asking. */
	isBackground?: boolean | null;
	/** Known from version 2, and without effect here: every agent waits for a slot. */
	bypassQueue?: boolean | null;
	/** An absolute path of an existing directory. */
	cwd?: string | null;
	/** Stops the agent when it fires. */
	signal?: AbortSignal | null;
	/** A JSON Schema that the answer must match. */
	outputSchema?: Readonly<Record<string, unknown>> | null;
	/** The same by an older name. */
	structuredOutput?: Readonly<Record<string, unknown>> | null;
}

/** What is known of an agent. */
export interface AgentInfo {
	id: string;
	name?: string;
	/** The name of its preset. */
	type: string;
	description: string;
	status: "queued" | "running" | "waiting" | "completed" | "failed" | "aborted";
	/** 1 for an agent that the session launched. */
	depth: number;
	/** The agent that launched it, if one did. */
	parentAgentId?: string;
	isBackground: boolean;
	/** `provider/id`. */
	model?: string;
	/** What it is doing, as a line for people. */
	activity?: string;
	/** What it asked, while it waits for the answer. */
	question?: string;
	turns: number;
	toolUses: number;
	tokens: Tokens;
	/** Milliseconds since the epoch. */
	queuedAt: number;
	startedAt?: number;
	completedAt?: number;
}

/** `total` is all new work: input, output and what was written to the cache. */
export interface Tokens {
	input: number;
	output: number;
	total: number;
}

/** Every request gets exactly one of these, on its reply channel. */
export type Reply<Data = unknown> = { success: true; data?: Data } | { success: false; error: string };

/**
 * Where the answer to a request arrives.
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

/** Whether something that arrived on a reply channel is a reply. The bus is open to everybody. */
export function isReply(value: unknown): value is Reply {
	if (typeof value !== "object" || value === null) return false;
	try {
		const { success, error } = value as { success?: unknown; error?: unknown };
		return success === true || (success === false && typeof error === "string");
	} catch {
		return false; // a getter or proxy of the sender threw: nothing here that we can read
	}
}

/** Who answered a ping; `undefined` if that was nobody. Any version counts: later ones keep what version 2 has. */
export function serverIn(value: unknown): ServerInfo | undefined {
	try {
		const { version, capabilities } = value as { version?: unknown; capabilities?: unknown };
		if (typeof version !== "number") return undefined;
		if (!Array.isArray(capabilities)) return { version };
		return { version, capabilities: capabilities.filter((each) => typeof each === "string") };
	} catch {
		return undefined; // nothing that has fields, or they throw when one looks at them
	}
}
