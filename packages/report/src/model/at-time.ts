/** A report at a later time: runs that have not ended are longer by then. Pure. */
import { criticalPath } from "./critical-path.ts";
import type { Report, ReportAgent } from "./types.ts";

export function reportAt(report: Report, now: number): Report {
	if (!report.agents.some(isUnfinished)) return report;
	const agents = report.agents.map((agent) => agentAt(agent, Math.max(now, agent.endedAt)));
	return {
		...report,
		agents,
		endedAt: agents.reduce((last, { endedAt }) => Math.max(last, endedAt), report.endedAt),
		criticalPath: criticalPath(agents),
	};
}

/** One that has ended stays as it is. */
export function agentAt(agent: ReportAgent, endedAt: number): ReportAgent {
	if (!isUnfinished(agent)) return agent;
	const isOpen = ({ end, kind, isCut }: ReportAgent["spans"][number]) =>
		isCut || (kind === "queued" && end === agent.endedAt);
	const spans = agent.spans.map((span) => (isOpen(span) ? { ...span, end: endedAt } : span));
	return { ...agent, endedAt, spans };
}

function isUnfinished({ status }: ReportAgent): boolean {
	return status === "running" || status === "queued";
}
