import { expect, test } from "vitest";
import { type Asked, verdictOn } from "../../src/dashboard/guard.ts";

const guarded = { authority: "127.0.0.1:4321", token: "t0ken" };
const good: Asked = {
	method: "GET",
	url: "/live",
	headers: { host: "127.0.0.1:4321", authorization: "Bearer t0ken", "sec-fetch-site": "same-origin" },
};
const asked = (change: Partial<Asked>, headers: Asked["headers"] = {}) =>
	verdictOn({ ...good, ...change, headers: { ...good.headers, ...headers } }, guarded);
const statusOf = (verdict: ReturnType<typeof asked>) => ("route" in verdict ? verdict.route : verdict.status);

test("the page is for anybody who opens it, the data for those with the token", () => {
	expect(asked({})).toEqual({ route: "live" });
	expect(asked({ method: "HEAD" })).toEqual({ route: "live" });
	expect(asked({ url: "/" }, { authorization: undefined, "sec-fetch-site": "none" })).toEqual({ route: "page" });
	expect(asked({}, { origin: "http://127.0.0.1:4321", "sec-fetch-site": undefined })).toEqual({ route: "live" });
});

test.each([
	["no token", {}, { authorization: undefined }, 401],
	["an empty token", {}, { authorization: "Bearer " }, 401],
	["a wrong token", {}, { authorization: "Bearer t0keN" }, 401],
	["more than the token", {}, { authorization: "Bearer t0ken " }, 401],
	["another scheme", {}, { authorization: "Basic t0ken" }, 401],
	["a token in the query", { url: "/live?token=t0ken" }, {}, 404],
	["a name that was made to point here", {}, { host: "evil.example:4321" }, 403],
	["another name of this machine", {}, { host: "localhost:4321" }, 403],
	["another port", {}, { host: "127.0.0.1:1" }, 403],
	["no host", {}, { host: undefined }, 403],
	["a foreign origin", {}, { origin: "https://evil.example" }, 403],
	["another port of this machine as origin", {}, { origin: "http://127.0.0.1:1" }, 403],
	["an origin without a name, as of a frame", {}, { origin: "null" }, 403],
	["a foreign page", {}, { "sec-fetch-site": "cross-site" }, 403],
	["a page of another port of this machine", {}, { "sec-fetch-site": "same-site" }, 403],
	["a foreign page that leads to the page", { url: "/" }, { "sec-fetch-site": "cross-site" }, 403],
	["a path that does not exist", { url: "/../live" }, {}, 404],
	["a name that every object has", { url: "constructor" }, {}, 404],
	["a very long path", { url: `/${"x".repeat(7_000)}` }, {}, 404],
	...["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"].map(
		(method) => [method, { method }, {}, 405] as const,
	),
] as [string, Partial<Asked>, Asked["headers"], number][])("refused: %s", (_what, change, headers, status) => {
	expect(statusOf(asked(change, headers))).toBe(status);
});
