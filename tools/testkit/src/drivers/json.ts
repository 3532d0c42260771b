/** JSON mode: one prompt in, all events out. */
import { LineSplitter, type PiEvent, parseLine } from "./events.ts";
import type { ExitStatus } from "./pi-process.ts";
import { runToEnd } from "./print.ts";
import type { PiTarget } from "./target.ts";

export interface JsonResult extends ExitStatus {
	readonly events: readonly PiEvent[];
	readonly stderr: string;
}

/** `pi --mode json`. The exit code is 0 even if the model failed: look at the last assistant message. */
export async function runJson(target: PiTarget, prompt: string): Promise<JsonResult> {
	const { stdout, ...rest } = await runToEnd(target, { mode: ["--mode", "json"], prompt });
	const lines = new LineSplitter().push(`${stdout}\n`);
	return { events: lines.map((line) => parseLine(line) as PiEvent), ...rest };
}
