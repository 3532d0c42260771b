/** Answers of models and programs: JSON in texts, schemas, what a check prints, headers of providers, names of servers. */
import { strict as assert } from "node:assert";
import { AgentError } from "@pi-subagents/core";
import { extractJson, judgeAnswer, parseOutputSchema } from "@pi-subagents/core/output";
import { createLineSplitter, fence, normalize, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import fc from "fast-check";
import { judgeJson } from "../../../../packages/core/src/output/check-answer.ts";
import { pauseAfter, rateLimitOf, retryAfterOf } from "../../../../packages/core/src/queue/retry-hint.ts";
import { mcpToolName, parseMcpEntry } from "../../../../packages/core/src/resolve/mcp-names.ts";
import { changedFile, changedJson, changedText, hostileText } from "../mutate.ts";
import { parsed, presentable, type Target, target, unpolluted } from "../target.ts";

const SCHEMA = {
	type: "object",
	required: ["files"],
	properties: {
		files: { type: "array", items: { $ref: "#/$defs/file" }, maxItems: 3, uniqueItems: true },
		state: { enum: ["a", "b"] },
		text: { type: "string", pattern: "^a+$", maxLength: 5 },
	},
	$defs: { file: { type: "object", properties: { name: { type: "string" } }, additionalProperties: false } },
	allOf: [{ not: { required: ["x"] } }],
};
const ANSWER = { files: [{ name: "a" }], state: "a", text: "aaa" };
const TEXTS = [
	`Done.\n\`\`\`json\n${JSON.stringify(ANSWER, undefined, 2)}\n\`\`\`\nThat is all.`,
	JSON.stringify(ANSWER),
];
const HEADERS = {
	"retry-after": "3",
	"x-ratelimit-reset-requests": "1m30s",
	"anthropic-ratelimit-requests-reset": "2027-01-01T00:00:00Z",
};
const ERRORS = [
	"429 Too Many Requests: retry-after: 20",
	'{"error":{"type":"rate_limit","message":"Please try again in 1m20.5s."}}',
	"Resource exhausted. retryDelay: 33s; Retry-After: Fri, 31 Dec 2027 23:59:59 GMT",
];
const EVENTS = [
	{ type: "tool_execution_start", toolCallId: "c", toolName: "read", args: { path: "x" } },
	{
		type: "message_end",
		message: { role: "assistant", content: [{ type: "text", text: "hi" }], usage: { input: 1 }, stopReason: "stop" },
	},
];
const NOW = Date.UTC(2027, 0, 1);

/** Headers are texts. */
function textsIn(value: unknown): Record<string, string> {
	const pairs = typeof value === "object" && value !== null ? Object.entries(value) : [];
	return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}

export const answerTargets: Target[] = [
	target("a schema is usable, or refused with the place", changedJson([SCHEMA]), (value) => {
		const schema = parsed(() => parseOutputSchema(value), AgentError);
		if (schema) assert.deepEqual(parseOutputSchema(JSON.stringify(schema)), schema);
		unpolluted();
	}),
	target("JSON is found in a text, or not", changedText(TEXTS), (text) => {
		const found = extractJson(text);
		if ("problem" in found) presentable(found.problem, 2_000);
		else assert.deepEqual(JSON.parse(found.json), found.data);
	}),
	target(
		"what a provider says about a pause is a time, or nothing",
		fc.tuple(changedJson([HEADERS]), changedText(ERRORS)),
		([headers, error]) => {
			const times = [retryAfterOf(textsIn(headers), NOW), rateLimitOf(error, NOW), pauseAfter({ error }, NOW, 5_000)];
			for (const ms of times) assert.ok(ms === undefined || (Number.isFinite(ms) && ms >= 0), `it is ${ms}`);
		},
	),
	target(
		"the name of an MCP tool is one, however it is written",
		changedText(["mcp:my-server/tool", "mcp__a__b", "mcp:a"]),
		(text) => {
			const entry = parseMcpEntry(text);
			if (entry) assert.match(mcpToolName(entry), /^mcp__\w+?__(?:\w+|\*)$/);
		},
	),
	target("pi's events become ours, or nothing", changedJson(EVENTS), (value) => {
		for (const event of normalize(value as never)) JSON.stringify(event);
	}),
	target("text is fit for a terminal, and cannot leave its fence", fc.array(hostileText, { maxLength: 6 }), (parts) => {
		const text = parts.join("");
		presentable(sanitize(text), 300_000);
		presentable(sanitizeBlock(text).replaceAll("\t", ""), 500_000);
		const fenced = fence("log", text);
		const tag = /^<(log-\w+)>/.exec(fenced)?.[1] ?? "";
		assert.equal(fenced.split(`</${tag}>`).length, 2);
	}),
	target(
		"bytes in any pieces give the same lines",
		fc.array(changedFile(["a\nb\r\nc\n"]), { maxLength: 5 }),
		(pieces) => {
			const lines = (chunks: readonly Buffer[]) => {
				const found: string[] = [];
				const splitter = createLineSplitter({ onLine: (line) => void found.push(line) });
				for (const chunk of chunks) splitter.push(chunk);
				return found;
			};
			assert.deepEqual(lines(pieces), lines([Buffer.concat(pieces)]));
		},
	),
];

/** Each needs a thread, so there are fewer of them. */
export const judgementTargets: Target[] = [
	target(
		"an answer is judged by any schema, in time",
		fc.tuple(changedText(TEXTS), changedJson([SCHEMA])),
		async ([text, value]) => {
			const schema = parsed(() => parseOutputSchema(value), AgentError);
			if (!schema) return;
			const { result } = await judgeAnswer(text, schema);
			if (!result.ok) presentable(result.error, 2_000);
			else JSON.stringify(result);
		},
	),
	target(
		"what a check prints is JSON for the result, or an error",
		fc.tuple(changedText(TEXTS), fc.boolean()),
		async ([text, hasSchema]) => {
			const result = await judgeJson(text, hasSchema ? SCHEMA : undefined);
			if (!result.ok) presentable(result.error, 2_000);
			else JSON.stringify(result);
		},
	),
];
