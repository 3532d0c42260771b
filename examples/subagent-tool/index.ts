/** Offers `subagent` to the model of a session: presets of the user, as pi sessions in this process. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type ExtensionAPI, type ExtensionContext, getAgentDir, ModelRuntime } from "@earendil-works/pi-coding-agent";
import { allAgents, type CwdFact, Manager, systemClock } from "@pi-subagents/core";
import { createLauncher, newAgentId } from "@pi-subagents/launch";
import { sessionRunner, sessionTools } from "@pi-subagents/runners/session";
import { createSubagentTool } from "@pi-subagents/tools";

export default function delegate(pi: ExtensionAPI): void {
	const agentDir = getAgentDir();
	const runner = sessionRunner({ agentDir, modelRuntime: () => ModelRuntime.create(), isProjectTrusted: () => false });
	const manager = new Manager({ runners: { session: runner }, clock: systemClock, newId: newAgentId });
	const launcher = createLauncher<ExtensionContext>({
		agentDir,
		warn: (notice) => console.error(notice),
		parent: ({ model }) => ({ model, thinking: pi.getThinkingLevel() }),
		facts: async (ctx, cwd) => ({
			models: ctx.modelRegistry.getAvailable(),
			tools: sessionTools().map((name) => ({ name, isActive: true })),
			cwd: cwdFact(ctx.cwd, cwd),
			isProjectTrusted: false,
		}),
	});
	pi.registerTool(
		createSubagentTool({
			agents: allAgents(manager, "session"),
			store: manager.store,
			resolve: async (params, ctx) => (await launcher.resolve(params, ctx)).spec,
		}),
	);
	pi.on("session_shutdown", () => manager.shutdown());
}

/** What a call asks for, as it is on disk: the tool explains what is wrong with it. */
function cwdFact(base: string, asked: string | undefined): CwdFact {
	const path = resolve(base, asked ?? ".");
	const found = statSync(path, { throwIfNoEntry: false });
	return { path, kind: found?.isDirectory() ? "directory" : found ? "other" : "missing", isAsked: asked !== undefined };
}
