/**
 * A report as OpenTelemetry spans in OTLP/JSON, after the semantic conventions for generative AI, version 1.37.0:
 * `invoke_agent` for a run, `chat` for a model's answer, `execute_tool` for a tool. Pure; no SDK.
 */

import { checkArguments } from "@pi-subagents/progress";
import { runSpanId, traceHash, traceOf } from "@pi-subagents/runs";
import type { Report, ReportAgent, Span } from "../model/types.ts";

const SCHEMA_URL = "https://opentelemetry.io/schemas/1.37.0";

export interface OtlpOptions {
	/** The trace that all belongs to, as in W3C's `traceparent`; a trace of its own when absent or invalid. */
	traceparent?: string;
	/** Includes tasks, answers and errors. Default false: they may be confidential. */
	hasContent?: boolean;
}

/** The body of a request to `/v1/traces`. */
export interface OtlpTraces {
	resourceSpans: { resource: { attributes: OtlpAttribute[] }; scopeSpans: OtlpScope[]; schemaUrl: string }[];
}

export interface OtlpScope {
	scope: { name: string };
	spans: OtlpSpan[];
}

export interface OtlpSpan {
	traceId: string;
	spanId: string;
	parentSpanId?: string;
	name: string;
	/** 1: internal, 3: client. */
	kind: 1 | 3;
	startTimeUnixNano: string;
	endTimeUnixNano: string;
	attributes: OtlpAttribute[];
	/** 1: ok, 2: error. */
	status: { code: 0 | 1 | 2; message?: string };
}

export interface OtlpAttribute {
	key: string;
	value: { stringValue: string } | { intValue: string } | { doubleValue: number };
}

/**
 * The ids follow from those of the runs: the same report gives the same spans. An agent is below the `execute_tool` that
 * launched it, and its tokens are its own only, so that sums over a trace are right.
 *
 * @example
 * ```ts
 * await writeFile("traces.json", JSON.stringify(otlpTraces(report)));
 * ```
 */
export function otlpTraces(report: Report, options: OtlpOptions = {}): OtlpTraces {
	checkArguments({ report: [report, "object"], "report.agents": [report?.agents, "array"] });
	const trace = traceOf(report.sessionId ?? report.agents[0]?.id, options.traceparent);
	const launches = new Map(
		report.agents.flatMap(({ id, spans }) =>
			spans.flatMap(({ callId }) =>
				callId === undefined ? [] : [[`${id} ${callId}`, callSpanId(id, callId)] as const],
			),
		),
	);
	const spans = report.agents.flatMap((agent) => {
		const { parentId, callId } = agent;
		const above =
			parentId === undefined ? trace.parentSpanId : (launches.get(`${parentId} ${callId}`) ?? runSpanId(parentId));
		return spansOf(agent, { traceId: trace.traceId, above, hasContent: options.hasContent ?? false });
	});
	const resource = { attributes: attributes({ "service.name": "pi-subagents", "session.id": report.sessionId }) };
	return {
		resourceSpans: [
			{ resource, scopeSpans: [{ scope: { name: "@pi-subagents/report" }, spans }], schemaUrl: SCHEMA_URL },
		],
	};
}

interface SpanContext {
	traceId: string;
	above: string | undefined;
	hasContent: boolean;
}

