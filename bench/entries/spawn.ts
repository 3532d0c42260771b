/** Launching agents: time, memory and the event loop, beside bare sessions that do the same work. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type AgentEvent, Store } from "@pi-subagents/core";
import { type Benchmark, type Subject, timed } from "../measure.ts";
import {
	bareSession,
	HANG,
	newManager,
	nextRequest,
	requests,
	runBare,
	runFollowed,
	runOurs,
	specFor,
	TALK,
} from "../worlds/spawn.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

export const spawning: Benchmark[] = [1, 10, 50, 100].map((count) => ({
	name: `spawn: ${count} at once, from launch to the last answer`,
	target: 1.25,
	unit: "ms",
	rounds: count === 1 ? 25 : 11,
	ours: timed("ours", () => runOurs(count)),
	against: timed("bare sessions", () => runBare(count)),
}));

/** The first of many must not wait until all are set up. */
export const firstStart: Benchmark = {
	name: "spawn: first request when 100 are launched",
	target: 1.25,
	unit: "ms",
	rounds: 11,
	ours: untilFirstRequest("ours", () => runOurs(100)),
	against: untilFirstRequest("bare sessions", () => runBare(100)),
};

export const loopDelay: Benchmark[] = [20, 100].map((count) => ({
	name: `spawn: pause of the event loop, 99th percentile, ${count} agents at 200 tokens a second`,
	target: count === 20 ? 1.3 : 1.5,
	unit: "ms",
	rounds: 5,
	ours: pauses("ours", () => runOurs(count, TALK)),
	against: pauses("bare sessions", () => runBare(count, TALK)),
}));

/** The text of all of them is followed, in pieces. */
export const liveText: Benchmark = {
	name: "live: CPU of 20 agents at 200 tokens a second whose text is followed",
	target: 2,
	unit: "ms",
	rounds: 7,
	ours: cpu("ours", () => runFollowed(20, TALK)),
	against: cpu("bare sessions", () => runBare(20, TALK)),
};

/** Alive and silent: their model has been asked and never answers. */
export const liveMemory: Benchmark = {
	name: "spawn: heap of 100 live agents",
	target: 1.5,
	unit: "MB",
	rounds: 5,
	ours: heapOf("ours", async () => {
		const manager = newManager();
		for (let index = 0; index < 100; index++) manager.spawn(specFor(HANG));
		await allAsked(100);
		return () => manager.shutdown();
	}),
	against: heapOf("bare sessions", async () => {
		const sessions = await Promise.all(Array.from({ length: 100 }, bareSession));
		const prompts = sessions.map((session) => session.prompt(HANG));
		await allAsked(100);
		return async () => {
			await Promise.all(sessions.map((session) => session.abort()));
			await Promise.all(prompts);
			for (const session of sessions) session.dispose();
		};
	}),
};

/** One event at 10,000 agents, beside one at 10. */
export const dispatching: Benchmark = {
	name: "dispatch: 20,000 events at 10,000 records, beside 10 records",
	target: 1.2,
	unit: "ms",
	rounds: 15,
	ours: dispatchAt(10_000),
	against: dispatchAt(10),
};

function untilFirstRequest(name: string, work: () => Promise<unknown>): Subject {
	return {
		name,
		async once() {
			const seen = requests.length;
			const start = performance.now();
			const first = nextRequest(({ number }) => number > seen).then(() => performance.now() - start);
			await Promise.all([first, work()]);
			return first;
		},
	};
}

function pauses(name: string, work: () => Promise<unknown>): Subject {
	return {
		name,
		async once() {
			const delay = monitorEventLoopDelay({ resolution: 1 });
			delay.enable();
			await work();
			delay.disable();
			return delay.percentile(99) / 1e6;
		},
	};
}

function cpu(name: string, work: () => Promise<unknown>): Subject {
	return {
		name,
		async once() {
			const before = process.cpuUsage();
			await work();
			const { user, system } = process.cpuUsage(before);
			return (user + system) / 1_000;
		},
	};
}

function heapOf(name: string, open: () => Promise<() => Promise<void>>): Subject {
	return {
		name,
		async once() {
			collect();
			const before = process.memoryUsage().heapUsed;
			asked = requests.length;
			const close = await open();
			collect();
			const used = process.memoryUsage().heapUsed - before;
			await close();
			return used / 1e6;
		},
	};
}

let asked = 0;
const allAsked = (count: number) => nextRequest(({ number }) => number >= asked + count);

/** Ten agents are at work, however many there are. */
function dispatchAt(records: number): Subject {
	const store = new Store();
	const tell = (id: number, event: object) =>
		store.dispatch({ ...event, agentId: `a${id}`, run: 1, seq: store.seq + 1, at: 0 } as AgentEvent);
	for (let id = 0; id < records; id++) {
		tell(id, { type: "agent_queued", agent: { ...specFor("x"), depth: 1, isBackground: false } });
		tell(id, { type: "agent_started" });
	}
	return timed(`${records} records`, () => {
		for (let event = 0; event < 20_000; event++) tell(event % 10, { type: "turn" });
	});
}
