/** Foreign data in the tree: the jobs of a build server, which has its own words for everything. */
import { type AgentView, buildTree, fit, render, type ViewStatus } from "@pi-subagents/widget";

interface Job {
	key: string;
	startedBy?: string;
	stage: string;
	state: "waiting" | "busy" | "ok" | "broken";
	since?: number;
	log?: string;
}

const STATUS: Record<Job["state"], ViewStatus> = {
	waiting: "queued",
	busy: "running",
	ok: "completed",
	broken: "failed",
};

const viewOf = ({ key, startedBy, stage, state, since, log }: Job): AgentView => ({
	id: key,
	parentAgentId: startedBy,
	type: stage,
	status: STATUS[state],
	startedAt: since,
	...(state === "busy" ? { activity: log } : { error: log }),
});

const now = Date.parse("2027-01-01T12:00:00Z");
const jobs: Job[] = [
	{ key: "release", stage: "release", state: "busy", since: now - 95_000, log: "waiting for its parts" },
	{ key: "linux", startedBy: "release", stage: "build linux", state: "busy", since: now - 90_000, log: "linking" },
	{ key: "mac", startedBy: "release", stage: "build mac", state: "waiting" },
	{ key: "docs", startedBy: "release", stage: "docs", state: "busy", since: now - 5_000, log: "rendering page 7" },
];

print("rich", jobs);
// Two jobs have changed. A job keeps its place: the order is that of arrival.
const changed: Job[] = [
	{ key: "docs", startedBy: "release", stage: "docs", state: "broken", log: "page 8 has no title" },
	{ key: "mac", startedBy: "release", stage: "build mac", state: "busy", since: now, log: "compiling" },
];
print("compact", [...jobs, ...changed]); // the last view of an id counts

/** Spinners turn with the time, and are left out here. */
function print(mode: "rich" | "compact", current: readonly Job[]): void {
	const lines = render(fit(buildTree(current.map(viewOf)), { mode, width: 60, maxLines: 20, now }));
	console.log(`${lines.join("\n").replace(/[\u2800-\u28ff] /g, "")}\n`);
}
