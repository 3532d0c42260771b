/** What a person's box is drawn from, beside the text for the model. */
import type { AgentRecord } from "@pi-subagents/core";
import type { Outcome } from "@pi-subagents/progress";
import { expect, test } from "vitest";
import { notificationFor } from "../../src/notify/notification-text.ts";
import { recordOf } from "./fixture.ts";

test("the box of a run whose check failed has the end of what the check printed", () => {
	const verification = {
		ok: false,
		command: "npm test",
		problem: "npm test exited with code 1 (2s)",
		tail: "not ok 3",
	};
	const outcome: Outcome = { status: "failed", error: "Not verified: npm test exited with code 1 (2s)", verification };
	const [agent] = notificationFor([{ record: recordOf(outcome), form: "full", isUnfiled: false }]).details.agents;
	expect(agent).toMatchObject({
		summary: expect.stringContaining("npm test exited with code 1"),
		checkOutput: "not ok 3",
	});
});

test("the box of an agent that the user started has as much of its answer as the model gets", () => {
	const record = recordOf({ status: "completed", text: "x".repeat(5_000) });
	const boxOf = (each: AgentRecord) =>
		notificationFor([{ record: each, form: "full", isUnfiled: false }]).details.agents[0]?.preview.length;
	expect([boxOf(record), boxOf({ ...record, launchedBy: "user" })]).toEqual([1_000, 5_000]);
});
