import { gatePis } from "@pi-subagents-dev/testkit";
import { describe, test } from "vitest";
import { runnerConformance } from "../../../src/testing/index.ts";
import { processFixture } from "../../fixtures/process-world.ts";

describe.each(await gatePis())("the process runner with pi $version", (pi) => {
	test.each(runnerConformance)("$name", ({ run }) => run(processFixture(pi)), 60_000);
});
