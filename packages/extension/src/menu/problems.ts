/** What is wrong with a preset's file, in words. Pure. */
import type { Problem } from "@pi-subagents/presets";
import { sanitize } from "@pi-subagents/progress";

export function isError({ severity }: Problem): boolean {
	return severity === "error";
}

export function problemText({ line, message }: Problem): string {
	return `${line === undefined ? "" : `line ${line}: `}${sanitize(message)}`;
}
