/** What an agent's next run keeps of the call that launched it. */
import type { AgentRecord } from "@pi-subagents/core";
import { expect, test } from "vitest";
import { resumedParams } from "../src/launch-params.ts";
import { launching } from "./fixture.ts";

test("its machine, and whether it is run again if it is lost there", async () => {
	const it = await launching({ settings: { machines: { box: { ssh: "box" } } } });
	const { machine, retry, given, cwd, runner } = await it.resolve({ machine: "box", retry: "lost" });
	expect({ machine, retry, given }).toEqual({ machine: "box", retry: "lost", given: { retry: "lost" } });
	const record = { machine, given, cwd, runner } as AgentRecord;
	expect(await it.resolve(resumedParams(record))).toMatchObject({ machine: "box", retry: "lost" });
});
