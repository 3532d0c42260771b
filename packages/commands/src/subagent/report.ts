/** `/subagent report` and `/subagent trace`: what agents did, their time and cost, as HTML or as a trace. */
import { AgentError } from "@pi-subagents/core";
import { formatCount } from "@pi-subagents/progress";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import { agentCompletions } from "./completions.ts";
import { loadReport } from "./report.lazy.ts";
import { argumentsIn, fileFor, reportOf } from "./session-report.ts";

const HINT = "Open it in a browser; it needs no network. --full adds tool output, file contents and diffs.";

export function reportCommand(deps: CommandDeps): Subcommand {
	const usage = "/subagent report [id|all] [--full]";
	return {
		name: "report",
		args: "[id|all] [--full]",
		about: "write an HTML report about this session's agents, one of them, or all in this project",
		completions: () => agentCompletions(deps.manager.store.snapshot().records),
		async run(rest, ctx) {
			const { which, given } = argumentsIn(rest, ["--full"], usage);
			const report = await reportOf(deps, ctx, { which, isFull: given.has("--full"), usage });
			const { writeHtmlReport } = await loadReport();
			const path = await writeHtmlReport(report, await fileFor(deps, ctx, ".html"));
			return [
				{ text: `Report about ${formatCount(report.agents.length, "run")}: ${path}` },
				{ text: HINT, tone: "muted" },
			];
		},
	};
}

const TRACE_ARGS = "[id|all] [--otlp|--send] [--content]";
const TRACE_HINTS = {
	chrome: "Open it at https://ui.perfetto.dev or https://www.speedscope.app; both read it in your browser.",
	otlp: "An OTLP/JSON request for /v1/traces of a collector; --send sends it.",
};

export function traceCommand(deps: CommandDeps): Subcommand {
	const usage = `/subagent trace ${TRACE_ARGS}`;
	return {
		name: "trace",
		args: TRACE_ARGS,
		about: "write a Chrome trace or OpenTelemetry spans of the same agents, or send these to your collector",
		completions: () => agentCompletions(deps.manager.store.snapshot().records),
		async run(rest, ctx) {
			const { which, given } = argumentsIn(rest, ["--otlp", "--send", "--content"], usage);
			const { otlpTarget, otlpTraces, sendTraces, writeTrace } = await loadReport();
			const target = given.has("--send") ? otlpTarget(process.env) : undefined;
			if (given.has("--send") && !target)
				throw new AgentError("bad_request", "Set OTEL_EXPORTER_OTLP_ENDPOINT to the address of your collector first.");
			const report = await reportOf(deps, ctx, { which, usage });
			const { TRACEPARENT: traceparent } = process.env;
			const options = { hasContent: given.has("--content"), ...(traceparent === undefined ? {} : { traceparent }) };
			const what = `Trace of ${formatCount(report.agents.length, "run")}`;
			if (target) {
				await sendTraces(otlpTraces(report, options), target);
				return [{ text: `${what}: sent to ${new URL(target.url).host}` }];
			}
			const format = given.has("--otlp") ? "otlp" : "chrome";
			const path = await writeTrace(report, await fileFor(deps, ctx, `.${format}.json`), { format, ...options });
			return [{ text: `${what}: ${path}` }, { text: TRACE_HINTS[format], tone: "muted" }];
		},
	};
}
