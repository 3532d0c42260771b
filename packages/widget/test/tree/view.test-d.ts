import type { AgentRecord, Clock, Store } from "@pi-subagents/core";
import { expectTypeOf, test } from "vitest";
import type { AgentSource, AgentView, WidgetClock } from "../../src/index.ts";

test("a record of the manager is a view", () => {
	expectTypeOf<AgentRecord>().toExtend<AgentView>();
});

test("the manager's store and its clock are what a widget needs", () => {
	expectTypeOf<Store>().toExtend<AgentSource>();
	expectTypeOf<Clock>().toExtend<WidgetClock>();
});
