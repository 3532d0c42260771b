/** An agent's view: it may launch what its preset allows, and use its own descendants only. */
import type { Outcome } from "@pi-subagents/progress";
import { AgentError, quoted } from "../base/error.ts";
import { nameKey } from "../base/names.ts";
import type { AgentRecord } from "../model/record.ts";
import type { RunSpec, Stop } from "../model/runner.ts";
import type { AgentTree } from "./agent-tree.ts";
import type { LaunchOptions, Manager, ResumeOptions } from "./manager.ts";

export interface ScopeOptions {
	manager: Manager;
	tree: AgentTree;
	parentId: string;
	/** Which presets the parent may launch. */
	allowed: () => RunSpec["subagents"];
}

export class ManagerScope {
	readonly parentId: string;
	readonly #options: ScopeOptions;

	constructor(options: ScopeOptions) {
		this.#options = options;
		this.parentId = options.parentId;
	}

	spawn(spec: RunSpec, options: Omit<LaunchOptions, "parentAgentId" | "launchedBy"> = {}): AgentRecord {
		this.#assertAllowed(spec);
		return this.#options.manager.spawn(spec, { ...options, parentAgentId: this.parentId });
	}

	resume(id: string, spec: RunSpec, options: ResumeOptions = {}): AgentRecord {
		this.#assertAllowed(spec);
		return this.#options.manager.resume(this.#own(id), spec, options);
	}

	/** The parent lends its slot while it waits. */
	async wait(id: string, options: { signal?: AbortSignal } = {}): Promise<Outcome> {
		return this.#options.manager.wait(this.#own(id), { ...options, waiterId: this.parentId });
	}

	/** How long a running agent has been running. */
	elapsedMs(id: string): number | undefined {
		return this.#options.manager.elapsedMs(this.#own(id));
	}

	/** What an active agent does now, for people. */
	activityOf(id: string): string | undefined {
		return this.#options.manager.activityOf(this.#own(id));
	}

	steer(id: string, message: string): void {
		this.#options.manager.steer(this.#own(id), message);
	}

	wrapUp(id: string, reason?: string): void {
		this.#options.manager.wrapUp(this.#own(id), reason);
	}

	abort(id: string, stop: Stop): void {
		this.#options.manager.abort(this.#own(id), stop);
	}

	answer(id: string, text: string): void {
		this.#options.manager.answer(this.#own(id), text, "agent");
	}

	record(id: string): AgentRecord | undefined {
		return this.list().find((record) => record.id === id);
	}

	/** Parents before their children. */
	list(): AgentRecord[] {
		return this.#options.tree.descendantsOf(this.parentId);
	}

	#assertAllowed(spec: RunSpec): void {
		const allowed = this.#options.allowed() ?? [];
		if (allowed === "*" || allowed.some((name) => nameKey(name) === nameKey(spec.type))) return;
		const known = allowed.length > 0 ? `Allowed: ${allowed.join(", ")}.` : "Its preset allows none.";
		throw new AgentError("forbidden_preset", `This agent may not launch ${quoted(spec.type)}. ${known}`);
	}

	#own(id: string): string {
		if (this.record(id)) return id;
		throw new AgentError("unknown_agent", `There is no agent ${quoted(id)} among those this agent launched.`);
	}
}
