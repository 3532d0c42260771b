/**
 * Keeps a child session's file tools out of git directories and pi-subagents' own files, and inside its checkout.
 * Both must be called before the session is prompted.
 */

import type { AgentSession } from "@earendil-works/pi-coding-agent";
import { gitRefusal } from "../guards/git-guard.ts";
import { refusalOf } from "../guards/own-files.ts";
import type { RunSpec } from "../model/runner.ts";
import { createGuard } from "../worktree/guard.ts";

/** Must be called before the session is prompted. */
export function confineSession({ agent }: AgentSession, { confinedTo, memoryDir, cwd }: RunSpec): void {
	const guard = confinedTo && createGuard(confinedTo, { alsoWritable: memoryDir === undefined ? [] : [memoryDir] });
	const { beforeToolCall, afterToolCall } = agent;
	agent.beforeToolCall = async (context, signal) => {
		// The child's extensions first: they may change what the tool is called with.
		const verdict = await beforeToolCall?.(context, signal);
		if (verdict?.block) return verdict;
		const { toolCall, args } = context;
		const call = { id: toolCall.id, tool: toolCall.name, input: args, cwd };
		const reason = guard ? await guard.before(call) : gitRefusal(call);
		return reason === undefined ? verdict : { ...verdict, block: true, reason };
	};
	if (!guard) return;
	agent.afterToolCall = async (context, signal) => {
		const changed = await afterToolCall?.(context, signal);
		const { toolCall, result } = context;
		const wrong = await guard.after({ id: toolCall.id, tool: toolCall.name });
		if (wrong === undefined) return changed;
		return {
			...changed,
			content: [...(changed?.content ?? result.content), { type: "text", text: wrong }],
			isError: true,
		};
	};
}

/** Must be called before the session is prompted. */
export function guardOwnFiles({ agent }: AgentSession, { cwd, runsDir }: RunSpec, agentDir: string): void {
	const { beforeToolCall } = agent;
	const places = { agentDir, dirs: [runsDir] };
	agent.beforeToolCall = async (context, signal) => {
		// The child's extensions first: they may change what the tool is called with.
		const verdict = await beforeToolCall?.(context, signal);
		if (verdict?.block) return verdict;
		const reason = refusalOf({ tool: context.toolCall.name, input: context.args, cwd }, places);
		return reason === undefined ? verdict : { ...verdict, block: true, reason };
	};
}
