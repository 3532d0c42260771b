import { runnerConformance } from "@pi-subagents/core/testing";
import { piUnderTest } from "@pi-subagents-dev/testkit";
import { describe, test } from "vitest";
import { everyThird } from "../../../core/test/fixtures/every-third.ts";
import { wrapperFixture } from "../../../core/test/fixtures/process-world.ts";
import { remoteRunner } from "../../src/index.ts";
import { remoteWorld } from "../fixtures/remote-world.ts";

describe("the remote runner over a pipe", () => {
	const fixture = wrapperFixture(piUnderTest(), { open: remoteWorld, runner: remoteRunner });
	test.each(everyThird(runnerConformance, 1))("$name", ({ run }) => run(fixture), 60_000);
});
