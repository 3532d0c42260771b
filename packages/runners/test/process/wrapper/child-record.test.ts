import { expect, test } from "vitest";
import { handClock } from "../../../../core/src/testing/index.ts";
import { spec } from "../../../../core/test/fixtures/events.ts";
import type { Meta } from "../../../../runs/src/format/meta.ts";
import { ChildRecord } from "../../../src/process/wrapper/child-record.ts";

test("a wrapper's record describes the agent as its launch does, and counts what the child does", () => {
	const meta = { agentId: "a1", run: 2, depth: 3, isBackground: false, spec } as Meta;
	const record = new ChildRecord(meta, handClock(1_000.5));
	expect(record.current).toMatchObject({ id: "a1", run: 2, depth: 3, isBackground: false, status: "running" });
	expect(record.current).toMatchObject({ type: spec.type, task: spec.task, model: spec.model, startedAt: 1_000 });
	record.observe({ type: "tool_call", callId: "1", tool: "ls", args: {} });
	record.observe({ type: "turn", contextPercent: 12 });
	expect(record.current).toMatchObject({ turns: 1, toolUses: 1, contextPercent: 12 });
});
