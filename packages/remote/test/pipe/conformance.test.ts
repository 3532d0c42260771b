import { runnerConformance } from "@pi-subagents/core/testing";
import { isFullRun, piUnderTest } from "@pi-subagents-dev/testkit";
import { describe, test } from "vitest";
import { wrapperFixture } from "../../../runners/test/fixtures/process-world.ts";
import { remoteRunner } from "../../src/index.ts";
import { remoteWorld } from "../fixtures/remote-world.ts";

/** In the gate only a few, since the process runner passes them all around the same wrapper: work, a stop, a steer, a checkpoint. */
const cases = runnerConformance.filter((_case, index) => isFullRun || index % 6 === 0);

describe("the remote runner over a pipe", () => {
	const fixture = wrapperFixture(piUnderTest(), { open: remoteWorld, runner: remoteRunner });
	test.each(cases)("$name", ({ run }) => run(fixture));
});
