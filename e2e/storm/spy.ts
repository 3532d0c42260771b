/** An extension beside ours in a storm: it writes down what the bus says, and tells what pi has in memory. */

/** Of agents at any depth, and of jobs. A pi that is killed says nothing more. */
export const spy = `
import { appendFileSync, writeFileSync } from "node:fs";
const note = (file, what) => appendFileSync(process.env.HOME + "/" + file, JSON.stringify(what) + "\\n");
export default (pi) => {
	for (const what of ["created", "started", "completed", "failed"])
		pi.events.on("subagents:" + what, ({ id }) => note("bus.jsonl", { what, id }));
	pi.events.on("subagents:scheduled", (event) => note("jobs.jsonl", event));
	// What the session remembers, whether it could be written to its file or not.
	pi.registerCommand("entries", {
		handler: async (_args, ctx) =>
			writeFileSync(process.env.HOME + "/entries.json", JSON.stringify(ctx.sessionManager.getEntries())),
	});
	let asked = 0;
	pi.registerCommand("records", {
		async handler(_args, ctx) {
			const requestId = "spy-" + process.pid + "-" + ++asked;
			const reply = await new Promise((resolve) => {
				const off = pi.events.on("subagents:rpc:list:reply:" + requestId, (answer) => {
					off?.();
					resolve(answer);
				});
				pi.events.emit("subagents:rpc:list", { requestId });
			});
			writeFileSync(process.env.HOME + "/records.json", JSON.stringify(reply.data ?? []));
		},
	});
};`;

/** What another extension is told of an agent. */
export interface SpiedRecord {
	id: string;
	depth: number;
	[field: string]: unknown;
}

/**
 * What a record is when nothing of it changes any more. Who launched which is not in the session: those have ended with
 * it. Nor is when it began, only how long it took, which is not the same where a clock was set
 * meanwhile. And where one was set back while an agent was rejoined, nobody can say when that was queued.
 */
export function lasting(records: readonly SpiedRecord[], { isClockSet }: { isClockSet: boolean }): string[] {
	const own = records.filter(({ depth, completedAt }) => depth === 1 && completedAt !== undefined);
	return own.map(({ activity: _, model: _which, question: _what, startedAt: _when, queuedAt, ...rest }) =>
		JSON.stringify(isClockSet ? rest : { ...rest, queuedAt }),
	);
}
