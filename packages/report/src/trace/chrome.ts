/** A report in Chrome's trace format, which Perfetto, speedscope and chrome://tracing read. Pure. */
import { checkArguments } from "@pi-subagents/progress";
import type { Report, ReportAgent, Span } from "../model/types.ts";

/** The fields of the format that we use. Times are microseconds. */
export interface ChromeTrace {
	displayTimeUnit: "ms";
	traceEvents: ChromeEvent[];
}

export interface ChromeEvent {
	name: string;
	cat: string;
	/** `X`: a complete event; `M`: the name of a process or a thread. */
	ph: "X" | "M";
	ts: number;
	dur?: number;
	pid: number;
	tid: number;
	args: Record<string, unknown>;
}

export interface ChromeOptions {
	/** Includes tasks, answers, labels and errors. Default false: they may be confidential. */
	hasContent?: boolean;
}

const PID = 1;

/**
 * Each run is a thread; spans that overlap in one, such as parallel tools, get further threads below it, because events
 * of a thread must nest.
 *
 * @example
 * ```ts
 * await writeFile("trace.json", JSON.stringify(chromeTrace(report)));
 * ```
 */
export function chromeTrace(report: Report, { hasContent = false }: ChromeOptions = {}): ChromeTrace {
	checkArguments({ report: [report, "object"], "report.agents": [report?.agents, "array"] });
	const traceEvents: ChromeEvent[] = [named("process_name", 0, hasContent ? report.title : "pi-subagents")];
	let tid = 0;
	for (const agent of report.agents) {
		const lanes = lanesOf(agent.spans);
		for (const [index, spans] of lanes.entries()) {
			tid++;
			const title = `${"  ".repeat(agent.depth - 1)}${agent.name ?? agent.preset} ${agent.id}`;
			traceEvents.push(named("thread_name", tid, index === 0 ? title : `${title} (${index + 1})`));
			traceEvents.push({ ...named("thread_sort_index", tid, ""), args: { sort_index: tid } });
			if (index === 0) traceEvents.push(runEvent(agent, tid, hasContent));
			for (const span of spans) traceEvents.push(spanEvent(span, tid, hasContent));
		}
	}
	return { displayTimeUnit: "ms", traceEvents };
}

/** Spans that do not overlap share a lane. There is at least one. */
function lanesOf(spans: readonly Span[]): Span[][] {
	const lanes: Span[][] = [[]];
	for (const span of spans) {
		const free = lanes.find((lane) => (lane.at(-1)?.end ?? 0) <= span.start);
		if (free) free.push(span);
		else lanes.push([span]);
	}
	return lanes;
}

function runEvent(agent: ReportAgent, tid: number, hasContent: boolean): ChromeEvent {
	const { description, name, preset, phase, status, queuedAt, endedAt, model, usage, task, answer, error } = agent;
	const content = hasContent ? { task, ...(answer ? { answer } : {}), ...(error ? { error } : {}) } : {};
	const args = { preset, ...(phase === undefined ? {} : { phase }), status, model, ...usage, ...content };
	const title = (hasContent ? description : name) || preset;
	return complete(title, "agent", { start: queuedAt, end: endedAt }, { tid, args });
}

function spanEvent(span: Span, tid: number, hasContent: boolean): ChromeEvent {
	const { kind, label, start, end, usage, tool, model, error } = span;
	const content = hasContent ? { label, ...(error ? { error } : {}) } : error ? { failed: true } : {};
	const args = { ...(model ? { model } : {}), ...usage, ...content };
	return complete(tool ?? kind, kind, { start, end }, { tid, args });
}

function complete(
	name: string,
	cat: string,
	{ start, end }: Pick<Span, "start" | "end">,
	{ tid, args }: Pick<ChromeEvent, "tid" | "args">,
): ChromeEvent {
	return { name, cat, ph: "X", ts: start * 1_000, dur: (end - start) * 1_000, pid: PID, tid, args };
}

function named(name: string, tid: number, title: string): ChromeEvent {
	return { name, cat: "__metadata", ph: "M", ts: 0, pid: PID, tid, args: { name: title } };
}
