/** `reply` and `stop`: orders to an agent in its own process. */
import { setTimeout as delay } from "node:timers/promises";
import { endText, sanitize } from "@pi-subagents/progress";
import { answerRun, type RunOverview, runTextOf, stopRun } from "@pi-subagents/runs";
import { type Context, Failure, find, resultOf } from "./context.ts";

/** An agent with a checkout commits it before it ends. */
const STOP_MS = 65_000;
const LOOK_MS = 100;

export async function reply(context: Context, [word = "", ...texts]: readonly string[]): Promise<number> {
	const run = await find(context, word);
	requireOwnProcess(run);
	const { state, dir, agentId } = run;
	const id = state.group === "needs-input" ? state.question.id : undefined;
	if (id === undefined && state.group === "needs-input")
		throw new Failure(`${agentId} waits for a dialog, which is answered in the pi that shows it.`);
	if (id === undefined)
		throw new Failure(`${agentId} asks nothing now. \`pi-subagents show ${agentId}\` says what it does.`);
	const text = texts.join(" ").trim();
	if (text === "") throw new Failure("The answer is empty.", 2);
	await answerRun(dir, id, text);
	context.stdout.write(`Answered ${sanitize(agentId)}.\n`);
	return 0;
}

export async function stop(context: Context, [word = ""]: readonly string[]): Promise<number> {
	const run = await find(context, word);
	requireOwnProcess(run);
	const { dir, agentId } = run;
	await stopRun(dir, "pi-subagents stop");
	for (const deadline = performance.now() + STOP_MS; performance.now() < deadline && !context.signal.aborted; ) {
		const result = await resultOf(context, run);
		if (result) {
			context.stdout.write(`${sanitize(agentId)}: ${endText(result.outcome)}\n`);
			return 0;
		}
		await delay(LOOK_MS, undefined, { signal: context.signal }).catch(() => undefined); // the user ended it
	}
	throw new Failure(
		`${agentId} was asked to stop, but has not yet. \`pi-subagents show ${agentId}\` says when it has.`,
	);
}

/** Agents inside a pi take orders only there. */
export function requireOwnProcess(run: RunOverview): void {
	const { agentId, state, hasOwnProcess } = run;
	if (state.group === "done") throw new Failure(`${agentId} has ended. \`pi-subagents show ${agentId}\` shows how.`);
	if (!hasOwnProcess) throw new Failure(`${agentId}: ${runTextOf(run, Date.now()).reach}`);
}
