/** Keeps a child in the checkout that it has for itself, by the hooks that pi's loop has around each tool. */
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import type { RunSpec } from "../runner.ts";
import { createGuard } from "../worktree/guard.ts";

/** Must be called before the session is prompted. */
export function confineSession({ agent }: AgentSession, { confinedTo, memoryDir, cwd }: RunSpec): void {
	if (!confinedTo) return;
	const guard = createGuard(confinedTo, { alsoWritable: memoryDir === undefined ? [] : [memoryDir] });
	const { beforeToolCall, afterToolCall } = agent;
	agent.beforeToolCall = async (context, signal) => {
		// The child's extensions first: they may change what the tool is called with.
		const verdict = await beforeToolCall?.(context, signal);
		if (verdict?.block) return verdict;
		const { toolCall, args } = context;
		const reason = await guard.before({ id: toolCall.id, tool: toolCall.name, input: args, cwd });
		return reason === undefined ? verdict : { ...verdict, block: true, reason };
	};
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
