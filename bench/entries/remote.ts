/**
 * What another machine adds to a run, beside the same run in a process of this one: the same stand-in for the wrapper
 * writes the same events. Over a pipe, so without the network's own time.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunIdentity, Runner, RunSpec } from "@pi-subagents/core";
import { processRunner } from "@pi-subagents/core/process";
import { createMachines, remoteRunner } from "@pi-subagents/remote";
import type { Benchmark, Subject } from "../measure.ts";

const wrapper = fileURLToPath(new URL("../fixtures/burst-wrapper.mjs", import.meta.url));
const worker = fileURLToPath(new URL("../fixtures/burst-worker.ts", import.meta.url));
const EVENTS = 5_000;

export const remote: Benchmark[] = [
	row(`remote: a run of ${EVENTS} events over a pipe, from launch to result`, 4, EVENTS),
	row("remote: a run of one event over a pipe, from launch to result", 6, 1),
];

function row(name: string, target: number, events: number): Benchmark {
	const far = (home: string) => {
		const env = {
			...process.env,
			BURST_HOME: home,
			BURST_WRAPPER: wrapper,
		};
		const machines = createMachines(() => ({}), { agentDir: home, worker, env });
		const runner = remoteRunner({ agentDir: home, linkTo: machines.linkTo, isProjectTrusted: () => false });
		return { runner, close: () => machines.close() };
	};
	const near = (home: string) => {
		const pi = { command: "false", args: [] };
		const runner = processRunner({ agentDir: home, isProjectTrusted: () => false, wrapper, childEntry: wrapper, pi });
		return { runner, close: () => undefined };
	};
	return {
		name,
		target,
		unit: "ms",
		rounds: 7,
		ours: subject("remote", far, events),
		against: subject("process", near, events),
	};
}

/** The connection is there, as it is for every agent after the first. */
function subject(name: string, open: (home: string) => { runner: Runner; close: () => void }, events: number): Subject {
	return {
		name,
		async once() {
			const home = await mkdtemp(join(tmpdir(), "pi-bench-"));
			const awake = setInterval(() => undefined, 60_000);
			const { runner, close } = open(home);
			try {
				await settle(runner, home, "warm-up", 1);
				const before = performance.now();
				await settle(runner, home, "measured", events);
				return performance.now() - before;
			} finally {
				close();
				clearInterval(awake);
				await rm(home, { recursive: true, force: true, maxRetries: 5 });
			}
		},
	};
}

async function settle(runner: Runner, home: string, agentId: string, events: number): Promise<void> {
	const spec: RunSpec & RunIdentity = {
		type: "scout",
		description: "count",
		task: String(events),
		cwd: home,
		runner: "process",
		machine: "local",
		outlives: true,
		model: "fake/fake-1",
		tools: ["read"],
		limits: {},
		origins: {},
		warnings: [],
		agentId,
		run: 1,
		artifacts: join(home, "near", agentId),
	};
	let heard = 0;
	const { status } = await runner.start(spec, () => heard++).settled;
	if (status !== "completed" || heard !== events) throw new Error(`${agentId}: ${status} after ${heard} events`);
}
