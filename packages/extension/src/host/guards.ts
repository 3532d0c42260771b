/** The user's extensions that guard agents, in pi: those of the session that is open. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { createGuards, type GuardRule, type Guards } from "@pi-subagents/runners/session";
import type { Host } from "./host.ts";

export function createSessionGuards(pi: ExtensionAPI, host: Host, rule: () => GuardRule): Guards {
	const guards = createGuards({
		...host,
		rule,
		isOwnEntry: (customType) => /^(?:pi-)?subagents:/.test(customType),
	});
	pi.on("session_start", () => guards.forget());
	return guards;
}
