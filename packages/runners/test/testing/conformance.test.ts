import { describe, test } from "vitest";
import { runnerConformance } from "../../../core/src/testing/index.ts";
import { fakeFixture } from "../fixtures/fake-runner.ts";
import { sessionFixture } from "../fixtures/session.ts";

describe("the fake runner", () => {
	test.each(runnerConformance)("$name", ({ run }) => run(fakeFixture));
});

describe("the session runner", () => {
	test.each(runnerConformance)("$name", ({ run }) => run(sessionFixture));
});
