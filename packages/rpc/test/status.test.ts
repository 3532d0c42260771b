import { expect, test } from "vitest";
import { isV2Failure, toV2Status } from "../src/index.ts";

test.each([
	["queued", undefined, "queued", false],
	["running", undefined, "running", false],
	["waiting", undefined, "running", false],
	["completed", {}, "completed", false],
	["completed", { wrappedUp: true }, "steered", false],
	["failed", {}, "error", true],
	["aborted", { by: "user" }, "stopped", true],
	["aborted", { by: "parent" }, "stopped", true],
	["aborted", { by: "shutdown" }, "stopped", true],
	["aborted", { by: "turns" }, "aborted", true],
	["aborted", { by: "timeout" }, "aborted", true],
	["aborted", { by: "idle" }, "aborted", true],
	["aborted", { by: "budget" }, "aborted", true],
	["aborted", { by: "lost" }, "error", true],
	["aborted", { by: "constructor" }, "aborted", true],
	["aborted", undefined, "aborted", true],
] as const)("%s %j is called %s", (status, outcome, expected, isFailure) => {
	expect(toV2Status(status, outcome && { status, ...outcome })).toBe(expected);
	expect(isV2Failure(expected)).toBe(isFailure);
});
