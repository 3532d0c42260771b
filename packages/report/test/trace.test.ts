import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import { expect, onTestFinished, test } from "vitest";
import {
	buildReport,
	type ChromeTrace,
	chromeTrace,
	type OtlpSpan,
	otlpTarget,
	otlpTraces,
	sendTraces,
} from "../src/index.ts";
import { family } from "./fixtures/runs.ts";

const report = buildReport(family(), { now: 99_999 });
const spansIn = (traces: ReturnType<typeof otlpTraces>) =>
	traces.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
const attribute = ({ attributes }: OtlpSpan, wanted: string) =>
	Object.values(attributes.find(({ key }) => key === wanted)?.value ?? {})[0];

test("a Chrome trace has a thread for each run, and in each thread events nest", () => {
	const { traceEvents } = chromeTrace(report);
	const threads = Map.groupBy(
		traceEvents.filter(({ ph }) => ph === "X"),
		({ tid }) => tid,
	);
	expect(threads.size).toBe(3 + 1); // the boss, the scout, and what overlaps in it twice
	for (const events of threads.values())
		for (const a of events)
			for (const b of events) {
				const [endA, endB] = [a.ts + (a.dur ?? 0), b.ts + (b.dur ?? 0)];
				expect(endA <= b.ts || endB <= a.ts || (a.ts <= b.ts && endB <= endA) || (b.ts <= a.ts && endA <= endB)).toBe(
					true,
				);
			}
	const titlesIn = (trace: ChromeTrace) =>
		trace.traceEvents.filter(({ cat }) => cat === "agent").map(({ name }) => name);
	expect(titlesIn(chromeTrace(report))).toEqual(["scout", "scout"]);
	expect(titlesIn(chromeTrace(report, { hasContent: true }))).toEqual(["task of boss", "task of scout"]);
});

test("OTLP: an agent is below the call that launched it, with its own tokens only", () => {
	const spans = spansIn(otlpTraces(report));
	const named = (name: string) => spans.find((span) => span.name === name);
	const [boss, scout, call] = ["invoke_agent scout", "invoke_agent scout", "execute_tool Agent"].map(named);
	expect(boss).toBe(scout); // both have the same preset; the first is the boss
	const runs = spans.filter(({ name }) => name.startsWith("invoke_agent"));
	expect(runs.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, call?.spanId]);
	expect(runs.map((span) => attribute(span, "gen_ai.usage.input_tokens"))).toEqual(["30", "16"]);
	const chats = spans.filter(({ name }) => name === "chat one");
	expect(chats.reduce((sum, span) => sum + Number(attribute(span, "gen_ai.usage.input_tokens") ?? 0), 0)).toBe(46);
	expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
	expect(spansIn(otlpTraces(report))).toEqual(spans); // the ids are stable
});

test("OTLP: every name is one of the published conventions of the version that the traces claim", () => {
	const traces = otlpTraces(report, { hasContent: true });
	const published = new Set<unknown>(Object.values(conventions));
	const spans = spansIn(traces);
	const resource = traces.resourceSpans.flatMap((each) => each.resource.attributes);
	const keys = new Set([...spans.flatMap(({ attributes }) => attributes), ...resource].map(({ key }) => key));
	expect([...keys].filter((key) => !key.startsWith("pi_subagents.") && !published.has(key))).toEqual([]);
	expect([...keys].filter((key) => key.startsWith("gen_ai.")).length).toBeGreaterThan(9);
	const operations = new Set(spans.map((span) => attribute(span, "gen_ai.operation.name")));
	const known = [
		conventions.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
		conventions.GEN_AI_OPERATION_NAME_VALUE_CHAT,
		conventions.GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL,
	];
	expect(operations).toEqual(new Set([...known, undefined])); // queues, retries and the like have none
	const load = createRequire(import.meta.url);
	const { version } = load(join(dirname(load.resolve("@opentelemetry/semantic-conventions")), "../../package.json"));
	expect(traces.resourceSpans[0]?.schemaUrl).toBe(`https://opentelemetry.io/schemas/${version}`);
});

test("OTLP: contents are left out unless wanted, and a given trace is continued", () => {
	const secretive = JSON.stringify(otlpTraces(report));
	for (const text of ["Look around.", "Left.", "overloaded"]) expect(secretive).not.toContain(text);
	expect(JSON.stringify(otlpTraces(report, { hasContent: true }))).toContain("Look around.");
	const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
	const [first] = spansIn(otlpTraces(report, { traceparent }));
	expect(first).toMatchObject({ traceId: "a".repeat(32), parentSpanId: "b".repeat(16) });
	expect(spansIn(otlpTraces(report, { traceparent: "nonsense" }))[0]).not.toHaveProperty("parentSpanId");
});

test("OTLP: the published protos know every field", () => {
	const load = createRequire(import.meta.url);
	const { opentelemetry } = load("@opentelemetry/otlp-transformer/build/src/generated/root.js");
	const Request = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
	const traces = otlpTraces(report, { hasContent: true });
	const message = Request.fromObject(bytesIn(traces));
	expect(Request.verify(message)).toBeNull();
	const back = Request.toObject(Request.decode(Request.encode(message).finish()), { longs: String, bytes: String });
	// What the protos do not know would be missing now.
	const [sent, received] = [spansIn(traces), spansIn(back)].map((spans) =>
		spans.map((span) => Object.keys(span).sort()),
	);
	expect(received).toEqual(sent?.map((keys) => keys));
	expect(spansIn(back)[0]?.attributes).toEqual(spansIn(traces)[0]?.attributes);
});

test("traces go to the collector that the environment names, with its headers", async () => {
	const received: { url: string | undefined; key: string | undefined; body: string }[] = [];
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const part of request) body += part;
		received.push({ url: request.url, key: request.headers["x-key"] as string, body });
		response.writeHead(received.length === 1 ? 200 : 401).end("no such key");
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	onTestFinished(() => void server.close());
	const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const target = otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: `${base}/`, OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b" });
	if (!target) throw new Error("no target");
	await sendTraces(otlpTraces(report), target);
	expect(received).toEqual([{ url: "/v1/traces", key: "a b", body: JSON.stringify(otlpTraces(report)) }]);
	await expect(sendTraces(otlpTraces(report), target)).rejects.toThrow(/refused the traces: 401 no such key/);
	expect(otlpTarget({})).toBeUndefined();
	expect(() => otlpTarget({ OTEL_EXPORTER_OTLP_ENDPOINT: "file:///etc/passwd" })).toThrow("no address for traces");
});

/** JSON has ids in hexadecimal; the protos have bytes. */
function bytesIn(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(bytesIn);
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value).map(([key, each]) => [
		key,
		/(?:trace|[sS]pan)Id$/.test(key) && typeof each === "string" ? Buffer.from(each, "hex") : bytesIn(each),
	]);
	return Object.fromEntries(entries);
}
