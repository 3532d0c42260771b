/**
 * What changed from one report to the next, for readers that know different ones. An agent that changed is sent whole;
 * time alone changes nothing, because the page lets it pass by itself. Pure but for what it remembers.
 */
import { agentAt } from "../model/at-time.ts";
import type { Report, ReportAgent } from "../model/types.ts";

/** One line of the stream. */
export type Update =
	/** `report.agents` are those that changed; `order` names all that there are now. */
	| { type: "report"; report: Report; order: string[] }
	| { type: "problem"; text: string }
	/** The session is over: nothing will follow. */
	| { type: "end" };

interface Known {
	/** What it is apart from the time. */
	content: string;
	agent: ReportAgent;
	/** When it changed last. */
	revision: number;
}

export class Changes {
	#revision = 0;
	#report: Report | undefined;
	#outline = "";
	#agents = new Map<string, Known>();

	/** Counts the reports that differed; 0 before the first one. */
	get revision(): number {
		return this.#revision;
	}

	take(report: Report): void {
		const next = this.#revision + 1;
		const agents = new Map(
			report.agents.map((agent): [string, Known] => {
				const content = JSON.stringify(agentAt(agent, 0));
				const known = this.#agents.get(agent.id);
				return [agent.id, { content, agent, revision: known?.content === content ? known.revision : next }];
			}),
		);
		const { title, isFull, problems } = report;
		const outline = JSON.stringify([title, isFull, problems, [...agents.keys()]]);
		if (outline !== this.#outline || [...agents.values()].some(({ revision }) => revision === next))
			this.#revision = next;
		this.#report = report;
		this.#outline = outline;
		this.#agents = agents;
	}

	/** The next report counts as changed: readers were shown a problem, and it must go even if nothing else changed. */
	sendAgain(): void {
		this.#outline = "";
	}

	/** For a reader that has seen everything up to this revision; 0 has seen nothing. */
	since(revision: number): Update | undefined {
		if (!this.#report || revision >= this.#revision) return undefined;
		const changed = [...this.#agents.values()].filter((known) => known.revision > revision);
		const report = { ...this.#report, agents: changed.map(({ agent }) => agent) };
		return { type: "report", report, order: [...this.#agents.keys()] };
	}
}

/** The other side: the report that a reader has after an update. */
export function updated(before: Report | undefined, { report, order }: Update & { type: "report" }): Report {
	const agents = new Map([...(before?.agents ?? []), ...report.agents].map((agent) => [agent.id, agent]));
	return { ...report, agents: order.flatMap((id) => agents.get(id) ?? []) };
}
