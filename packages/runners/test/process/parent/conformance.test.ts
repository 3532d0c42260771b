import { gatePis } from "@pi-subagents-dev/testkit";
import { describe, test } from "vitest";
import { runnerConformance } from "../../../../core/src/testing/index.ts";
import { everyThird } from "../../../../core/test/fixtures/every-third.ts";
import { processFixture } from "../../fixtures/process-world.ts";

/** The wrapper's own tests have each of these moments with a pi that starts in no time. */
describe.each(await gatePis())("the process runner with pi $version", (pi) => {
	test.each(everyThird(runnerConformance, 1))("$name", ({ run }) => run(processFixture(pi)));
});
