/**
 * The agents for code in the same process that knows no bus: an object under a symbol that everybody can find. The first
 * session of a process offers it, and only who offered it takes it away.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, isSettled, type Manager } from "@pi-subagents/core";
import { readRequest, type SettledAgent, toV2Status } from "@pi-subagents/rpc";
import { agentInfoOf, settledAgentOf } from "../bus/payloads.ts";
import { launchFor, type RpcDeps } from "./launch.ts";

const KEY = Symbol.for("pi-subagents:manager");

/** What is found there. */
interface ManagerRegistry {
	/** Resolves when no agent is at work, whoever launched it. */
	waitForAll(): Promise<void>;
	hasRunning(): boolean;
	/** As `spawn` of the RPC. The first two belong to its shape; the session that is open counts. */
	spawn(pi: unknown, ctx: unknown, type: string, prompt: string, options?: object): Promise<string>;
	/** A copy of what is known of an agent that the session launched. */
	getRecord(id: string): RegistryRecord | undefined;
}

type RegistryRecord = Omit<ReturnType<typeof agentInfoOf>, "status"> &
	Partial<Omit<SettledAgent, "status">> & { status: SettledAgent["status"] };

export function offerRegistry(pi: ExtensionAPI, deps: RpcDeps): void {
	const registry = registryFor(deps);
	const place = globalThis as { [KEY]?: ManagerRegistry };
	pi.on("session_start", () => {
		place[KEY] ??= registry;
	});
	pi.on("session_shutdown", () => {
		if (place[KEY] === registry) delete place[KEY];
	});
}

function registryFor(deps: RpcDeps): ManagerRegistry {
	const { manager } = deps;
	/** What another process runs cannot be waited for here. */
	const active = () =>
		manager.store.atHand().filter(({ id, status }) => !isSettled(status) && manager.specOf(id) !== undefined);
	return {
		hasRunning: () => active().length > 0,
		async waitForAll() {
			for (let ids = active(); ids.length > 0; ids = active()) await Promise.all(ids.map(({ id }) => manager.wait(id)));
		},
		spawn: async (_pi, _ctx, type, prompt, options) =>
			(await launchFor(readRequest("spawn", { type, prompt, options }), deps)).id,
		getRecord: (id) => recordFor(manager, id),
	};
}

function recordFor(manager: Manager, id: string): RegistryRecord | undefined {
	const record: AgentRecord | undefined = manager.store.record(id);
	if (!record || record.parentAgentId !== undefined) return undefined;
	const { outcome, status } = record;
	const info = { ...agentInfoOf(record), status: toV2Status(status, outcome) };
	return outcome ? { ...info, ...settledAgentOf(record, outcome) } : info;
}
