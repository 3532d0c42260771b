/** `logs`: the transcript of an agent, so far or until it ends. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endText } from "@pi-subagents/progress";
import { RUN_FILES, type RunOverview, readLineRange } from "@pi-subagents/runs";
import { type Context, Failure, find, resultOf } from "./context.ts";

/** How much is held at once. */
const PIECE_BYTES = 256 * 1024;
const LOOK_MS = 300;

export async function logs(context: Context, [word = ""]: readonly string[]): Promise<number> {
	const run = await find(context, word);
	if (context.flags.follow) return follow(context, run);
	const printed = await print(context, run, 0);
	if (printed === 0) throw new Failure(`${run.agentId} has no transcript yet. Its files are in ${run.dir}`);
	return 0;
}

/** Prints until the run has ended or nothing can write its result any more. */
export async function follow(context: Context, run: RunOverview): Promise<number> {
	const { stdout, signal } = context;
	for (let printed = 0; !signal.aborted; ) {
		const result = await resultOf(context, run); // before the last look, which then sees everything
		printed = await print(context, run, printed);
		if (result) {
			stdout.write(`${endText(result.outcome, { durationMs: result.durationMs ?? 0 })}\n`);
			return result.outcome.status === "completed" ? 0 : 1;
		}
		if (run.state.group === "done") throw new Failure(`${run.agentId} ended without a result: its process is gone.`);
		await delay(LOOK_MS, undefined, { signal }).catch(() => undefined); // the user ended it
	}
	return 0;
}

/** Prints the lines after the given number, and returns how many there are now. */
async function print({ stdout, signal }: Context, { dir }: RunOverview, printed: number): Promise<number> {
	const path = join(dir, RUN_FILES.transcript);
	for (let after = printed; ; ) {
		const { texts, total } = await readLineRange(path, { after, bytes: PIECE_BYTES }, signal);
		for (const text of texts) stdout.write(`${text}\n`);
		after += texts.length;
		if (texts.length === 0 || after >= total) return after;
	}
}
