/**
 * A new preset from a description: an agent writes it, the person approves it. What the agent returns is a stranger's
 * text: it is shown in the editor, checked like any other, and never written unseen.
 */
import type { Outcome, RunSpec } from "@pi-subagents/core";
import { outcomeText } from "@pi-subagents/progress";
import { followProgress } from "../progress-feed.ts";
import type { Menu } from "./context.ts";
import { approveNew, takenNames } from "./preset-new.ts";
import { fileIn, taskFor } from "./preset-task.ts";
import { trail } from "./walk.ts";

const TITLE = trail("Agents", "Presets", "New from a description");
const WRITER = "general-purpose";
/** It may look around to write something that fits; it has nothing to change. */
const TOOLS = ["read", "grep", "find", "ls"];

export async function draftByAgent(menu: Menu): Promise<void> {
	const { screen } = menu;
	const intro = "What should the agent do, what should it know, and what must it not do?";
	const wish = await screen.input({ title: TITLE, intro });
	if (wish === undefined || wish.trim() === "") return;
	const spec = await specFor(menu, wish.trim());
	const outcome = await screen.busy(trail(TITLE, "an agent writes it"), (signal, tell) =>
		run(menu, spec, signal, tell),
	);
	if (outcome.status !== "completed") throw new Error(`No preset was written. ${outcomeText(outcome)}.`);
	const isWritten = await approveNew(menu, `${TITLE}: read it, change it, accept it`, fileIn(outcome.text));
	if (!isWritten) screen.notify("Nothing was written.");
}

async function specFor(menu: Menu, wish: string): Promise<RunSpec> {
	const task = taskFor(wish, await takenNames(menu));
	const request = { preset: WRITER, task, description: "Write a preset", isolated: true, runner: "session" as const };
	const { subagents: _none, ...spec } = (await menu.launcher.resolve(request, menu.ctx)).spec;
	return { ...spec, tools: TOOLS };
}

async function run(
	{ manager }: Menu,
	spec: RunSpec,
	signal: AbortSignal,
	tell: (lines: readonly string[]) => void,
): Promise<Outcome> {
	const { store } = manager;
	const { id } = manager.spawn(spec);
	const feed = followProgress(store, id, (lines) => tell(lines));
	// The person waits in this dialog and cannot be asked in another: it has to decide by itself.
	const unsubscribe = store.subscribe((event) => {
		if (event.agentId === id && event.type === "agent_asked") queueMicrotask(() => manager.decline(id));
	});
	const stop = () => manager.abort(id, { by: "user" });
	signal.addEventListener("abort", stop, { once: true });
	try {
		return await manager.wait(id);
	} finally {
		signal.removeEventListener("abort", stop);
		unsubscribe();
		feed.close();
	}
}
