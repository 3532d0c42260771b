/** Wires the packages into pi, in the order of their dependencies. There is no logic here. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Manager, systemClock } from "@pi-subagents/core";
import { sessionRunner } from "@pi-subagents/core/session";
import { isInsideChild } from "./child.ts";
import { subagentCommand } from "./commands/subagent.ts";
import { createHost } from "./host.ts";
import { createLauncher } from "./launch.ts";
import { stopWithSession } from "./life.ts";
import { createQuestions } from "./questions.ts";
import { childTools } from "./tools/child.ts";
import { registerTools } from "./tools/register.ts";

export default function subagents(pi: ExtensionAPI): void {
	if (isInsideChild(process.env)) return;
	const host = createHost(pi);
	const launcher = createLauncher(host, (settings) => manager.setSlots(settings));
	const questions = createQuestions(host);
	const manager: Manager = new Manager({
		runners: {
			session: sessionRunner({ ...host, childTools: (spec) => childTools(spec, { manager, launcher, host }) }),
		},
		clock: systemClock,
		newId: () => crypto.randomUUID().slice(0, 8),
		audience: questions.audience,
		onQuestion: (question) => questions.ask(question, manager),
	});
	registerTools(pi, { manager, launcher, host });
	pi.registerCommand("subagent", subagentCommand(pi, { host, launcher }));
	stopWithSession(pi, manager);
}
