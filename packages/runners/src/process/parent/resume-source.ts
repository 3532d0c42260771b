/**
 * The conversation a run starts with, as the content of its session file: a later run gets a copy of the previous
 * run's, and a first run, if its spec says so, the launching agent's.
 */
import { dirname, join } from "node:path";
import type { Clock } from "@pi-subagents/core";
import { type RunIdentity, type RunSpec, runIdOf } from "@pi-subagents/core";
import { isThere, readPlain } from "@pi-subagents/core/internal/files";
import { RUN_FILES } from "@pi-subagents/runs";
import { goneMessage } from "../../session/history/conversation.ts";
import { inheritedEntries } from "../../session/history/inherited.ts";
import { sessionText, withCwd } from "../../session/history/session-text.ts";

/** Including images. */
const MAX_CONVERSATION_BYTES = 512 * 1024 * 1024;

/** Throws if there was a conversation and it is gone: the child would not know its earlier task. */
export async function startingConversation(
	dir: string,
	spec: RunSpec & RunIdentity,
	clock: Clock,
): Promise<string | Uint8Array | undefined> {
	const { agentId, run, cwd } = spec;
	if (run === 1 && spec.inheritsContext) {
		return sessionText(inheritedEntries(spec, { id: crypto.randomUUID(), at: clock.now() }));
	}
	// A run that was stopped before its model answered has none; then the run before counts.
	for (let number = run - 1; number >= 1; number--) {
		const before = join(dirname(dir), runIdOf({ agentId, run: number }));
		const conversation = await readPlain(join(before, RUN_FILES.session), MAX_CONVERSATION_BYTES);
		if (conversation) {
			const copy = withCwd(conversation, cwd);
			if (!copy) throw new Error(goneMessage(agentId));
			return copy;
		}
		if (!(await isThere(before))) throw new Error(goneMessage(agentId));
	}
	return undefined;
}
