/** `show`: everything about one agent. */

import {
	checkOutput,
	formatCost,
	formatCount,
	formatTokens,
	safeJson,
	sanitize,
	sanitizeBlock,
} from "@pi-subagents/progress";
import { runTextOf } from "@pi-subagents/runs";
import { type Context, find } from "./context.ts";

export async function show(context: Context, [word = ""]: readonly string[]): Promise<number> {
	const { stdout, flags } = context;
	const run = await find(context, word);
	if (flags.json) {
		stdout.write(`${safeJson(run)}\n`);
		return 0;
	}
	const { icon, who, preset, status, age, now, reach } = runTextOf(run, Date.now());
	const { state, result, task, runner, model, project, dir, agentId } = run;
	const output = checkOutput(result?.outcome);
	const facts = [
		["agent", `${sanitize(agentId)}, run ${run.run}`],
		["status", `${status}, ${age}`],
		["now", now],
		["model", sanitize(model)],
		["runs in", run.hasOwnProcess ? runner : "the pi that launched it"],
		["project", sanitize(project)],
		["files", sanitize(dir)],
		...(result ? [["used", usedBy(result)]] : []),
		...(state.group === "done" ? [] : [["reach", reach]]),
	];
	const parts = [
		`${icon} ${who} (${preset})`,
		facts.map(([name, text]) => `  ${name?.padEnd(8)} ${text}`).join("\n"),
		`Task\n${sanitizeBlock(task)}`,
		...(state.group === "needs-input" ? [`Question\n${questionText(state.question)}`] : []),
		...(output === "" ? [] : [`Output of its check\n${output}`]),
		...(result?.finalText === undefined ? [] : [`Answer\n${sanitizeBlock(result.finalText)}`]),
	];
	stdout.write(`${parts.join("\n\n")}\n`);
	return 0;
}

function usedBy({ turns, toolUses, usage }: NonNullable<Awaited<ReturnType<typeof find>>["result"]>): string {
	const tokens = formatTokens(usage.input + usage.output + usage.cacheRead + usage.cacheWrite);
	return `${formatCount(turns, "turn")}, ${formatCount(toolUses, "tool call")}, ${tokens} tokens, ${formatCost(usage.cost)}`;
}

function questionText({ question, context, defaultAnswer }: Question): string {
	return [
		sanitizeBlock(question),
		...(context === undefined ? [] : [sanitizeBlock(context)]),
		...(defaultAnswer === undefined ? [] : [`Without an answer: ${sanitize(defaultAnswer)}`]),
	].join("\n");
}

interface Question {
	question: string;
	context?: string;
	defaultAnswer?: string;
}
