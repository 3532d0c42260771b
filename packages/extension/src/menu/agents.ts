/** The agents' part of the menu: look at one, steer it, stop it, answer it, let it go on. */
import { type AgentRecord, runIdOf } from "@pi-subagents/core";
import { findAgent } from "../agents.ts";
import { agentDetails } from "../commands/view.ts";
import { called } from "../commands/words.ts";
import { type AgentAction, agentActions, agentItems, stateOf, stopText } from "./agent-items.ts";
import type { Menu } from "./context.ts";
import { trail, walk } from "./walk.ts";

const NAMES = {
	running: { title: "Running agents", empty: "No agent is at work. /subagent start <task> launches one." },
	settled: { title: "Settled agents", empty: "No agent has settled yet." },
};

export function agentsMenu(menu: Menu, which: "running" | "settled"): Promise<void> {
	const { screen, manager, clock } = menu;
	const { title, empty } = NAMES[which];
	const items = () => agentItems(manager.store.snapshot().records, which, clock.now());
	return walk(
		screen,
		() => ({ title: trail("Agents", title), empty, items, isLive: true, isSearchable: true }),
		(id) => agentMenu(menu, id, title),
	);
}

function agentMenu(menu: Menu, id: string, level: string): Promise<void> {
	const { screen, manager, clock } = menu;
	const agent = () => findAgent(manager.store.snapshot().records, id);
	return walk(
		screen,
		() => ({
			title: trail("Agents", level, called(agent())),
			intro: `${agent().description}\n${stateOf(agent(), clock.now())}`,
			items: () => agentActions(agent(), { hasViewer: menu.view !== undefined }),
			isLive: true,
		}),
		(action) => act(menu, action as AgentAction, agent()),
	);
}

async function act(menu: Menu, action: AgentAction, agent: AgentRecord): Promise<void> {
	const { screen, clock } = menu;
	switch (action) {
		case "open":
			return menu.view?.(agent.id);
		case "details":
			return screen.read(called(agent), await agentDetails(agent, clock.now()));
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
	const message = await screen.input({ title: `Steer ${called(agent)}`, intro: "It hears this before its next step." });
	if (message === undefined || message.trim() === "") return;
	manager.steer(agent.id, message);
	screen.notify(`${called(agent)} has your message.`);
}

async function stop({ screen, manager }: Menu, agent: AgentRecord): Promise<void> {
	const intro = stopText(agent, manager.store.snapshot().records);
	if (!(await screen.confirm({ title: `Stop ${called(agent)}?`, intro, yes: "Stop it", no: "Let it work" }))) return;
	const { outcome } = manager.store.record(agent.id) ?? agent;
	if (!outcome) manager.abort(agent.id, { by: "user" });
	screen.notify(outcome ? `${called(agent)} had ended already.` : `Stopped ${called(agent)}.`);
}

/** The question may be answered elsewhere meanwhile, and another asked: an answer must never reach that one. */
async function answer({ screen, manager }: Menu, agent: AgentRecord): Promise<void> {
	const asked = manager.questions().find(({ agentId }) => agentId === agent.id);
	if (!asked) throw new Error(`${called(agent)} does not wait for an answer any more.`);
	const intro = asked.context === undefined ? asked.question : `${asked.question}\n\n${asked.context}`;
	const text = await screen.input({ title: `${called(agent)} asks`, intro });
	if (text === undefined || text.trim() === "") return;
	if (!manager.questions().includes(asked)) throw new Error(`${called(agent)} does not wait for this answer any more.`);
	manager.answer(agent.id, text, "user");
	screen.notify(`${called(agent)} has your answer.`);
}

async function resume({ screen, ctx, launcher, manager }: Menu, agent: AgentRecord): Promise<void> {
	const { id, type, cwd, runner, isolation, outlives = false } = agent;
	const intro = "What should it do next? It remembers what it did before.";
	const task = await screen.input({ title: `Resume ${called(agent)}`, intro });
	if (task === undefined || task.trim() === "") return;
	const { spec } = await launcher.resolve(
		{ preset: type, task, cwd, runner, isolation, outlives, keepsFiles: true },
		ctx,
	);
	const record = manager.resume(id, spec, { isBackground: true });
	for (const warning of spec.warnings) screen.notify(warning, "warning");
	screen.notify(
		`${called(record)} works again (run ${runIdOf({ agentId: id, run: record.run })}); its result will be told.`,
	);
}
