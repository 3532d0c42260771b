/**
 * The agents for code in the same process without the bus: an object under a global symbol. The first instance that is
 * loaded registers it, so that extensions loaded earlier find it when their session starts. An instance that never opens a
 * session gives way to one that does.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, systemClock } from "@pi-subagents/core";
import { bestEffort, defined } from "@pi-subagents/core/internal/base";
import { isSettled } from "@pi-subagents/progress";
import {
	createRegistry,
	type ManagerRegistry,
	type RegistryServer,
	type RegistrySession,
	type RegistryState,
	toV2Status,
} from "@pi-subagents/rpc";
import { wholeOutcome } from "@pi-subagents/runs";
import type { EventPublisher } from "../bus/bus.ts";
import { agentInfoOf, settledAgentOf } from "../bus/payloads.ts";
import { launchAgent, type RpcDeps } from "./launch.ts";

const KEY = Symbol.for("pi-subagents:manager");
/** Whether the owner of a registry has opened a session. Other copies of this code read it, too. */
const IS_OPEN = Symbol.for("@pi-subagents/extension:open");

type SharedGlobal = { [KEY]?: ManagerRegistry & { [IS_OPEN]?: boolean } };

export function provideRegistry(pi: ExtensionAPI, deps: RpcDeps & { bus: EventPublisher }): RegistryServer {
	const server = registryFor(deps);
	const { registry } = server;
	const place = globalThis as SharedGlobal;
	const markOpen = (value: boolean) => Object.defineProperty(registry, IS_OPEN, { value, configurable: true });
	markOpen(false);
	place[KEY] ??= registry;
	pi.on("session_start", () => {
		if (place[KEY]?.[IS_OPEN] === false) delete place[KEY];
		markOpen(true);
		place[KEY] ??= registry;
	});
	pi.on("session_shutdown", () => {
		if (place[KEY] === registry) delete place[KEY];
	});
	return server;
}

function registryFor(deps: RpcDeps & { bus: EventPublisher }): RegistryServer {
	const { manager, callerData, bus } = deps;
	/** Records are immutable, so each is read once. */
	const states = new WeakMap<AgentRecord, RegistryState>();
	return createRegistry({
		newId: () => manager.newId(),
		now: () => Math.floor(systemClock.now()),
		launch: (id, request) => launchAgent(request, deps, id),
		read(id) {
			const record = manager.store.record(id);
			if (!record || record.parentAgentId !== undefined) return undefined; // only what the session launched
			const state = states.get(record) ?? {
				...stateOf(record),
				...defined({ invocation: callerData.invocations.get(id) }),
			};
			states.set(record, state);
			return state;
		},
		session: (id) => sessionOf(id, deps),
		async wait(id) {
			const outcome = await manager.wait(id);
			const record = manager.store.record(id);
			return (record && settledAgentOf(record, await wholeOutcome(record, outcome)).result) ?? "";
		},
		/** Runs of other processes cannot be awaited here. */
		active: () =>
			manager.store
				.currentRecords()
				.filter(({ id, status }) => !isSettled(status) && manager.specOf(id) !== undefined)
				.map(({ id }) => id),
		refused: bus.refused,
	});
}

function stateOf(record: AgentRecord): RegistryState {
	const { outcome, status, queuedAt, startedAt = queuedAt, usage } = record;
	return {
		...agentInfoOf(record),
		...(outcome ? settledAgentOf(record, outcome) : {}),
		status: toV2Status(status, outcome),
		startedAt,
		lifetimeUsage: { ...usage },
	};
}

/** Callers rarely await what they ask for, and an unhandled rejection would end pi. */
function sessionOf(id: string, { manager, host }: RpcDeps): RegistrySession | undefined {
	const session = manager.sessionOf(id);
	if (!session) return undefined;
	const ask = (what: string, work: () => void) => bestEffort(`${what} agent ${id}`, host.warn, work);
	const view = {
		sessionId: session.sessionId,
		get messages() {
			return session.messages;
		},
		subscribe: session.subscribe,
		steer: (message: string) => ask("steering", () => manager.steer(id, String(message))),
		abort: () => ask("stopping", () => manager.abort(id, { by: "parent", reason: "another extension stopped it" })),
		toJSON: () => ({ sessionId: session.sessionId }), // a whole conversation is no part of a record
	};
	return view;
}
