/** What the `schedule` of a call can say. */
import { expect, test } from "vitest";
import { parseRequest } from "../../src/jobs/request.ts";

test("a time alone is kept with the session, and its results are announced", () => {
	expect(parseRequest(" 0 9 * * 1 ")).toEqual({ when: "0 9 * * 1", scope: "session", quiet: false });
});

test("behind the time stands how it is kept, in any order and case", () => {
	expect(parseRequest("@daily; Quiet ;project; zone = Europe/Berlin; runs=3; overlap=QUEUE; missed=all;")).toEqual({
		when: "@daily",
		scope: "project",
		quiet: true,
		timeZone: "Europe/Berlin",
		maxRuns: 3,
		overlap: "queue",
		missed: "all",
	});
});

test.each([
	"loud",
	"runs=0",
	"runs=1e3",
	"overlap=never",
	"missed",
	"zone=",
	"project=yes",
	"constructor",
	"__proto__=1",
])("%s is refused, with what there may be", (option) => {
	expect(() => parseRequest(`5m; ${option}`)).toThrow(/cannot be used\. After the time you can give.*project.*quiet/);
});
