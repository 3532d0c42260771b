/** Requests of other extensions, entries of sessions, requests of browsers. */
import { strict as assert } from "node:assert";
import { parseSessionLines } from "@pi-subagents/delivery";
import { type Method, readRequest, requestChannels } from "@pi-subagents/rpc";
import fc from "fast-check";
import { readRuns } from "../../../../packages/delivery/src/journal/journal.ts";
import { verdictOn } from "../../../../packages/report/src/dashboard/guard.ts";
import { parseEntry } from "../../../../packages/runs/src/format/entries.ts";
import { changedJson, changedText, hostileText } from "../mutate.ts";
import { parsed, type Target, target, unpolluted } from "../target.ts";

const METHODS = Object.keys(requestChannels) as Method[];
const REQUESTS = [
	{
		requestId: "r",
		type: "Explore",
		prompt: "look",
		agentId: "a1",
		message: "go on",
		options: {
			description: "d",
			model: "fake/one",
			maxTurns: 3,
			cwd: "/x",
			isBackground: true,
			outputSchema: { type: "object" },
		},
		agents: [{ name: "helper", description: "d", systemPrompt: "You help.", tools: ["read"] }],
	},
	{ requestId: "r", name: "w", args: { files: ["a"] }, isBackground: true },
];

const launched = {
	...{ type: "launched", runId: "a1", agentId: "a1", run: 1, preset: "scout", description: "d", task: "t", cwd: "/x" },
	...{ runner: "session", isBackground: true, artifacts: "/x/.pi/subagents/runs/a1", startedAt: 1 },
};
const settled = {
	...{ type: "settled", runId: "a1", status: "completed", preview: "p", completedAt: 2, durationMs: 1, turns: 1 },
	...{ toolUses: 0, usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 } },
};
const ENTRIES = [
	{ id: "1", type: "custom", customType: "subagents:record", data: launched },
	{ id: "2", parentId: "1", type: "custom", customType: "subagents:record", data: settled },
	{ id: "3", type: "custom_message", customType: "subagent-notification", content: "x", details: { runIds: ["a1"] } },
];

const AUTHORITY = "127.0.0.1:4000";
const TOKEN = "s3cret-token";
const ASKED = [
	{
		method: "GET",
		url: "/live",
		headers: { host: AUTHORITY, authorization: `Bearer ${TOKEN}`, "sec-fetch-site": "same-origin" },
	},
	{ method: "GET", url: "/", headers: { host: AUTHORITY } },
];

export const boundaryTargets: Target[] = [
	target(
		"a request on the bus is read, or is an error for its sender",
		fc.tuple(fc.constantFrom(...METHODS), changedJson(REQUESTS)),
		([method, payload]) => {
			const request = parsed(() => readRequest(method, payload), Error, TypeError);
			if (request) JSON.stringify(request);
			unpolluted();
		},
	),
	target(
		"a session's file in any state gives the runs that it can",
		fc.oneof(
			changedJson([ENTRIES]).map((value) =>
				(Array.isArray(value) ? value : [value]).map((line) => JSON.stringify(line)).join("\n"),
			),
			changedText([ENTRIES.map((entry) => JSON.stringify(entry)).join("\n")]),
		),
		(text) => {
			const entries = parseSessionLines(text);
			for (const { customType, data } of entries) parseEntry(customType, data);
			for (const [runId, run] of readRuns(entries)) {
				assert.equal(run.launch.runId, runId);
				assert.match(runId, /^[\w-][\w.-]*$/);
			}
			unpolluted();
		},
	),
	target(
		"the dashboard shows data to nobody without its token and address",
		fc.oneof(
			changedJson(ASKED),
			fc.record({ method: hostileText, url: hostileText, headers: fc.dictionary(hostileText, hostileText) }),
		),
		(asked) => {
			if (typeof asked !== "object" || asked === null || typeof (asked as { headers?: unknown }).headers !== "object")
				return;
			const { method, url, headers } = asked as (typeof ASKED)[number];
			if (headers === null || ![method, url, ...Object.values(headers)].every((text) => typeof text === "string"))
				return; // Node gives only texts
			const verdict = verdictOn(asked as (typeof ASKED)[number], { authority: AUTHORITY, token: TOKEN });
			if (!("route" in verdict) || verdict.route !== "live") return;
			assert.equal(headers.authorization, `Bearer ${TOKEN}`);
			assert.equal(headers.host, AUTHORITY);
		},
	),
];
