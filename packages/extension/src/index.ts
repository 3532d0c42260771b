/** Wires the packages into pi, in the order of their dependencies. There is no logic here. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Manager } from "@pi-subagents/core";
import { sessionRunner } from "@pi-subagents/core/session";
import { isInsideChild } from "./child.ts";
import { subagentCommand } from "./commands/subagent.ts";
import { createHost } from "./host.ts";
import { createLauncher } from "./launch.ts";
import { stopWithSession } from "./life.ts";
import { registerTools } from "./tools/register.ts";

export default function subagents(pi: ExtensionAPI): void {
	if (isInsideChild(process.env)) return;
	const host = createHost(pi);
	const manager = new Manager({
		runners: { session: sessionRunner(host) },
		now: Date.now,
		newId: () => crypto.randomUUID().slice(0, 8),
	});
	const launcher = createLauncher(host);
	registerTools(pi, { manager, launcher });
	pi.registerCommand("subagent", subagentCommand(pi, { host, launcher }));
	stopWithSession(pi, manager);
}
