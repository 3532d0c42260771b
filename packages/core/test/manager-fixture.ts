/** A manager with puppets for children and time that moves by hand. */
import { type AgentError, type LaunchOptions, Manager, type ManagerOptions, type RunSpec } from "../src/index.ts";
import { type FakeRun, fakeRunner, handClock } from "../src/testing/index.ts";
import { spec } from "./events.ts";

export function setUp(options: Partial<ManagerOptions> = {}, onStart?: (run: FakeRun) => void) {
	const runner = fakeRunner(onStart);
	const clock = handClock();
	let ids = 0;
	const newId = () => `a${++ids}`;
	const manager = new Manager({ runners: { session: runner }, clock, newId, random: () => 0.5, ...options });
	const runOf = (id: string) => runner.runs.findLast((run) => run.spec.agentId === id);
	const spawn = (change: Partial<RunSpec> = {}, launch: LaunchOptions = {}) => {
		const { id } = manager.spawn({ ...spec, ...change }, launch);
		return {
			id,
			record: () => manager.store.record(id),
			status: () => manager.store.record(id)?.status,
			/** Its latest run; only once it has started. */
			get run() {
				const run = runOf(id);
				if (!run) throw new Error(`${id} has not started`);
				return run;
			},
		};
	};
	/** Lets promises that have resolved be heard of. */
	const heard = () => new Promise<void>((resolve) => setImmediate(resolve));
	return { manager, runner, clock, spawn, heard };
}

export function codeOf(work: () => unknown): string | undefined {
	try {
		work();
	} catch (error) {
		return (error as AgentError).code;
	}
	return undefined;
}
