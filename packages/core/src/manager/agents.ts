/**
 * The agents a caller may use: all of the session's for its model and its user, only descendants for an agent. Tools
 * and commands use this interface, so that each works the same for both.
 */

import type { Outcome } from "@pi-subagents/progress";
import { AgentError, quoted } from "../base/error.ts";
import { nameKey } from "../base/names.ts";
import type { AgentRecord } from "../model/record.ts";
import type { RunSpec, Stop } from "../model/runner.ts";
import type { AgentTree } from "./agent-tree.ts";
import type { LaunchOptions, Manager, ResumeOptions } from "./manager.ts";

export interface Agents {
	/** Parents before their children; siblings in launch order. */
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

interface OwnAgentsDeps {
	manager: Manager;
	tree: AgentTree;
	parentId: string;
	/** Which presets the parent may launch. */
	allowed: () => RunSpec["subagents"];
}

/** The descendants of one agent, which may launch what its preset allows. It lends its slot while it waits for one. */
export function ownAgents({ manager, tree, parentId, allowed }: OwnAgentsDeps): Agents {
	const list = () => tree.descendantsOf(parentId);
	const own = (id: string): string => {
		if (list().some((record) => record.id === id)) return id;
		throw new AgentError("unknown_agent", `There is no agent ${quoted(id)} among those this agent launched.`);
	};
	return {
		list,
		spawn(spec, options) {
			assertAllowed(spec, allowed());
			return manager.spawn(spec, { ...options, parentAgentId: parentId });
		},
		resume(id, spec, options) {
			assertAllowed(spec, allowed());
			return manager.resume(own(id), spec, options);
		},
		wait: async (id, options) => manager.wait(own(id), { ...options, waiterId: parentId }),
		elapsedMs: (id) => manager.elapsedMs(own(id)),
		activityOf: (id) => manager.activityOf(own(id)),
		steer: (id, message) => manager.steer(own(id), message),
		wrapUp: (id, reason) => manager.wrapUp(own(id), reason),
		abort: (id, stop) => manager.abort(own(id), stop),
		answer: (id, text) => manager.answer(own(id), text, "agent"),
	};
}

function assertAllowed({ type }: RunSpec, allowed: RunSpec["subagents"] = []): void {
	if (allowed === "*" || allowed.some((name) => nameKey(name) === nameKey(type))) return;
	const known = allowed.length > 0 ? `Allowed: ${allowed.join(", ")}.` : "Its preset allows none.";
	throw new AgentError("forbidden_preset", `This agent may not launch ${quoted(type)}. ${known}`);
}
