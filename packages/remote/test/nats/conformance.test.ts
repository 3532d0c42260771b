import { runnerConformance } from "@pi-subagents/core/testing";
import { piUnderTest } from "@pi-subagents-dev/testkit";
import { describe, test } from "vitest";
import { wrapperFixture } from "../../../runners/test/fixtures/process-world.ts";
import { remoteRunner } from "../../src/index.ts";
import { hasNats } from "../fixtures/nats-engine.ts";
import { natsWorld } from "../fixtures/nats-world.ts";

describe.skipIf(!hasNats)("the remote runner over nats", () => {
	const fixture = wrapperFixture(piUnderTest(), { open: natsWorld, runner: remoteRunner });
	test.each(runnerConformance)("$name", ({ run }) => run(fixture));
});
