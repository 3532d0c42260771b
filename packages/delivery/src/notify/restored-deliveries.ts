/** What an opened session still has to deliver, as the outbox needs to know it. Pure. */

import type { Outcome } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import type { LoggedRuns } from "../journal/journal.ts";
import type { Delivery, Launch } from "../outbox/types.ts";
import { shownBytes } from "./notification-text.ts";

export interface RestoredDeliveries {
	/** Delivered, or never to be. */
	held: string[];
	running: Launch[];
	stored: Delivery[];
}

/** What a message holds of a result besides its text, roughly. */
const FRAME_BYTES = 1_000;

/** `ends`: how runs ended, as far as that is known. The log may not know it yet. */
export function restoredDeliveries(
	runs: LoggedRuns,
	ends: ReadonlyMap<string, { outcome: Outcome }>,
): RestoredDeliveries {
	const undelivered = [...runs].filter(([, { launch, isDelivered }]) => launch.isBackground && !isDelivered);
	const launches = undelivered.map(([id, { launch, outlives, entryId, settled }]) => ({
		id,
		agentId: launch.agentId,
		run: launch.run,
		kind: outlives ? ("background" as const) : ("agent" as const),
		...defined({ launchEntry: entryId }),
		...(launch.launchedBy === "user" ? { isForUser: true } : {}),
		...(ends.has(id) ? { isQuiet: true } : {}), // opening a session starts no turn
		settled,
	}));
	return {
		held: [...runs].filter(([, { isDelivered }]) => isDelivered).map(([id]) => id),
		running: launches.filter(({ settled }) => !settled).map(({ settled: _, ...launch }) => launch),
		stored: launches
			.filter(({ settled }) => settled)
			.map(({ settled, ...launch }) => ({
				...launch,
				bytes: FRAME_BYTES + shownBytes(ends.get(launch.id)?.outcome),
				isFailure: settled?.status === "failed",
				isStopped: settled?.status === "aborted",
			})),
	};
}
