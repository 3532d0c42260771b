import type { AgentRecord } from "@pi-subagents/core";
import { expect, test } from "vitest";
import { launchEntry } from "../../src/journal/entry-content.ts";
import { eventsOf } from "../../src/restore/run-ends.ts";

const record = {
	...{ id: "a", run: 1, type: "scout", description: "look", task: "Look.", cwd: "/project", runner: "process" },
	...{ isBackground: true, depth: 1, queuedAt: 1 },
} as AgentRecord;

test.each([{ launcher: "net" }, { machine: "box" }, { given: { verify: ["npm", "test"], isolated: true } }, {}])(
	"a launch is read back from its entry as it was: %j",
	(place) => {
		const launch = JSON.parse(JSON.stringify(launchEntry({ ...record, ...place })));
		const [queued] = eventsOf({ launch, outlives: false } as Parameters<typeof eventsOf>[0], 0, undefined);
		const { launcher, machine, given } = queued?.type === "agent_queued" ? queued.agent : {};
		expect({ launcher, machine, given }).toEqual({
			launcher: undefined,
			machine: undefined,
			given: undefined,
			...place,
		});
	},
);
