/** Which of the user's extensions guard agents, and why; or why agents cannot be launched without them. */
import { messageOf } from "@pi-subagents/core/internal/base";
import { formatCount } from "@pi-subagents/progress";
import type { Guard, Guards } from "@pi-subagents/runners/session";
import type { Finding } from "./finding.ts";

export async function checkGuards(guards: Pick<Guards, "report">): Promise<Finding[]> {
	try {
		const { guards: held, exempt, isOff, loaded } = await guards.report();
		if (isOff && loaded > 0)
			return [{ level: "hint", text: "Your extensions guard no agent: `guards` is off in your settings." }];
		const found = held.map((guard): Finding => ({ level: "ok", text: guardText(guard) }));
		const left = exempt.map(
			({ names }): Finding => ({ level: "hint", text: `${names[0]} guards no agent: your settings exempt it.` }),
		);
		const none: Finding = { level: "ok", text: `none of ${formatCount(loaded, "extension")} guards agents` };
		return found.length + left.length > 0
			? [...found, ...left]
			: [loaded === 0 ? { ...none, text: "no extensions" } : none];
	} catch (error) {
		return [{ level: "problem", text: messageOf(error) }];
	}
}

function guardText({ names, path, judgesCalls, replaces }: Guard): string {
	const what = [
		...(judgesCalls ? ["judges tool calls"] : []),
		...(replaces.length > 0 ? [`replaces ${replaces.join(", ")}`] : []),
	];
	return `${names[0]} holds in every agent: it ${what.join(" and ") || "is named in your settings"} (${path})`;
}
