import { join } from "node:path";
import { isFullRun, piUnderTest, requireTool } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import type { Outcome, Runner } from "../../../core/src/index.ts";
import { type CreateFixture, runnerConformance } from "../../../core/src/testing/index.ts";
import { everyThird } from "../../../core/test/fixtures/every-third.ts";
import { worktreeRunner } from "../../../worktree/src/index.ts";
import { repo } from "../../../worktree/test/fixture.ts";
import { tmuxRunner } from "../../src/tmux/index.ts";
import { fakeFixture } from "../fixtures/fake-runner.ts";
import { processFixture } from "../fixtures/process-world.ts";
import { sessionFixture } from "../fixtures/session.ts";
import { tmuxWorld } from "../fixtures/tmux-world.ts";

/** The suite compares whole outcomes; what became of the checkout is looked at here. */
function withoutReport(runner: Runner, seen: Outcome[]): Runner {
	return {
		start(spec, emit, checkpoint) {
			const run = runner.start(spec, emit, checkpoint);
			const settled = run.settled.then((outcome) => {
				seen.push(outcome);
				const { worktree: _report, ...rest } = outcome;
				return rest;
			});
			return {
				settled,
				abort: (stop) => run.abort(stop),
				steer: (message) => run.steer(message),
				wrapUp: (reason) => run.wrapUp(reason),
			};
		},
	};
}

function inWorktrees(create: CreateFixture): CreateFixture {
	return async (script) => {
		const it = await repo();
		const fixture = await create(script);
		const seen: Outcome[] = [];
		const runner = withoutReport(worktreeRunner(fixture.runner, { dir: it.dir, git: it.git }), seen);
		return {
			...fixture,
			runner,
			spec: { ...fixture.spec, cwd: it.main, isolation: { kind: "worktree", base: "head" } },
			async cleanup() {
				await fixture.cleanup();
				expect(await it.branches()).toEqual(["main"]);
				expect(await it.run(["worktree", "list"])).not.toContain(join(it.dir, "a1"));
				for (const { worktree } of seen) expect(worktree?.branch).toBeUndefined();
			},
		};
	};
}

/** In the gate each case is tried once around a runner that is cheap to start. */
describe("the fake runner in worktrees", () => {
	const cases = [...everyThird(runnerConformance, 0), ...(isFullRun ? [] : everyThird(runnerConformance, 1))];
	test.each(cases)("$name", ({ run }) => run(inWorktrees(fakeFixture)));
});

describe("the session runner in worktrees", () => {
	test.each(everyThird(runnerConformance, 2))("$name", ({ run }) => run(inWorktrees(sessionFixture)));
});

/** Another process, or a window, changes how a child begins and how it is stopped. */
const BEGIN_AND_STOP = ["a child that completes", "a stop in a tool"];
const beginAndStop = runnerConformance.filter(({ name }) => BEGIN_AND_STOP.some((begins) => name.startsWith(begins)));

describe("the process runner in worktrees", () => {
	const cases = isFullRun ? runnerConformance : beginAndStop;
	test.each(cases)("$name", ({ run }) => run(inWorktrees(processFixture())));
});

describe.skipIf(!requireTool("tmux"))("the tmux runner in worktrees", () => {
	const fixture = inWorktrees(processFixture(piUnderTest(), { open: tmuxWorld, runner: tmuxRunner }));
	test.each(beginAndStop)("$name", ({ run }) => run(fixture));
});
