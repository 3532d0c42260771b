/**
 * Keeps a child session's file tools out of git directories and pi-subagents' own files, and inside its checkout.
 * The model's calls are guarded at the agent, after the child's extensions, which may change what a tool is called
 * with. Calls that an extension makes for a running tool (pi 0.99 and newer) pass only pi's extension events.
 */

import type { AgentSession, ExtensionFactory } from "@earendil-works/pi-coding-agent";
import type { RunSpec } from "@pi-subagents/core";
import { gitRefusal } from "@pi-subagents/core/internal/files";
import { createCheckoutGuard, type FileGuard, type ToolCall } from "@pi-subagents/worktree";
import { refusalOf } from "../file-guards/own-files.ts";

/** Both checks of one child: its checkout, if it has one, and the files that only pi-subagents writes. */
export function createFileGuard({ confinedTo, memoryDir, runsDir }: RunSpec, agentDir: string): FileGuard {
	const checkout =
		confinedTo && createCheckoutGuard(confinedTo, { alsoWritable: memoryDir === undefined ? [] : [memoryDir] });
	const ownDirs = { agentDir, dirs: [runsDir] };
	return {
		async before(call) {
			const reason = checkout ? await checkout.before(call) : gitRefusal(call);
			return reason ?? refusalOf(call, ownDirs);
		},
		after: async (call) => checkout?.after(call),
	};
}

/** For calls of the model. Must be called before the session is prompted. */
export function guardSession({ agent }: AgentSession, guard: FileGuard, cwd: string): void {
	const { beforeToolCall, afterToolCall } = agent;
	agent.beforeToolCall = async (context, signal) => {
		const verdict = await beforeToolCall?.(context, signal);
		if (verdict?.block) return verdict;
		const { toolCall, args } = context;
		const refused = await refusal(guard, { id: toolCall.id, tool: toolCall.name, input: args, cwd });
		return refused ? { ...verdict, ...refused } : verdict;
	};
	agent.afterToolCall = async (context, signal) => {
		const changed = await afterToolCall?.(context, signal);
		const { toolCall, result } = context;
		const wrong = await guard.after({ id: toolCall.id, tool: toolCall.name });
		return wrong === undefined ? changed : { ...changed, ...complaint(changed?.content ?? result.content, wrong) };
	};
}

/** For calls that extensions make for a running tool. Must be the last extension: others may change the input. */
export function guardNestedCalls(guard: FileGuard): { name: string; factory: ExtensionFactory } {
	return {
		name: "subagent-file-guard",
		factory(pi) {
			pi.on("tool_call", async (event, { cwd }) => {
				if (!isNested(event)) return undefined;
				return refusal(guard, { id: event.toolCallId, tool: event.toolName, input: event.input, cwd });
			});
			pi.on("tool_result", async (event) => {
				if (!isNested(event)) return undefined;
				const wrong = await guard.after({ id: event.toolCallId, tool: event.toolName });
				return wrong === undefined ? undefined : complaint(event.content, wrong);
			});
		},
	};
}

/** pi 0.87 knows no such calls, so its events do not declare the field. */
function isNested(event: object): boolean {
	return "parentToolCallId" in event && event.parentToolCallId !== undefined;
}

async function refusal(guard: FileGuard, call: ToolCall): Promise<{ block: true; reason: string } | undefined> {
	const reason = await guard.before(call);
	return reason === undefined ? undefined : { block: true, reason };
}

function complaint<T>(content: readonly T[], text: string) {
	return { content: [...content, { type: "text" as const, text }], isError: true };
}
