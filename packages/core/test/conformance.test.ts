import { describe, test } from "vitest";
import { runnerConformance } from "../src/testing/index.ts";
import { fakeFixture } from "./fake-fixture.ts";
import { sessionFixture } from "./session-fixture.ts";

describe("the fake runner", () => {
	test.each(runnerConformance)("$name", ({ run }) => run(fakeFixture));
});

describe("the session runner", () => {
	test.each(runnerConformance)("$name", ({ run }) => run(sessionFixture));
});
