/** Trees of agents that spawn and wait, played in any order: all of them must finish. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SlotLimits } from "../../src/queue/limits.ts";
import { bench } from "./slots-timer.ts";

interface Plan {
	model: string;
	isForeground: boolean;
	children: Plan[];
}

interface Agent extends Plan {
	id: string;
	parent: Agent | undefined;
	launched: Agent[];
	isSettled: boolean;
	/** What it waits for, and how it stops waiting. */
	waits: Map<Agent, () => void>;
}

type SettleOrder = "take back first" | "release first";

/** Plays the trees to the end, one step of one running agent at a time. */
function play(roots: Plan[], limits: Partial<SlotLimits>, picks: number[], settleOrder: SettleOrder) {
	const agents = new Map<string, Agent>();
	const running = new Set<Agent>();
	const run = (id: string) => {
		const agent = agents.get(id);
		if (agent) running.add(agent);
	};
	const { slots, ask } = bench(limits, { onGrant: run });
	let most = 0;

	function launch(plan: Plan, parent?: Agent): Agent {
		const agent: Agent = { ...plan, id: `x${agents.size}`, parent, launched: [], isSettled: false, waits: new Map() };
		agents.set(agent.id, agent);
		const { id, model, isForeground } = agent;
		if (ask(id, { model, isForeground, ...(parent ? { parentId: parent.id } : {}) }) === "granted") run(id);
		return agent;
	}

	function wait(agent: Agent, child: Agent): void {
		running.delete(agent);
		agent.waits.set(child, slots.lend(agent.id));
	}

	function settle(agent: Agent): void {
		const { parent } = agent;
		running.delete(agent);
		agent.isSettled = true;
		const release = () => slots.release(agent.id);
		const takeBack = () => {
			parent?.waits.get(agent)?.();
			if (parent?.waits.delete(agent) && parent.waits.size === 0) running.add(parent);
		};
		for (const act of settleOrder === "take back first" ? [takeBack, release] : [release, takeBack]) act();
	}

	/** Launches the next child, waiting for it if that is in the foreground; then waits for the others; then is done. */
	function advance(agent: Agent): void {
		const plan = agent.children[agent.launched.length];
		const live = agent.launched.filter(({ isSettled }) => !isSettled);
		if (plan) {
			const child = launch(plan, agent);
			agent.launched.push(child);
			if (child.isForeground) wait(agent, child);
		} else if (live.length > 0) for (const child of live) wait(agent, child);
		else settle(agent);
	}

	for (const root of roots) launch(root);
	for (let turn = 0; running.size > 0; turn++) {
		const list = [...running];
		const agent = list[(picks[turn % picks.length] ?? 0) % list.length];
		if (agent) advance(agent);
		most = Math.max(most, slots.snapshot().running);
	}
	const unsettled = [...agents.values()].filter(({ isSettled }) => !isSettled).map(({ id }) => id);
	return { launched: agents.size, unsettled, most, snapshot: slots.snapshot() };
}

function sizeOf(plans: Plan[]): number {
	return plans.reduce((sum, { children }) => sum + 1 + sizeOf(children), 0);
}

const tree = (depth: number): fc.Arbitrary<Plan> =>
	fc.record({
		model: fc.constantFrom("a/1", "a/2", "b/1"),
		isForeground: fc.boolean(),
		children: depth === 1 ? fc.constant([]) : fc.array(tree(depth - 1), { maxLength: 3 }),
	});
const forest = fc.array(tree(4), { minLength: 1, maxLength: 6 });
const picks = fc.array(fc.nat(50), { minLength: 1, maxLength: 50, size: "max" });
const few = fc.integer({ min: 1, max: 3 });
const settled = { running: 0, queued: 0, lent: 0, paused: [] };

describe("agents that finish after their children", () => {
	test("all finish with 1 to 3 slots, which are never exceeded when the parent takes back first", () => {
		fc.assert(
			fc.property(forest, few, picks, (roots, maxConcurrent, order) => {
				const { most, ...rest } = play(roots, { maxConcurrent }, order, "take back first");
				expect(rest).toEqual({ launched: sizeOf(roots), unsettled: [], snapshot: settled });
				expect(most).toBeLessThanOrEqual(maxConcurrent);
			}),
			{ numRuns: 300 },
		);
	});

	test("all finish with limits for everything, whatever is told first", () => {
		const order = fc.constantFrom<SettleOrder>("take back first", "release first");
		fc.assert(
			fc.property(forest, few, few, few, picks, order, (roots, all, provider, model, sequence, settleOrder) => {
				const limits = { maxConcurrent: all, maxPerProvider: provider, maxPerModel: model };
				const { most: _most, ...rest } = play(roots, limits, sequence, settleOrder);
				expect(rest).toEqual({ launched: sizeOf(roots), unsettled: [], snapshot: settled });
			}),
			{ numRuns: 300 },
		);
	});

	test("a chain of depth 4 runs with one slot in each mode", () => {
		const chain = [1, 2, 3, 4].reduce<Plan[]>((children) => [{ model: "a/1", isForeground: true, children }], []);
		for (const whenFull of ["queue", "refuse"] as const)
			expect(play(chain, { maxConcurrent: 1, whenFull }, [0], "take back first")).toEqual({
				launched: 4,
				unsettled: [],
				most: 1,
				snapshot: settled,
			});
	});
});
