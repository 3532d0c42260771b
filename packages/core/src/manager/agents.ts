/**
 * The agents a caller may use: all of the session's for its model and its user, only descendants for an agent. Tools
 * and commands use this interface, so that each works the same for both.
 */

import type { Outcome } from "@pi-subagents/progress";
import { sanitize } from "@pi-subagents/progress";
import { AgentError, quoted } from "../base/error.ts";
import { nameKey, visibleName } from "../base/names.ts";
import type { AgentRecord } from "../model/record.ts";
import type { RunSpec, Stop } from "../model/runner.ts";
import type { LaunchOptions, Manager, ResumeOptions } from "./manager.ts";
import type { ManagerScope } from "./scope.ts";

export interface Agents {
	/** In launch order. */
	list(): readonly AgentRecord[];
	spawn(spec: RunSpec, options?: Omit<LaunchOptions, "parentAgentId" | "launchedBy">): AgentRecord;
	/** Runs a settled agent again. */
	resume(id: string, spec: RunSpec, options?: ResumeOptions): AgentRecord;
	wait(id: string, options?: { signal?: AbortSignal }): Promise<Outcome>;
	/** How long a running agent has been running. */
	elapsedMs(id: string): number | undefined;
	/** What an active agent does now, for people. */
	activityOf(id: string): string | undefined;
	/**
	 * The caller stops waiting and the agent continues in the background. Absent where its result could not be
	 * delivered.
	 */
	moveToBackground?(id: string): void;
	steer(id: string, message: string): void;
	wrapUp(id: string, reason?: string): void;
	abort(id: string, stop: Stop): void;
	answer(id: string, text: string): void;
}

/** All agents. Launches and answers count as the session's model or the user. */
export function allAgents(manager: Manager, actsFor: "session" | "user"): Agents {
	const launchedBy = actsFor === "user" ? "user" : "model";
	return {
		list: () => manager.store.snapshot().records,
		spawn: (spec, options) => manager.spawn(spec, { ...options, launchedBy }),
		resume: (id, spec, options) => manager.resume(id, spec, { ...options, launchedBy }),
		wait: (id, options) => manager.wait(id, options),
		elapsedMs: (id) => manager.elapsedMs(id),
		activityOf: (id) => manager.activityOf(id),
		moveToBackground: (id) => manager.moveToBackground(id),
		steer: (id, message) => manager.steer(id, message),
		wrapUp: (id, reason) => manager.wrapUp(id, reason),
		abort: (id, stop) => manager.abort(id, stop),
		answer: (id, text) => manager.answer(id, text, actsFor),
	};
}

/** The descendants of one agent. */
export function ownAgents(scope: ManagerScope): Agents {
	return {
		list: () => scope.list(),
		spawn: (spec, options) => scope.spawn(spec, options),
		resume: (id, spec, options) => scope.resume(id, spec, options),
		wait: (id, options) => scope.wait(id, options),
		elapsedMs: (id) => scope.elapsedMs(id),
		activityOf: (id) => scope.activityOf(id),
		steer: (id, message) => scope.steer(id, message),
		wrapUp: (id, reason) => scope.wrapUp(id, reason),
		abort: (id, stop) => scope.abort(id, stop),
		answer: (id, text) => scope.answer(id, text),
	};
}

/** More in an error would bury the message. */
const MAX_NAMED = 20;

/** An agent by its id, its name, or the beginning of only one id. Throws an error that lists the known ones. */
export function findAgent(agents: readonly AgentRecord[], wanted: string): AgentRecord {
	const key = nameKey(wanted);
	const exact = agents.find(({ id }) => id.toLowerCase() === key);
	// A name may have been reused; the latest is meant.
	const named = exact ?? agents.findLast(({ name }) => name !== undefined && nameKey(name) === key);
	const [only, ...others] = named || key === "" ? [named] : agents.filter(({ id }) => id.toLowerCase().startsWith(key));
	if (only && others.length === 0) return only;
	visibleName(wanted, "agent", "unknown_agent");
	const what = others.length > 0 ? `${quoted(wanted)} could be several agents` : `There is no agent ${quoted(wanted)}`;
	throw new AgentError("unknown_agent", `${what}. ${listed(agents)}`);
}

interface Candidates {
	is: (record: AgentRecord) => boolean;
	/** The error message if there is none, as a sentence. */
	none: string;
}

/** Without an id, the only agent that qualifies. */
export function findCandidate(
	agents: readonly AgentRecord[],
	wanted: string | undefined,
	{ is, none }: Candidates,
): AgentRecord {
	if (wanted !== undefined && wanted.trim() !== "") return findAgent(agents, wanted);
	const candidates = agents.filter(is);
	const [only, ...others] = candidates;
	if (!only) throw new AgentError("unknown_agent", none);
	if (others.length > 0)
		throw new AgentError("unknown_agent", `Several agents match; say which. ${listed(candidates)}`);
	return only;
}

function listed(agents: readonly AgentRecord[]): string {
	if (agents.length === 0) return "None has been launched.";
	const shown = agents.slice(-MAX_NAMED).map(({ id, name, type, status }) => {
		const called = name === undefined ? "" : ` "${sanitize(name)}"`;
		return `${id}${called} (${sanitize(type)}, ${status})`;
	});
	const older = agents.length > shown.length ? ` and ${agents.length - shown.length} older ones` : "";
	return `Known: ${shown.join(", ")}${older}.`;
}
