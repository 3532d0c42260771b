/**
 * What the tools need from the program around them. `allAgents(manager, "session")` of core is every port over agents at
 * once; `createLauncher` of launch resolves. A third party may supply either in its own way.
 */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { AgentRecord, Agents, RunSpec } from "@pi-subagents/core";
import type { LaunchParams } from "@pi-subagents/launch";

/** From a request to a complete spec. Throws an error that the model can act on. */
export type ResolveSpec = (params: LaunchParams, ctx: ExtensionContext) => Promise<RunSpec>;

export type AgentSpawner = Pick<Agents, "spawn">;

/** Finds agents by id or name. */
export type AgentFinder = Pick<Agents, "list">;

/** The runs that outlive this session, oldest first. */
export type BackgroundRuns = () => readonly AgentRecord[];

/** Results are also announced in messages; a tool call that reads one claims it, so that it is delivered once. */
export interface ResultClaims {
	/** The result of this run has been read, by this call. */
	claim(record: AgentRecord, callId: string): void;
	/** A call waits for this run: its announcement is held back until the returned function is called. */
	expect(runId: string): () => void;
}
