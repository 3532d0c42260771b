/** Ties the agents to the session that launched them, and to the user's Escape. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Manager } from "@pi-subagents/core";
import type { Settings } from "@pi-subagents/launch";
import { conversationsWritten } from "@pi-subagents/runners/session";
import type { Recorder } from "@pi-subagents/runs";
import { isBrokenOff } from "./session-state.ts";

/** A child that does not let go must not keep pi from ending. */
const SHUTDOWN_MS = 3_000;

export function stopWithSession(pi: ExtensionAPI, manager: Manager, recorder: Recorder): void {
	pi.on("session_shutdown", async ({ reason }) => {
		const { promise: tooLong, resolve } = Promise.withResolvers<void>();
		const timer = setTimeout(resolve, SHUTDOWN_MS);
		await Promise.race([end(manager, recorder, reason), tooLong]);
		clearTimeout(timer);
	});
}

/** What is known of the agents is written while they are stopped; what they say in their last moment, after that. */
async function end(manager: Manager, recorder: Recorder, reason: string): Promise<void> {
	await Promise.all([manager.shutdown(reason === "reload" ? { reason } : {}), recorder.flush()]);
	await conversationsWritten();
	await recorder.close();
}

/** Agents that the turn waits for hear of its end by themselves; the others only where the user wants that. */
export function stopOnEscape(pi: ExtensionAPI, manager: Manager, policy: () => Settings["interrupt"]): void {
	pi.on("agent_end", (_event, ctx) => {
		if (!isBrokenOff(ctx) || policy() !== "all") return;
		for (const { id, outcome, outlives, parentAgentId } of manager.store.currentRecords()) {
			if (!outcome && !outlives && parentAgentId === undefined) manager.abort(id, { by: "user" });
		}
	});
}
