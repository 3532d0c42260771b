/**
 * The agents that somebody may deal with: all of the session's for its model and its user, its own descendants for an
 * agent. Tools and commands speak to this, so that each works the same for both.
 */
import {
	AgentError,
	type AgentRecord,
	type LaunchOptions,
	type Manager,
	type ManagerScope,
	type Outcome,
	quoted,
	type RunSpec,
	type Stop,
} from "@pi-subagents/core";
import { sanitize } from "@pi-subagents/progress";

export interface Agents {
	/** In the order of launching. */
	list(): readonly AgentRecord[];
	spawn(spec: RunSpec, options?: Omit<LaunchOptions, "parentAgentId">): AgentRecord;
	/** Runs a settled agent again. */
	resume(id: string, spec: RunSpec, options?: Pick<LaunchOptions, "isBackground">): AgentRecord;
	wait(id: string, options?: { signal?: AbortSignal }): Promise<Outcome>;
	/** Nobody waits for it any more: it goes on in the background, if somebody there hears of its result. */
	leave?(id: string): void;
	steer(id: string, message: string): void;
	wrapUp(id: string, reason?: string): void;
	abort(id: string, stop: Stop): void;
	answer(id: string, text: string): void;
}

/** All agents. `answersAs` is whose answers to their questions count as. */
export function allAgents(manager: Manager, answersAs: "session" | "user"): Agents {
	return {
		list: () => manager.store.snapshot().records,
		spawn: (spec, options) => manager.spawn(spec, options),
		resume: (id, spec, options) => manager.resume(id, spec, options),
		wait: (id, options) => manager.wait(id, options),
		leave: (id) => manager.leave(id),
		steer: (id, message) => manager.steer(id, message),
		wrapUp: (id, reason) => manager.wrapUp(id, reason),
		abort: (id, stop) => manager.abort(id, stop),
		answer: (id, text) => manager.answer(id, text, answersAs),
	};
}

/** Those that an agent launched, and theirs. */
export function ownAgents(scope: ManagerScope): Agents {
	return {
		list: () => scope.list(),
		spawn: (spec, options) => scope.spawn(spec, options),
		resume: (id, spec, options) => scope.resume(id, spec, options),
		wait: (id, options) => scope.wait(id, options),
		steer: (id, message) => scope.steer(id, message),
		wrapUp: (id, reason) => scope.wrapUp(id, reason),
		abort: (id, stop) => scope.abort(id, stop),
		answer: (id, text) => scope.answer(id, text),
	};
}

/** More in an error would bury the message. */
const MOST_NAMED = 20;

/** An agent by its id, its name, or the beginning of only one id. Throws an error that lists the known ones. */
export function findAgent(agents: readonly AgentRecord[], wanted: string): AgentRecord {
	const key = wanted.trim().toLowerCase();
	const exact = agents.find(({ id }) => id.toLowerCase() === key);
	// A name may have been given again; the latest is meant.
	const named = exact ?? agents.findLast(({ name }) => name !== undefined && name.toLowerCase() === key);
	const [only, ...others] = named || key === "" ? [named] : agents.filter(({ id }) => id.toLowerCase().startsWith(key));
	if (only && others.length === 0) return only;
	const what = others.length > 0 ? `${quoted(wanted)} could be several agents` : `There is no agent ${quoted(wanted)}`;
	throw new AgentError("unknown_agent", `${what}. ${listed(agents)}`);
}

export interface Candidates {
	is: (record: AgentRecord) => boolean;
	/** What to say when there is none, as a whole sentence. */
	none: string;
}

/** Without an id the one agent that can be meant, if there is only one. */
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
		throw new AgentError("unknown_agent", `Several agents can be meant; say which. ${listed(candidates)}`);
	return only;
}

function listed(agents: readonly AgentRecord[]): string {
	if (agents.length === 0) return "None has been launched.";
	const shown = agents.slice(-MOST_NAMED).map(({ id, name, type, status }) => {
		const called = name === undefined ? "" : ` "${sanitize(name)}"`;
		return `${id}${called} (${sanitize(type)}, ${status})`;
	});
	const older = agents.length > shown.length ? ` and ${agents.length - shown.length} older ones` : "";
	return `Known: ${shown.join(", ")}${older}.`;
}
