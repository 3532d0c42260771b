/**
 * The words that extensions exchange over pi's event bus, protocol version 2.
 * Types and names only: nothing here listens, sends or keeps state.
 */

export const PROTOCOL_VERSION = 2;

/** Where requests go. */
export const requestChannels = {
	ping: "subagents:rpc:ping",
	spawn: "subagents:rpc:spawn",
	stop: "subagents:rpc:stop",
	consume: "subagents:rpc:consume",
} as const;

export type Method = keyof typeof requestChannels;

/** What each method is asked with, beside its `requestId`. */
export interface Requests {
	ping: Record<never, never>;
	spawn: { type: string; prompt: string; options?: SpawnOptions };
	stop: { agentId: string };
	/** The caller has read the result itself: do not announce it. */
	consume: { agentId: string };
}

/** What each method answers with on success. */
export interface Replies {
	ping: { version: number };
	spawn: { id: string };
	stop: undefined;
	consume: undefined;
}

export interface SpawnOptions {
	/** Three to five words for people. */
	description?: string;
	name?: string;
	/** `provider/id`. */
	model?: string;
	maxTurns?: number;
	thinkingLevel?: string;
	isolated?: boolean;
	isolation?: "worktree";
	inheritContext?: boolean;
	isBackground?: boolean;
	/** An absolute path of an existing directory. */
	cwd?: string;
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
	if (typeof value !== "object" || value === null || !("success" in value)) return false;
	return value.success === true || (value.success === false && "error" in value && typeof value.error === "string");
}
