/** What the entries of a pi session say about runs. Entries may have been edited: everything is checked. Pure. */
import { isObject } from "@pi-subagents/core/internal/base";
import { type LaunchEntry, launchedRun, parseAnyEntry, settledEnd } from "@pi-subagents/runs";
import type { RunInput } from "../model/build.ts";

/** In the order of launching, by the ids of the runs. */
export function runsInSession(entries: readonly unknown[]): Map<string, RunInput> {
	const launches = new Map<string, LaunchEntry>();
	const runs = new Map<string, RunInput>();
	for (const entry of entries) {
		if (!isObject(entry) || entry.type !== "custom") continue;
		const parsed = parseAnyEntry(entry.customType, entry.data);
		if (parsed?.type === "launched") {
			launches.set(parsed.runId, parsed);
			runs.set(parsed.runId, { ...launchedRun(parsed, parsed), ...endIn(runs.get(parsed.runId)) });
		} else if (parsed?.type === "settled") {
			const [launch, run] = [launches.get(parsed.runId), runs.get(parsed.runId)];
			if (launch && run) runs.set(parsed.runId, { ...run, end: settledEnd(parsed, launch) });
		}
	}
	return runs;
}

function endIn(run: RunInput | undefined): Pick<RunInput, "end"> {
	return run?.end ? { end: run.end } : {};
}
