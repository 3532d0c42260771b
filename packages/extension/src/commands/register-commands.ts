/** Registers the commands and the renderer of their answers. Their code is loaded on first use, because it would slow startup. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { CommandDeps, MenuDeps } from "@pi-subagents/commands";
import { offerAgentsKey } from "@pi-subagents/commands/input";
import { registerNotes } from "@pi-subagents/commands/text";
import type { LazyWorkflows } from "../workflow/workflows.ts";
import { loadCommands } from "./commands.lazy.ts";

type Deps = CommandDeps & Omit<MenuDeps, "workflows"> & { workflows: LazyWorkflows };

export function registerCommands(pi: ExtensionAPI, deps: Deps): void {
	registerNotes(pi);
	const subagent = async () => (await loadCommands()).subagentCommand(pi, deps);
	const agents = async () => (await loadCommands()).menuCommand(pi, deps);
	pi.registerCommand(
		"subagent",
		lazyCommand("Start, watch, stop and answer agents; list and explain presets", subagent),
	);
	const workflow = async () => {
		const [{ workflowCommand }, workflows] = await Promise.all([loadCommands(), deps.workflows.load()]);
		return workflowCommand(pi, { ...deps, workflows });
	};
	pi.registerCommand("workflow", lazyCommand("Run, watch, pause and resume workflow scripts", workflow));
	offerAgentsKey(pi, {
		key: async (ctx) => (await deps.launcher.settings(ctx)).agentsKey,
		open: async (ctx) => (await loadCommands()).agentsScreen(deps)(ctx),
	});
	pi.registerCommand("agents", lazyCommand("Agents, presets and settings in a menu", agents));
}

type Command = Parameters<ExtensionAPI["registerCommand"]>[1];
type Code = Omit<Command, "description">;

function lazyCommand(description: string, load: () => Promise<Code>): Command {
	let loading: Promise<Code> | undefined;
	const command = () => {
		loading ??= load().catch((error: unknown) => {
			loading = undefined;
			throw error;
		});
		return loading;
	};
	return {
		description,
		async getArgumentCompletions(typed) {
			const code = await command().catch(() => undefined); // why it cannot be loaded, the command says when it is run
			return (await code?.getArgumentCompletions?.(typed)) ?? null;
		},
		handler: async (args, ctx) => (await command()).handler(args, ctx),
	};
}
