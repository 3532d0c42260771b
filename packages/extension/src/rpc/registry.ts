/**
 * The agents for code in the same process without the bus: an object under a global symbol. The first session of a
 * process registers it, and only that session removes it.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, isSettled, type Manager } from "@pi-subagents/core";
import { readRequest, type SettledAgent, toV2Status } from "@pi-subagents/rpc";
import { agentInfoOf, settledAgentOf } from "../bus/payloads.ts";
import { launchAgent, type RpcDeps } from "./launch.ts";

const KEY = Symbol.for("pi-subagents:manager");

/** The registered object. */
interface ManagerRegistry {
	/** Resolves when no agent is active, whoever launched it. */
	waitForAll(): Promise<void>;
	hasRunning(): boolean;
	/** Like `spawn` of the RPC. The first two parameters are ignored; the open session is used. */
	spawn(pi: unknown, ctx: unknown, type: string, prompt: string, options?: object): Promise<string>;
	/** A copy of the record of an agent that the session launched. */
	getRecord(id: string): RegistryRecord | undefined;
}

type RegistryRecord = Omit<ReturnType<typeof agentInfoOf>, "status"> &
	Partial<Omit<SettledAgent, "status">> & { status: SettledAgent["status"] };

export function provideRegistry(pi: ExtensionAPI, deps: RpcDeps): void {
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
	/** Runs of other processes cannot be awaited here. */
	const active = () =>
		manager.store.currentRecords().filter(({ id, status }) => !isSettled(status) && manager.specOf(id) !== undefined);
	return {
		hasRunning: () => active().length > 0,
		async waitForAll() {
			for (let ids = active(); ids.length > 0; ids = active()) await Promise.all(ids.map(({ id }) => manager.wait(id)));
		},
		spawn: async (_pi, _ctx, type, prompt, options) =>
			(await launchAgent(readRequest("spawn", { type, prompt, options }), deps)).id,
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
