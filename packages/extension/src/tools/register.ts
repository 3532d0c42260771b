/** Offers the tools once the session knows which presets there are: the model must be able to choose. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Manager } from "@pi-subagents/core";
import type { Launcher } from "../launch.ts";
import { subagentTool } from "./subagent.ts";

export function registerTools(pi: ExtensionAPI, deps: { manager: Manager; launcher: Launcher }): void {
	pi.on("session_start", async (_event, ctx) => {
		pi.registerTool(subagentTool({ ...deps, presets: await deps.launcher.presets(ctx) }));
	});
}
