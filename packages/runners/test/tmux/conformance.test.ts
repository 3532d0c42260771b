import { piUnderTest, requireTool } from "@pi-subagents-dev/testkit";
import { describe, test } from "vitest";
import { runnerConformance } from "../../../core/src/testing/index.ts";
import { everyThird } from "../../../core/test/fixtures/every-third.ts";
import { tmuxRunner } from "../../src/tmux/index.ts";
import { processFixture } from "../fixtures/process-world.ts";
import { tmuxWorld } from "../fixtures/tmux-world.ts";

describe.skipIf(!requireTool("tmux"))("the tmux runner", () => {
	const fixture = processFixture(piUnderTest(), { open: tmuxWorld, runner: tmuxRunner });
	test.each(everyThird(runnerConformance, 0))("$name", ({ run }) => run(fixture));
});
