/**
 * Which lines a regular expression finds. A model wrote it, and endless backtracking would block this process, so it
 * runs in its own thread with a deadline.
 */
import { Worker } from "node:worker_threads";
import { AgentError, type Clock } from "@pi-subagents/core";
import { countDown, messageOf } from "@pi-subagents/core/internal/base";
import { sanitize } from "@pi-subagents/progress";

interface MatchOptions {
	/** How many to find at most. */
	most: number;
	/** Looks at the last line first. */
	fromEnd: boolean;
	clock: Clock;
	signal?: AbortSignal | undefined;
}

const DEADLINE_MS = 1_000;

/** No useful pattern is longer, and explaining an error takes time quadratic in the length. */
const MAX_CHARACTERS = 500;
const SHOWN_CHARACTERS = 80;

/** Other languages write it, this one has no such thing: a pattern that begins with it ignores case. */
const IGNORE_CASE = "(?i)";

type Reply = { found: number[] } | { problem: string; at?: number };

/**
 * A text, because a bundle has no second file to load. `lines` hold no line feeds, so that they can travel as one
 * string. The engine says what is wrong with a pattern but not where: that is after the shortest beginning from which
 * on every beginning is wrong in this way.
 */
const MATCHER = `
const { parentPort, workerData } = require("node:worker_threads");
const { source, flags, text, count, most, fromEnd } = workerData;

function problemOf(source) {
	try {
		new RegExp(source, flags);
	} catch (error) {
		return error.message.slice(error.message.lastIndexOf(": ") + 1).trim();
	}
}

function placeOf(problem) {
	let at = source.length;
	while (at > 1 && problemOf(source.slice(0, at - 1)) === problem) at--;
	return at;
}

function find() {
	const problem = problemOf(source);
	if (problem !== undefined) return { problem, at: placeOf(problem) };
	const pattern = new RegExp(source, flags);
	const lines = text.split("\\n").slice(0, count);
	const found = [];
	for (let step = 0; step < count && found.length < most; step++) {
		const index = fromEnd ? count - 1 - step : step;
		if (pattern.test(lines[index])) found.push(index);
	}
	return { found };
}

let reply;
try {
	reply = find();
} catch (error) {
	reply = { problem: error.message };
}
parentPort.postMessage(reply);
`;

/** The indexes of the lines that it finds, in ascending order. Throws for a pattern that is wrong or takes too long. */
export async function matchLines(pattern: string, lines: readonly string[], options: MatchOptions): Promise<number[]> {
	if (pattern.length > MAX_CHARACTERS)
		throw new AgentError("bad_request", `The regex is longer than ${MAX_CHARACTERS} characters; use a simpler one.`);
	const prefix = pattern.startsWith(IGNORE_CASE) ? IGNORE_CASE : "";
	const { most, fromEnd } = options;
	const source = pattern.slice(prefix.length);
	const text = lines.join("\n");
	const order = { source, flags: prefix === "" ? "" : "i", text, count: lines.length, most, fromEnd };
	const reply = await ask(order, pattern, options);
	if ("found" in reply) return reply.found.sort((one, other) => one - other);
	const place = reply.at === undefined ? "" : ` at character ${prefix.length + reply.at}`;
	throw new AgentError("bad_request", `The regex ${quote(pattern)} is not valid${place}: ${sanitize(reply.problem)}.`);
}

async function ask(workerData: object, pattern: string, { clock, signal }: MatchOptions): Promise<Reply> {
	signal?.throwIfAborted();
	// Nothing of ours goes with it: no loaders, no environment. It does keep the process alive, for seconds at most:
	// when pi has no terminal, nothing else would keep it from ending in the middle of this call.
	const worker = new Worker(MATCHER, { eval: true, execArgv: [], env: {}, workerData });
	let stopClock = () => {};
	let stopListening = () => {};
	try {
		return await new Promise<Reply>((resolve, reject) => {
			const giveUp = () => reject(signal?.reason);
			signal?.addEventListener("abort", giveUp, { once: true });
			stopListening = () => signal?.removeEventListener("abort", giveUp);
			// Until then it is the machine that is slow, not the pattern.
			worker.on("online", () => {
				stopClock = countDown(clock, DEADLINE_MS, () => reject(tooSlow(pattern)));
			});
			worker.on("message", resolve);
			worker.on("error", (error) => reject(new Error(`The regex could not be tried: ${messageOf(error)}`)));
			worker.on("exit", () => reject(new Error("The regex could not be tried: its thread ended without an answer.")));
		});
	} finally {
		await worker.terminate();
		stopListening();
		stopClock();
	}
}

function tooSlow(pattern: string): AgentError {
	return new AgentError(
		"bad_request",
		`The regex ${quote(pattern)} took too long; use a simpler one, without repetitions inside repetitions.`,
	);
}

function quote(pattern: string): string {
	const text = sanitize(pattern);
	return `"${text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS - 1)}…` : text}"`;
}