function spansOf(agent: ReportAgent, { traceId, above, hasContent }: SpanContext): OtlpSpan[] {
	const { id, preset, name, status, model, usage, queuedAt, endedAt, error, stoppedBy } = agent;
	const title = name ?? preset;
	const content = hasContent
		? {
				"gen_ai.input.messages": message("user", agent.task),
				"gen_ai.output.messages": agent.answer === undefined ? undefined : message("assistant", agent.answer),
			}
		: {};
	const run: OtlpSpan = {
		traceId,
		spanId: runSpanId(id),
		...(above === undefined ? {} : { parentSpanId: above }),
		name: `invoke_agent ${title}`,
		kind: 1,
		...times(queuedAt, endedAt),
		attributes: attributes({
			"gen_ai.operation.name": "invoke_agent",
			"gen_ai.agent.id": agent.agentId,
			"gen_ai.agent.name": title,
			"gen_ai.conversation.id": agent.agentId,
			...modelAttributes(model),
			...usageAttributes(usage),
			"error.type": status === "failed" ? "agent_failed" : status === "aborted" ? "agent_aborted" : undefined,
			...content,
		}),
		status: statusOf(status === "failed" || status === "aborted", hasContent ? (error ?? stoppedBy) : undefined),
	};
	const below = agent.spans.map((span, index) => childOf(agent, span, { index, traceId, hasContent }));
	return [run, ...below];
}

function childOf(
	agent: ReportAgent,
	span: Span,
	{ index, traceId, hasContent }: { index: number; traceId: string; hasContent: boolean },
): OtlpSpan {
	const { kind, callId, tool, model, usage, error, label, start, end } = span;
	const isCall = tool !== undefined;
	const answering = model ?? agent.model;
	return {
		traceId,
		spanId: isCall && callId !== undefined ? callSpanId(agent.id, callId) : traceHash(`${agent.id} span ${index}`, 16),
		parentSpanId: runSpanId(agent.id),
		name: isCall ? `execute_tool ${tool}` : kind === "model" ? `chat ${modelName(answering)}` : kind,
		kind: kind === "model" ? 3 : 1,
		...times(start, end),
		attributes: attributes({
			...(isCall
				? { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.call.id": callId }
				: {}),
			...(kind === "model"
				? { "gen_ai.operation.name": "chat", ...modelAttributes(answering), ...(usage ? usageAttributes(usage) : {}) }
				: {}),
			"pi_subagents.span.kind": kind,
			"pi_subagents.span.label": hasContent ? label : undefined,
			"error.type": error === undefined ? undefined : kind === "model" ? "provider_error" : `${kind}_error`,
		}),
		status: statusOf(error !== undefined, hasContent ? error : undefined),
	};
}

function statusOf(isError: boolean, message: string | undefined): OtlpSpan["status"] {
	return isError ? { code: 2, ...(message === undefined ? {} : { message }) } : { code: 0 };
}

function modelAttributes(model: string): Values {
	const provider = model.includes("/") ? model.slice(0, model.indexOf("/")) : undefined;
	return { "gen_ai.provider.name": provider, "gen_ai.request.model": modelName(model) };
}

function modelName(model: string): string {
	return model.slice(model.indexOf("/") + 1);
}

/** The convention counts cached tokens as input. */
function usageAttributes({ input, output, cacheRead, cacheWrite, cost }: ReportAgent["usage"]): Values {
	return {
		"gen_ai.usage.input_tokens": input + cacheRead + cacheWrite,
		"gen_ai.usage.output_tokens": output,
		"pi_subagents.usage.cache_read_tokens": cacheRead,
		"pi_subagents.usage.cache_write_tokens": cacheWrite,
		"pi_subagents.usage.cost_usd": { double: cost },
	};
}

function message(role: string, content: string): string {
	return JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
}

type Values = Record<string, string | number | { double: number } | undefined>;

function attributes(values: Values): OtlpAttribute[] {
	return Object.entries(values).flatMap(([key, value]): OtlpAttribute[] => {
		if (value === undefined) return [];
		if (typeof value === "string") return [{ key, value: { stringValue: value } }];
		if (typeof value === "object") return [{ key, value: { doubleValue: value.double } }];
		return [{ key, value: { intValue: String(value) } }];
	});
}

/** Nanoseconds do not fit a number. */
function times(start: number, end: number) {
	return { startTimeUnixNano: `${start}000000`, endTimeUnixNano: `${end}000000` };
}

function callSpanId(id: string, callId: string): string {
	return traceHash(`call ${id} ${callId}`, 16);
}
