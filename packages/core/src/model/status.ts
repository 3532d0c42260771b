/** The six states an agent can be in. The last three are settled: nothing changes them but a new run. */

export type Status = "queued" | "running" | "waiting" | "completed" | "failed" | "aborted";

export type SettledStatus = Extract<Status, "completed" | "failed" | "aborted">;

export function isSettled(status: Status): status is SettledStatus {
	return status === "completed" || status === "failed" || status === "aborted";
}
