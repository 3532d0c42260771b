/** An agent in a process of its own, here or behind a link: until it asks its model, and the memory that it holds. */
import { converse, hang, lastUserSays, say, startRpc } from "@pi-subagents-dev/testkit";
import type { Comparison, Work } from "./comparison.ts";
import { type Contender, featureFiles, forEach } from "./contenders.ts";
import { memoryMbOf, onStage, processesIn, type Stage } from "./stage.ts";

const TASK = "Wait for ever.";
const floor = "pi in RPC mode";

export const detached: Comparison = {
	lines: [
		{ name: "an agent in its own process: until it asks its model", unit: "ms", floor },
		{ name: "an agent in its own process: memory", unit: "MB", floor },
	],
	work: { ...forEach(({ extension, detach }) => detaching(extension, detach)), floor: barePi },
};

/** The worker at the other end of the link runs on this machine. */
export const remote: Comparison = {
	lines: [
		{ name: "an agent behind a link to a machine: until it asks its model", unit: "ms", floor, target: { ratio: 2.5 } },
		{ name: "an agent behind a link to a machine: memory", unit: "MB", floor, target: { ratio: 2.5 } },
	],
	work: { ...forEach(({ extension, sendAway }) => detaching(extension, sendAway)), floor: barePi },
};

function detaching(extension: string, detach: Contender["detach"]): Work | string {
	if (typeof detach === "string") return detach;
	return async () => {
		let called = 0;
		let asked = 0;
		const rules = [
			converse(
				lastUserSays("Begin."),
				() => {
					called = performance.now();
					return detach(TASK);
				},
				say("It is off."),
			),
			converse(lastUserSays(TASK), () => {
				asked ||= performance.now();
				return hang();
			}),
		];
		const work = async (stage: Stage) => {
			const pi = stage.rpc();
			await pi.prompt("Begin.");
			await stage.asked(TASK, 1);
			return [asked - called, await memoryOfOthers(stage.env, pi.pid)];
		};
		return onStage([extension], rules, work, featureFiles);
	};
}

/** The least that is an agent in a process: a pi that is started and told what to do. */
function barePi(): Promise<number[]> {
	return onStage([], [converse(lastUserSays(TASK), hang())], async ({ env, asked }) => {
		const start = performance.now();
		const pi = startRpc({ env });
		await pi.send({ type: "prompt", message: TASK });
		await asked(TASK, 1);
		return [performance.now() - start, await memoryOfOthers(env, undefined)];
	});
}

async function memoryOfOthers(env: Parameters<typeof processesIn>[0], parent: number | undefined): Promise<number> {
	const pids = (await processesIn(env)).filter((pid) => pid !== parent);
	if (pids.length === 0) return Number.NaN;
	const held = await Promise.all(pids.map(memoryMbOf));
	return held.reduce((sum, each) => sum + each, 0);
}
