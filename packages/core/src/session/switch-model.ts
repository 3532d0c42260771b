/** Lets a child whose model failed begin anew with another one, as if it had not been asked before. */
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import { splitModelName } from "../models.ts";
import type { RunSpec } from "../runner.ts";

/** Where the conversation stands now, to come back to it. */
export function placeIn({ sessionManager }: AgentSession): string | undefined {
	return sessionManager.getLeafId() ?? undefined;
}

/**
 * What was said after this place stays in the session file, on a branch of its own; the next model does not read it.
 * Without a place that is the whole conversation.
 */
export async function goBack(session: AgentSession, place: string | undefined): Promise<void> {
	const target = place ?? session.sessionManager.getBranch()[0]?.id;
	if (target === undefined) return;
	const tools = session.getActiveToolNames();
	await session.navigateTree(target, { summarize: false });
	session.setActiveToolsByName(tools); // pi takes those that the conversation had there
}

/** Throws if there is no such model, or no key for it. */
export async function switchModel(session: AgentSession, name: string, thinking: RunSpec["thinking"]): Promise<void> {
	const { provider, id } = splitModelName(name);
	const model = session.modelRuntime.getModel(provider, id);
	if (!model) throw new Error(`Model ${name} is not available.`);
	await session.setModel(model);
	if (thinking !== undefined) session.setThinkingLevel(thinking);
}
