/** Wires the packages into pi, in the order of their dependencies. There is no logic here. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Manager } from "@pi-subagents/core";
import { sessionRunner } from "@pi-subagents/core/session";
import { isInsideChild } from "./child.ts";
import { createHost } from "./host.ts";
import { stopWithSession } from "./life.ts";
import { createPresets } from "./presets.ts";
import { subagentTool } from "./tools/subagent.ts";

export default function subagents(pi: ExtensionAPI): void {
	if (isInsideChild(process.env)) return;
	const host = createHost(pi);
	const manager = new Manager({
		runners: { session: sessionRunner(host) },
		now: Date.now,
		newId: () => crypto.randomUUID().slice(0, 8),
	});
	const presets = createPresets(host.agentDir);
	pi.registerTool(subagentTool({ manager, host, presets }));
	stopWithSession(pi, manager);
}
