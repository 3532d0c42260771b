/** What an opened session still has to deliver, as the outbox needs to know it. Pure. */

import type { Outcome } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import type { LoggedRuns } from "../journal/journal.ts";
import type { Delivery, Launch } from "../outbox/types.ts";
import { shownBytes } from "./notification-text.ts";

/** How a run of an earlier process ended. */
export interface RestoredEnd {
	outcome: Outcome;
	/** The run's `result.json` holds the whole answer. */
	isFiled: boolean;
}

export interface RestoredDeliveries {
	/** Delivered, or never to be. */
	held: string[];
	running: Launch[];
	stored: Delivery[];
	/** How the undelivered runs ended, as far as that is known. */
	ends: ReadonlyMap<string, RestoredEnd>;
}

/** What a message holds of a result besides its text, roughly. */
const FRAME_BYTES = 1_000;

export function restoredDeliveries(runs: LoggedRuns, ends: ReadonlyMap<string, RestoredEnd>): RestoredDeliveries {
	const undelivered = [...runs].filter(([, { launch, isDelivered }]) => launch.isBackground && !isDelivered);
	const launches = undelivered.map(([id, { launch, outlives, entryId, settled }]) => ({
		id,
		agentId: launch.agentId,
		run: launch.run,
		kind: outlives ? ("background" as const) : ("agent" as const),
		...defined({ launchEntry: entryId }),
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
			})),
		ends: new Map(undelivered.flatMap(([id]) => (ends.has(id) ? [[id, ends.get(id) as RestoredEnd]] : []))),
	};
}
