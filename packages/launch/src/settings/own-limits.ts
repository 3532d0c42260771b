/**
 * What the user's own settings limit, as fields of a preset: neither a project's preset nor what its settings say about
 * one asks for more. The user's own presets may, and so may those of packages and of pi: the user chose them. Pure.
 */
import { defined, isObject } from "@pi-subagents/core/internal/base";
import type { PresetFields } from "@pi-subagents/presets";
import type { LayerValues } from "./settings.ts";

const MINUTE_MS = 60_000;

/** What the user set themselves: a default is not their limit. */
export function ownLimits({ idleTimeoutMinutes, defaultMaxTurns, worktree }: LayerValues): PresetFields {
	const setupTimeoutMs = isObject(worktree) ? minutes(worktree.setupTimeoutMinutes) : undefined;
	return defined({
		maxTurns: typeof defaultMaxTurns === "number" ? defaultMaxTurns : undefined,
		idleTimeoutMs: minutes(idleTimeoutMinutes),
		worktree: setupTimeoutMs === undefined ? undefined : { setupTimeoutMs },
	});
}

/** Where the user wants agents to run: what a project's settings say about a preset does not move it. */
export function ownPlace({ runner, machine }: LayerValues): PresetFields {
	const isNamed = typeof machine === "string" && machine !== "";
	return { ...(isNamed ? { machine } : {}), ...defined({ runner: runner as PresetFields["runner"] }) };
}

function minutes(value: unknown): number | undefined {
	return typeof value === "number" ? value * MINUTE_MS : undefined;
}

/** The fields of which `asked`, a project's, allow more than the user, with what counts instead. 0 is no limit. */
export function heldBy(limits: PresetFields, asked: PresetFields): PresetFields {
	const { maxTurns, idleTimeoutMs, worktree } = asked;
	const setupTimeoutMs = held(limits.worktree?.setupTimeoutMs, worktree?.setupTimeoutMs);
	return defined({
		maxTurns: held(limits.maxTurns, maxTurns),
		idleTimeoutMs: held(limits.idleTimeoutMs, idleTimeoutMs),
		worktree: setupTimeoutMs === undefined ? undefined : { ...worktree, setupTimeoutMs },
	});
}

/** The user's limit, if the project asks for more. */
function held(own: number | undefined, asked: number | undefined): number | undefined {
	const isWider = own !== undefined && own > 0 && asked !== undefined && (asked === 0 || asked > own);
	return isWider ? own : undefined;
}
