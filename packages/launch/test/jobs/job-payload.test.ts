/** What a job launches, as its file keeps it. */
import { expect, test } from "vitest";
import { keptCall, parseCall } from "../../src/jobs/job-payload.ts";

test("a job runs where its call said, and is run again if the call said so", () => {
	const call = { preset: "scout", task: "Look.", machine: "box", retry: "lost" as const };
	const kept = JSON.parse(JSON.stringify(keptCall(call, false)));
	expect(parseCall({ ...kept, runner: "tmux" })).toEqual({ ...call, description: "Look.", quiet: false });
});
