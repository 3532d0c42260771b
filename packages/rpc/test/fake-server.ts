/** Servers for the client's tests: agents that a test settles by hand, with our additions or with version 2 alone. */
import { type AgentInfo, type Bus, lifecycleChannels, type SettledAgent, serve } from "../src/index.ts";

export interface FakeServer {
	/** Ends an agent, as the server would tell of it. */
	settle(id: string, how?: Partial<SettledAgent>): void;
	readonly stopped: string[];
	readonly steered: string[];
	readonly consumed: string[];
	stop(): void;
}

export function fakeServer(bus: Bus, { isV2 = false, prefix = "a" } = {}): FakeServer {
	const settled = new Map<string, SettledAgent>();
	const waiting = new Map<string, ((agent: SettledAgent) => void)[]>();
	const ids: string[] = [];
	const stopped: string[] = [];
	const steered: string[] = [];
	const consumed: string[] = [];
	const known = (id: string) => {
		if (!ids.includes(id)) throw new Error("Agent not found");
		return id;
	};
	const spawn = () => {
		const id = `${prefix}${ids.length + 1}`;
		ids.push(id);
		return { id };
	};
	const stop = ({ agentId }: { agentId: string }) => void stopped.push(known(agentId));
	const consume = ({ agentId }: { agentId: string }) => void consumed.push(known(agentId));
	const wait = ({ agentId }: { agentId: string }) => {
		const done = settled.get(known(agentId));
		if (done) return done;
		return new Promise<SettledAgent>((resolve) => waiting.set(agentId, [...(waiting.get(agentId) ?? []), resolve]));
	};
	const result = ({ agentId }: { agentId: string }) => {
		const done = settled.get(known(agentId));
		if (!done) throw new Error("Agent is not settled");
		return done;
	};
	const info = (id: string): AgentInfo => ({
		id,
		type: "Explore",
		description: "look",
		status: settled.has(id) ? "completed" : "running",
		depth: 1,
		isBackground: true,
		turns: 0,
		toolUses: 0,
		tokens: { input: 0, output: 0, total: 0 },
		queuedAt: 1,
	});
	const additions = {
		workflow: ({ name = "" }: { name?: string }) => {
			ids.push(name);
			return { id: name };
		},
		wait,
		result,
		status: ({ agentId }: { agentId: string }) => info(known(agentId)),
		list: () => ids.map(info),
		cost: ({ agentId }: { agentId?: string }) => {
			const tokens = { input: 0, output: 0, total: 0 };
			return { cost: agentId === undefined ? 3 : 1, tokens, usage: {}, agents: 1 };
		},
		steer: ({ agentId, message }: { agentId: string; message: string }) =>
			void steered.push(`${known(agentId)}: ${message}`),
	};
	return {
		stopped,
		steered,
		consumed,
		settle(id, how = {}) {
			const agent: SettledAgent = {
				id,
				type: "Explore",
				description: "look",
				status: "completed",
				result: `${id} is done`,
				toolUses: 1,
				durationMs: 5,
				...how,
			};
			settled.set(id, agent);
			const isFailure = ["error", "stopped", "aborted"].includes(agent.status);
			bus.emit(lifecycleChannels[isFailure ? "failed" : "completed"], agent);
			for (const resolve of waiting.get(id) ?? []) resolve(agent);
		},
		stop: serve(bus, isV2 ? { spawn, stop } : { spawn, stop, consume, ...additions }),
	};
}
