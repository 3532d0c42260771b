/** The conversation that a run begins with: that of the session or agent that launches it, as it is at this moment. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type RunSpec, splitModelName } from "@pi-subagents/core";
import { inheritConversation } from "@pi-subagents/core/session";

/** `ctx` is that of the session that launches: for an agent of an agent, the agent's own. */
export function conversation(
	spec: RunSpec,
	{ sessionManager, modelRegistry }: ExtensionContext,
): readonly unknown[] | undefined {
	if (!spec.inheritsContext) return undefined;
	const windows = [spec.model, ...(spec.fallbackModels ?? [])].flatMap((name) => {
		const { provider, id } = splitModelName(name);
		return modelRegistry.find(provider, id)?.contextWindow ?? [];
	});
	const { messages } = sessionManager.buildSessionProjection();
	return inheritConversation(messages, { contextWindow: Math.min(...windows) });
}
