/** The agents level of the menu: view, steer, stop, answer and resume. */
import { type AgentRecord, findAgent, runIdOf } from "@pi-subagents/core";
import type { Menu } from "../../screen/navigation.ts";
import { breadcrumb, runMenu } from "../../screen/navigation.ts";
import { resumeAgent } from "../../subagent/start-stop.ts";
import { agentDetails } from "../../subagent/view.ts";
import { agentLabel, currentAgents } from "../../text/agent-text.ts";
import { type AgentAction, agentActions, agentItems, stateOf, stopText } from "./agent-items.ts";

const NAMES = {
	running: { title: "Running agents", empty: "No agent is running. /subagent start <task> launches one." },
	settled: { title: "Finished agents", empty: "No agent has finished yet." },
};

export function agentsMenu(menu: Menu, which: "running" | "settled"): Promise<void> {
	const { screen, manager, clock } = menu;
	const { title, empty } = NAMES[which];
	const items = () => agentItems(currentAgents(manager), which, clock.now());
	return runMenu(
		screen,
		() => ({ title: breadcrumb("Agents", title), empty, items, isLive: true, isSearchable: true }),
		(id) => agentMenu(menu, id, title),
	);
}

function agentMenu(menu: Menu, id: string, level: string): Promise<void> {
	const { screen, manager, clock } = menu;
	const agent = () => findAgent(currentAgents(manager), id);
	return runMenu(
		screen,
		() => ({
			title: breadcrumb("Agents", level, agentLabel(agent())),
			intro: `${agent().description}\n${stateOf(agent(), clock.now())}`,
			items: () => agentActions(agent(), { hasViewer: menu.view !== undefined }),
			isLive: true,
		}),
		(action) => runAction(menu, action as AgentAction, agent()),
	);
}

async function runAction(menu: Menu, action: AgentAction, agent: AgentRecord): Promise<void> {
	const { screen, clock } = menu;
	switch (action) {
		case "open":
			return menu.view?.(agent.id);
		case "details":
			return screen.read(agentLabel(agent), await agentDetails(agent, clock.now()));
		case "answer":
			return answer(menu, agent);
		case "steer":
			return steer(menu, agent);
		case "stop":
			return stop(menu, agent);
		case "resume":
			return resume(menu, agent);
		case "copy":
			return screen.copy(agent.artifacts ?? "");
		default:
			throw new Error(`unknown action: ${JSON.stringify(action satisfies never)}`);
	}
}

async function steer({ screen, manager }: Menu, agent: AgentRecord): Promise<void> {
	const message = await screen.input({
		title: `Steer ${agentLabel(agent)}`,
		intro: "It reads this before its next step.",
	});
	if (message === undefined || message.trim() === "") return;
	manager.steer(agent.id, message);
	screen.notify(`${agentLabel(agent)} has your message.`);
}

async function stop({ screen, manager }: Menu, agent: AgentRecord): Promise<void> {
	const intro = stopText(agent, manager.store.snapshot().records);
	if (!(await screen.confirm({ title: `Stop ${agentLabel(agent)}?`, intro, yes: "Stop it", no: "Keep it running" })))
		return;
	const { outcome } = manager.store.record(agent.id) ?? agent;
	if (!outcome) manager.abort(agent.id, { by: "user" });
	screen.notify(outcome ? `${agentLabel(agent)} had already ended.` : `Stopped ${agentLabel(agent)}.`);
}

/** Meanwhile the question may be answered elsewhere and another asked: the answer must never reach that one. */
async function answer({ screen, manager }: Menu, agent: AgentRecord): Promise<void> {
	const asked = manager.questions().find(({ agentId }) => agentId === agent.id);
	if (!asked) throw new Error(`${agentLabel(agent)} is no longer waiting for an answer.`);
	const intro = asked.context === undefined ? asked.question : `${asked.question}\n\n${asked.context}`;
	const text = await screen.input({ title: `${agentLabel(agent)} asks`, intro });
	if (text === undefined || text.trim() === "") return;
	if (!manager.questions().includes(asked))
		throw new Error(`${agentLabel(agent)} is no longer waiting for this answer.`);
	manager.answer(agent.id, text, "user");
	screen.notify(`${agentLabel(agent)} has your answer.`);
}

async function resume(menu: Menu, agent: AgentRecord): Promise<void> {
	const { screen, ctx } = menu;
	const intro = "What should it do next? It remembers what it did before.";
	const task = await screen.input({ title: `Resume ${agentLabel(agent)}`, intro });
	if (task === undefined || task.trim() === "") return;
	const { record, warnings } = await resumeAgent(menu, agent, task, ctx);
	for (const warning of warnings) screen.notify(warning, "warning");
	const run = runIdOf({ agentId: record.id, run: record.run });
	screen.notify(`${agentLabel(record)} is running again (run ${run}); the result will appear here.`);
}
