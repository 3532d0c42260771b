/**
 * Deletes the files of old runs, conversations and jobs, and reports what a crash has left. Starts some time after a
 * session was opened, so that nothing waits for it.
 */
import { join } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Clock, runIdOf, type Store, systemClock } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import { type Journal, pruneOwners } from "@pi-subagents/delivery";
import { type Launcher, pruneSchedules } from "@pi-subagents/launch";
import { pruneConversations, pruneRuns } from "@pi-subagents/runs";
import type { Host } from "../host/host.ts";
import { warnOfLeftWorktrees } from "../host/worktrees.ts";

export interface TidyDeps {
	store: Store;
	journal: Pick<Journal, "runIds">;
	launcher: Launcher<ExtensionContext>;
	host: Host;
	clock?: Clock;
}

const PATIENCE_MS = 30_000;

export function cleanUp(pi: ExtensionAPI, { store, journal, launcher, host, clock = systemClock }: TidyDeps): void {
	let cancel = (): void => undefined;
	pi.on("session_start", (_event, ctx) => {
		cancel = clock.after(
			PATIENCE_MS,
			() => void bestEffort("deleting old files of agents", host.warn, () => tidy(ctx)),
		);
	});
	pi.on("session_shutdown", () => cancel());

	const tidy = async (ctx: ExtensionContext) => {
		const { retention } = await launcher.settings(ctx);
		const limits = { ...retention, now: clock.now() };
		// What this session remembers can still be read in it.
		const keep = new Set(journal.runIds());
		for (const { id: agentId, run } of store.currentRecords()) keep.add(runIdOf({ agentId, run }));
		const dir = await launcher.placeFor("runs", ctx);
		if (dir !== undefined)
			await pruneRuns({ ...limits, agentDir: host.agentDir, dir, keep, isLive: (runId) => keep.has(runId) });
		const state = join(host.agentDir, "state", "subagents");
		const isLive = (sessionId: string) => sessionId === host.parentSessionId?.();
		await pruneConversations({ ...limits, dir: join(state, "sessions"), isLive });
		await pruneSchedules({ ...limits, dir: join(state, "schedules"), isLive });
		await pruneOwners(join(state, "open"), host.warn);
		await warnOfLeftWorktrees(host, ctx);
	};
}
