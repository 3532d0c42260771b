/** What a model reads before it writes a script: on demand, so that no request pays for it. */
import { sanitize } from "@pi-subagents/progress";
import type { SavedWorkflows } from "./saved.ts";

const GUIDE = `A workflow script orchestrates agents. It is durable: after a crash it resumes without asking finished agents again.

/* First, a pure literal: */ export const meta = { name: "review", description: "Reviews changed files", phases: ["Find", "Verify"] }
phase("Find")
const files = await agent("List the changed files.", { schema: { type: "array", items: { type: "string" } } })
const found = await pipeline(files,
  (file) => agent("Review " + file, { label: "review " + file, phase: "Find" }),
  (review, file) => agent("Try to refute: " + review, { label: "verify " + file, phase: "Verify" }))
return found.filter(Boolean) // JSON: the result

agent(prompt, { label, phase, agentType (preset), model, effort, isolation: "worktree", resume (label of an earlier agent), schema (JSON Schema), maxTurns, verify (command that must pass), onError })
  → text; with schema the object; null if it failed (onError: "throw" throws AgentFailed)
parallel([() => agent(…), …]) waits for all. pipeline(items, …stages): no barrier, stage(previous, item, index). An item that throws gives null.
map(items, fn, { concurrency }). workflow(name, args): a saved one, one level. ask(question, { default }): the user.
phase(title), log(text), args, budget { total, spent(), remaining() } in tokens.

Agents know nothing of each other or of this conversation: put what they need into the prompt.
Every call must be awaited. No require, import, timers, network or files: agents do that. Date.now and Math.random are recorded.
Limits: 1,000 agents, 4,096 items, 10 s of computing between two waits.`;

/** More would bury the guide. */
const MAX_LISTED = 30;

/** `machines`: those that an agent can run on besides this one. */
export function guideText({ workflows, problems }: SavedWorkflows, machines: readonly string[] = []): string {
	const listed = workflows
		.slice(0, MAX_LISTED)
		.map(({ name, description, whenToUse }) => `- ${sanitize(name)}: ${sanitize(whenToUse ?? description)}`);
	return [
		GUIDE,
		...(machines.length > 0
			? [
					`agent() also takes machine (here, ${machines.join(", ")}) and retry: "lost" (run it again if its machine dies).`,
				]
			: []),
		listed.length > 0 ? `Saved workflows (name):\n${listed.join("\n")}` : "No workflow is saved (.pi/workflows/*.js).",
		...problems.slice(0, 5).map((problem) => `Not used: ${sanitize(problem)}`),
	].join("\n\n");
}
