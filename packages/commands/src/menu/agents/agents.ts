/** The agents of this session, as a list with levels: open, steer, stop, answer, resume, and the diff of a worktree. */
import { type AgentRecord, findAgent, runIdOf } from "@pi-subagents/core";
import { backgroundOf } from "../../questions/questions.ts";
import type { Menu } from "../../screen/navigation.ts";
import { breadcrumb, runMenu } from "../../screen/navigation.ts";
import { resumeAgent } from "../../subagent/start-stop.ts";
import { agentDetails } from "../../subagent/view.ts";
import { agentLabel, currentAgents } from "../../text/agent-text.ts";
import { showDiffOf } from "../worktrees/worktrees.ts";
import { type AgentAction, actionOf, agentActions, agentItems, agentKeys, stateOf, stopText } from "./agent-items.ts";

const TITLE = breadcrumb("Agents", "This session");
const EMPTY = "No agent has been launched. @ and the name of a preset starts one, or /subagent start <task>.";

/** On pi's own screen, Enter opens the conversation and keys act on the agent; an RPC client gets a list of actions. */
export function agentsMenu(menu: Menu): Promise<void> {
	const { screen, manager, clock, view } = menu;
	const items = () => agentItems(currentAgents(manager), clock.now());
	const list = { title: TITLE, empty: EMPTY, items, isLive: true, isSearchable: true };
	if (!view)
		return runMenu(
			screen,
			() => list,
			(id) => agentMenu(menu, id),
		);
	const keys = agentKeys((id) => manager.store.record(id));
	return runMenu(
		screen,
		() => ({ ...list, keys, enter: "open" }),
		(id, key) => runAction(menu, actionOf(key), findAgent(currentAgents(manager), id)),
	);
}

function agentMenu(menu: Menu, id: string): Promise<void> {
	const { screen, manager, clock } = menu;
	const agent = () => findAgent(currentAgents(manager), id);
	return runMenu(
		screen,
		() => ({
			title: breadcrumb(TITLE, agentLabel(agent())),
			intro: `${agent().description}\n${stateOf(agent(), clock.now())}`,
			items: () => agentActions(agent(), { hasViewer: false }),
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
		case "diff":
			return showDiffOf(menu, agent.id);
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
	const intro = [asked.question, "", ...backgroundOf(asked), "esc: it keeps waiting"].join("\n");
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
	const resumed = await resumeAgent(menu, agent, { task }, ctx);
	if (!resumed) return;
	const { record, warnings } = resumed;
	for (const warning of warnings) screen.notify(warning, "warning");
	const run = runIdOf({ agentId: record.id, run: record.run });
	screen.notify(`${agentLabel(record)} is running again (run ${run}); the result will appear here.`);
}
