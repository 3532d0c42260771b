import type { AgentRecord } from "@pi-subagents/core";
import { expectTypeOf, test } from "vitest";
import type { AgentView } from "../src/index.ts";

test("a record of the manager is a view", () => {
	expectTypeOf<AgentRecord>().toExtend<AgentView>();
});
