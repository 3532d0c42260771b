/**
 * Why an agent does not run although it could: no slot is free, or its provider asked for a pause. Pure.
 * `Slots.reasonFor` finds the reason; this says what it is and how people read it.
 */
import { formatDuration } from "@pi-subagents/progress";
import type { Occupancy } from "./limits.ts";

export type HoldReason =
	| {
			by: "limit";
			setting: Occupancy["setting"];
			/** The provider or model that the limit is for. */
			name?: string;
			limit: number;
			/** How many that wait for the same limit come first. */
			ahead: number;
	  }
	| {
			by: "pause";
			provider: string;
			/** 0 when the pause is over and agents continue one after the other. */
			waitMs: number;
	  }
	/** The agent's previous run is still cleaning up, perhaps the same files. */
	| { by: "cleanup" };

/**
 * @example
 * ```ts
 * holdText({ by: "limit", setting: "maxConcurrent", limit: 4, ahead: 3 }); // "waiting for a slot (3 ahead)"
 * holdText({ by: "pause", provider: "anthropic", waitMs: 12_000 }); // "anthropic asks to wait 12s"
 * ```
 */
export function holdText(reason: HoldReason): string {
	switch (reason.by) {
		case "limit":
			return limitText(reason);
		case "pause":
			return reason.waitMs > 0
				? `${reason.provider} asks to wait ${formatDuration(Math.max(1_000, reason.waitMs))}`
				: `${reason.provider} asked to wait, starting soon`;
		case "cleanup":
			return "waiting for the end of its previous run";
	}
}

function limitText({ name, limit, setting, ahead }: HoldReason & { by: "limit" }): string {
	const turn = ahead === 0 ? "next" : `${ahead} ahead`;
	return name === undefined
		? `waiting for a slot (${turn})`
		: `waiting for a slot on ${name} (${turn}, ${setting} is ${limit})`;
}
