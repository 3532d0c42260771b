/**
 * What earlier versions did not write, added before a file is checked, so that the schemas say what is written today and
 * readers need no cases for the past. The one place that knows earlier formats of files and entries. Pure.
 */
import { isObject } from "@pi-subagents/core/internal/base";

/** `meta.json` said nothing of the launch, and had no time of queuing. */
export function upgradedMeta(meta: unknown): unknown {
	return isObject(meta) ? { queuedAt: meta.createdAt, depth: 1, isBackground: false, ...meta } : meta;
}
