/** Which parts of a run each boundary carries, and what of these stays on this side: the one list, with reasons. */
import type { Boundary } from "./boundaries.ts";

/** By the beginning of a field's name. The other parts of a run are in its other files. */
const CARRIES: Record<Boundary, readonly string[]> = {
	"meta.json": ["spec", "launch"],
	"events.jsonl": ["event"],
	"result.json": ["outcome"],
	"session entries": ["launch", "outcome"],
	orders: ["spec"],
	RPC: ["outcome"],
	registry: ["outcome"],
	"workflow recovery": ["launch"],
	replay: ["launch", "event", "outcome"],
	report: ["launch", "outcome"],
};

const WHOLE = "files hold all of what was said";
const CHECK = "the agent can write it: the spec says which command runs, and on which machine";
const LOG = "the agent can write its log: what the check said is told by the outcome";
const PLACED = "the parent is not among the runs that are shown, so the agent is shown at the top";
const AGAIN = "the workflow that continues says it again";
const ENTRY_PATHS = "sessions can be edited: a path or a command that is not of the form that we make is left out";
const ENTRY_ERROR = "the entry keeps the error in words, the files have the rest";

const OF_CHECK = {
	"outcome completed.verification.command": CHECK,
	"outcome completed.verification.on": CHECK,
	"outcome failed.verification.ok": "a check that failed is never ok",
	"outcome failed.verification.command": CHECK,
	"outcome failed.verification.on": CHECK,
};
const OF_FILE = {
	...OF_CHECK,
	"outcome completed.omitted": WHOLE,
	"outcome failed.omitted": WHOLE,
	"outcome aborted.omitted": WHOLE,
};
const OF_LOG = {
	"event assistant_text.phases": "only a workflow has phases, and an agent could claim them",
	"event verifying.command": LOG,
	"event verified.verification.command": LOG,
	"event verified.verification.on": LOG,
	"event verified.verification.durationMs": LOG,
	"event verified.verification.problem": LOG,
	"event verified.verification.tail": LOG,
};
const OF_PLACE = { "launch.parentAgentId": PLACED, "launch.depth": PLACED };

/** What the marks of a spec keep from orders is not repeated here. */
const STAYS: Partial<Record<Boundary, Readonly<Record<string, string>>>> = {
	"events.jsonl": OF_LOG,
	"result.json": OF_FILE,
	"session entries": {
		"outcome completed.worktree.path": ENTRY_PATHS,
		"outcome completed.worktree.merge": ENTRY_PATHS,
		"outcome failed.worktree.path": ENTRY_PATHS,
		"outcome failed.worktree.merge": ENTRY_PATHS,
		"outcome aborted.worktree.path": ENTRY_PATHS,
		"outcome aborted.worktree.merge": ENTRY_PATHS,
		"outcome failed.structured": ENTRY_ERROR,
		"outcome failed.structured.error": ENTRY_ERROR,
		"outcome failed.structured.validationErrors": ENTRY_ERROR,
		"outcome failed.structured.rawPreview": ENTRY_ERROR,
	},
	orders: { "spec.cwd": "the agent's directory there is always its own" },
	"workflow recovery": {
		"launch.parentAgentId": AGAIN,
		"launch.depth": AGAIN,
		"launch.isBackground": AGAIN,
	},
	replay: { ...OF_PLACE, ...OF_LOG, ...OF_FILE },
	report: {
		...OF_PLACE,
		...OF_FILE,
		"outcome completed.wrappedUp": "a report shows the answer, not how it was asked for",
		"outcome completed.by": "a report shows the answer, not how it was asked for",
		"outcome completed.structured.preview": "a report shows the data",
		"outcome failed.structured.error": "a report shows each mismatch",
		"outcome failed.structured.rawPreview": "a report shows the answer",
	},
};

export function carries(boundary: Boundary, part: string): boolean {
	return CARRIES[boundary].some((name) => part.startsWith(name));
}

/** Why the field stays; undefined if it must arrive. */
export function stays(boundary: Boundary, field: string): string | undefined {
	return STAYS[boundary]?.[field];
}
