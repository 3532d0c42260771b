/** Orders to a run in its own process, from any program of the user: lines in its control file. */
import { join } from "node:path";
import { appendLines } from "@pi-subagents/core/internal/files";
import { controlPath } from "@pi-subagents/core/internal/signals";
import { RUN_FILES } from "../format/layout.ts";
import type { ControlLine } from "../format/lines.ts";
import { readMeta } from "../read.ts";

/**
 * Answers a question. The run takes the first answer, from here or from the pi that watches it.
 *
 * @example
 * ```ts
 * if (state.group === "needs-input" && state.question.id) await answerRun(dir, state.question.id, "The second one.");
 * ```
 */
export function answerRun(dir: string, id: string, text: string): Promise<void> {
	return send(dir, { type: "answer", id, answer: { by: "user", text } });
}

/** Asks a run to stop. Its result file says when it has. */
export function stopRun(dir: string, reason: string): Promise<void> {
	return send(dir, { type: "abort", stop: { by: "user", reason } });
}

/** The session that watches the run writes there, too. */
async function send(dir: string, line: ControlLine): Promise<void> {
	await appendLines(await controlOf(dir), `${JSON.stringify(line)}\n`, { durable: false, isShared: true });
}

/** What is said to a run elsewhere is sent from the copy of its directory; a wrapper here reads beside its records. */
async function controlOf(dir: string): Promise<string> {
	const meta = await readMeta(dir);
	if (typeof meta === "string") throw new Error(meta);
	if (meta.machine !== undefined) return join(dir, RUN_FILES.control);
	const agentDir = meta.launch?.env.PI_CODING_AGENT_DIR;
	if (agentDir === undefined) throw new Error(`${join(dir, RUN_FILES.meta)} names no process that takes orders`);
	return controlPath({ agentDir, runDir: dir });
}
