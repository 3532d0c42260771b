/** Offers the tools once the session knows which presets there are: the model must be able to choose. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type Manager, messageOf } from "@pi-subagents/core";
import type { Host } from "../host.ts";
import type { Launcher } from "../launch.ts";
import { subagentTool } from "./subagent.ts";

export function registerTools(pi: ExtensionAPI, deps: { manager: Manager; launcher: Launcher; host: Host }): void {
	pi.on("session_start", async (_event, ctx) => {
		const presets = await deps.launcher.presets(ctx).catch((error: unknown) => {
			deps.host.tell(`The presets could not be read: ${messageOf(error)}`);
			return []; // the tool itself still works, and says what is wrong when it is called
		});
		pi.registerTool(subagentTool({ ...deps, presets }));
	});
}
