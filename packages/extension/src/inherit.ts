/** Gives a spec the conversation that its run is to begin with: that of whoever launches it, as it is at this moment. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { INHERITED, type RunSpec, splitModelName } from "@pi-subagents/core";
import { inheritConversation } from "@pi-subagents/core/session";

/** `ctx` is that of the session that launches: for an agent of an agent, the agent's own. */
export function withConversation(spec: RunSpec, { sessionManager, modelRegistry }: ExtensionContext): RunSpec {
	if (!spec.inheritsContext) return spec;
	const windows = [spec.model, ...(spec.fallbackModels ?? [])].flatMap((name) => {
		const { provider, id } = splitModelName(name);
		return modelRegistry.find(provider, id)?.contextWindow ?? [];
	});
	const { messages } = sessionManager.buildSessionProjection();
	return { ...spec, [INHERITED]: inheritConversation(messages, { contextWindow: Math.min(...windows) }) };
}
