/** The names of the directories that hold runs. Also bundled into a child's process. */

/** In a project. */
export const RUNS_PATH = [".pi", "subagents", "runs"] as const;

/** The fallback outside the project, by user and project. */
export function fallbackName(uid: number, project: string): string {
	return `pi-subagents-${uid}-${project}`;
}

/** Prefix of the temporary directory of a run that keeps no files. */
export const TEMPORARY_PREFIX = "pi-subagents-run-";

/** Whether the name is one that `fallbackName` makes. */
export function isFallbackName(name: string): boolean {
	return /^pi-subagents--?\d+-[0-9a-f]{12}(-\w{6})?$/.test(name);
}
