/** A process child of ours must not offer our tools again: it would spawn without end. */

const CHILD_FLAG = "PI_SUBAGENTS_CHILD";

export function isInsideChild(env: Record<string, string | undefined>): boolean {
	return env[CHILD_FLAG] === "1";
}
