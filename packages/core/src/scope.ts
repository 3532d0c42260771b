/** An agent's view of agents: it may launch what its preset allows, and deal with its own descendants only. */
import type { Outcome } from "@pi-subagents/progress";
import { AgentError } from "./error.ts";
import type { Family } from "./family.ts";
import type { LaunchOptions, Manager } from "./manager.ts";
import type { AgentRecord } from "./record.ts";
import type { RunSpec, Stop } from "./runner.ts";

export interface ScopeOptions {
	manager: Manager;
	family: Family;
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

	spawn(spec: RunSpec, options: Omit<LaunchOptions, "parentAgentId"> = {}): AgentRecord {
		this.#assertAllowed(spec);
		return this.#options.manager.spawn(spec, { ...options, parentAgentId: this.parentId });
	}

	resume(id: string, spec: RunSpec, options: Pick<LaunchOptions, "isBackground"> = {}): AgentRecord {
		this.#assertAllowed(spec);
		return this.#options.manager.resume(this.#own(id), spec, options);
	}

	/** The parent lends its slot while it waits. */
	async wait(id: string, options: { signal?: AbortSignal } = {}): Promise<Outcome> {
		return this.#options.manager.wait(this.#own(id), { ...options, waiterId: this.parentId });
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
		return this.#options.family.descendantsOf(this.parentId);
	}

	#assertAllowed(spec: RunSpec): void {
		const allowed = this.#options.allowed() ?? [];
		if (allowed === "*" || allowed.some((name) => name.toLowerCase() === spec.type.toLowerCase())) return;
		const known = allowed.length > 0 ? `Allowed: ${allowed.join(", ")}.` : "Its preset allows none.";
		throw new AgentError("forbidden_preset", `This agent may not launch "${spec.type}". ${known}`);
	}

	#own(id: string): string {
		if (this.record(id)) return id;
		throw new AgentError("unknown_agent", `There is no agent ${id} among those this agent launched.`);
	}
}
