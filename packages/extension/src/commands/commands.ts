/** The two commands of a person, and how their answers are drawn. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { MenuDeps } from "../menu/menu.ts";
import { loadCommands } from "./commands.lazy.ts";
import { lazyCommand } from "./lazy.ts";
import { registerNotes } from "./note.ts";

export function registerCommands(pi: ExtensionAPI, deps: MenuDeps): void {
	registerNotes(pi);
	const subagent = async () => (await loadCommands()).subagentCommand(pi, deps);
	const agents = async () => (await loadCommands()).menuCommand(pi, deps);
	pi.registerCommand(
		"subagent",
		lazyCommand("Start, watch, stop and answer agents; list and explain presets", subagent),
	);
	pi.registerCommand("agents", lazyCommand("Agents, presets and settings in a menu", agents));
}
