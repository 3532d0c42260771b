/** A workflow with agents that a function answers, over a journal in memory. */
import {
	type AgentCall,
	type AgentRequest,
	type AgentResult,
	type JournalEvent,
	memoryJournal,
	runWorkflow,
	type WorkflowOptions,
	type WorkflowResult,
	type WorkflowRun,
} from "@pi-subagents/workflow";

export type Agent = (request: AgentRequest, call: AgentCall) => Promise<AgentResult> | AgentResult;

export const echo: Agent = ({ prompt }) => ({ status: "completed", text: `did ${prompt}`, tokens: 10 });

export const META = 'export const meta = { name: "test", description: "A test" }\n';

export interface Trial extends Partial<Omit<WorkflowOptions, "ports" | "journal" | "script">> {
	agent?: Agent;
	events?: JournalEvent[];
	ask?: WorkflowOptions["ports"]["ask"];
	load?: (name: string) => Promise<string>;
}

export interface Tried {
	run: WorkflowRun;
	result: Promise<WorkflowResult>;
	/** The prompts of the agents that ran. */
	prompts: string[];
	events: JournalEvent[];
}

/** `body` is the script behind its meta. */
export function start(body: string, { agent = echo, events = [], ask, load, ...options }: Trial = {}): Tried {
	const prompts: string[] = [];
	const run = runWorkflow({
		id: "w1",
		script: body.includes("export const meta") ? body : META + body,
		journal: memoryJournal(events),
		ports: {
			async agent(request, call) {
				prompts.push(request.prompt);
				call.onLaunched({ agentId: `agent-${prompts.length}`, run: 1 });
				return agent(request, call);
			},
			ask: ask ?? (async () => undefined),
			...(load ? { load } : {}),
		},
		...options,
	});
	return { run, result: run.settled, prompts, events };
}

export async function resultOf(body: string, trial?: Trial): Promise<WorkflowResult> {
	return start(body, trial).result;
}
