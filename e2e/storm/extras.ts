/**
 * What a storm can have besides agents and their tools: workflows, checks of the work, MCP servers, launchers, another
 * machine. A chance of its own decides, so a seed stands for the same agents with and without them. As data.
 */
import { type Random, randomFrom } from "../support/rounds.ts";
import type { AgentPlan, Step } from "./plan.ts";

export const EXTRAS = ["workflow", "verify", "mcp", "launcher", "remote"] as const;
export type Extra = (typeof EXTRAS)[number];

/** Those that need processes of their own. */
const FULL_EXTRAS: readonly Extra[] = ["launcher", "remote"];

/** What an agent has more than others. */
export interface AgentExtras {
	/** Its work is checked: the command passes when it runs for the so-many-th time; never, if that is 0. */
	verify?: { passesAt: number };
	usesMcp?: true;
	/** It runs inside a launcher. */
	isBoxed?: true;
	/** It runs on another machine, which is this one over a pipe, and has its checkout there. */
	isRemote?: true;
}

export interface WorkflowPlan {
	/** Stands in its description. */
	key: string;
	/** The agents that its script calls. */
	calls: readonly AgentPlan[];
	/** So many of them in the first phase, and so many at once. */
	first: number;
	concurrency: number;
	/** The session's model waits for it. */
	isWaitedFor: boolean;
}

export type ExtraDeed = (typeof DEEDS)[Extra][number];

/** What happens to them. A launcher that is broken is mended before the end. */
const DEEDS = {
	workflow: ["stop a workflow", "resume a workflow", "pause a workflow", "skip a call", "retry a call"],
	verify: ["kill a check"],
	mcp: ["kill an MCP server"],
	launcher: ["break the launcher", "mend the launcher"],
	remote: ["kill a worker"],
} as const satisfies Record<Extra, readonly string[]>;

/** Those of a storm of that kind. */
export function possibleExtras(isFull: boolean, wanted: readonly Extra[]): Extra[] {
	return wanted.filter((extra) => isFull || !FULL_EXTRAS.includes(extra));
}

export interface ExtrasOptions {
	seed: number;
	isFull: boolean;
	extras: readonly Extra[];
	/** All agents of the plan so far; those that workflows call are added. */
	agents: Map<string, AgentPlan>;
	/** Those that the session launches. */
	roots: readonly AgentPlan[];
}

/** Gives some agents more, and makes workflows. */
export function planExtras({ seed, isFull, extras, agents, roots }: ExtrasOptions): WorkflowPlan[] {
	const chance = randomFrom(seed ^ 0x2545f491);
	for (const agent of agents.values()) equip(agent, chance, extras, roots.includes(agent));
	if (!extras.includes("workflow")) return [];
	return Array.from({ length: chance.pick([1, 1, 2]) }, (_, index): WorkflowPlan => {
		const calls = Array.from({ length: 2 + Math.floor(chance.next() * 4) }, () => {
			const agent = calledAgent(`a${agents.size + 1}`, chance, isFull);
			agents.set(agent.key, agent);
			equip(agent, chance, extras, true);
			return agent;
		});
		return {
			key: `w${index + 1}`,
			calls,
			first: 1 + Math.floor(chance.next() * calls.length),
			concurrency: 1 + Math.floor(chance.next() * 3),
			isWaitedFor: chance.next() < 0.2,
		};
	});
}

/** One or two of each kind that the storm has, at any time. */
export function extraDeeds(seed: number, extras: readonly Extra[]): { does: ExtraDeed; at: number; chance: number }[] {
	const chance = randomFrom(seed ^ 0x6c078965);
	return extras.flatMap((extra) =>
		Array.from({ length: chance.pick([1, 2]) }, () => ({
			does: chance.pick<ExtraDeed>(DEEDS[extra]),
			at: chance.next(),
			chance: chance.next(),
		})),
	);
}

/** Only a call of the session or of a workflow can name a command. */
function equip(agent: AgentPlan, chance: Random, extras: readonly Extra[], mayVerify: boolean): void {
	const { tool, isScheduled, isProcess, hasWorktree, children } = agent;
	const has = (extra: Extra, odds: number) => chance.next() < odds && extras.includes(extra);
	const takesMore = mayVerify && (tool === "Agent" || tool === "waited Agent" || tool === "call") && !isScheduled;
	const isDetached = tool === "background_agent";
	const more: AgentExtras = {};
	const passesAt = chance.pick([1, 1, 2, 3, 0]);
	if (has("verify", 0.3) && takesMore) more.verify = { passesAt };
	if (has("launcher", 0.5) && (isProcess || isDetached)) more.isBoxed = true;
	if (has("remote", 0.2) && !more.isBoxed && !hasWorktree && !isScheduled && children.length === 0)
		more.isRemote = true;
	if (has("mcp", 0.25) && !isProcess && !isDetached && !more.isRemote) more.usesMcp = true;
	const steps: Step[] = [
		...(more.isBoxed ? [{ does: "runs" as const }] : []),
		...(more.isRemote && chance.next() < 0.6 ? [{ does: "writes" as const }] : []),
		...(more.usesMcp ? [{ does: "adds" as const }] : []),
	];
	Object.assign(agent, more, { steps: [...steps, ...agent.steps] });
}

const CALLED_STEPS = ["talks", "reads", "runs", "waits"] as const;

function calledAgent(key: string, chance: Random, isFull: boolean): AgentPlan {
	const steps = Array.from({ length: Math.floor(chance.next() * 3) }, () => ({ does: chance.pick(CALLED_STEPS) }));
	return {
		key,
		tool: "call",
		isProcess: isFull && chance.next() < 0.25,
		hasWorktree: false,
		isScheduled: false,
		steps,
		end: chance.pick(["answers", "answers", "answers", "answers", "fails", "says nothing"]),
		children: [],
	};
}

/** The script of a workflow. Each call says what it is by the key in its text. */
export function scriptOf(
	{ key, calls, first, concurrency }: WorkflowPlan,
	optionsOf: (agent: AgentPlan) => object,
): string {
	const list = calls.map((agent) => ({ text: taskOf(agent), options: { label: agent.key, ...optionsOf(agent) } }));
	return `export const meta = { name: "${key}", description: "A workflow in a storm. [${key}]" }
const calls = ${JSON.stringify(list)}
const all = (some) => map(some, ({ text, options }) => agent(text, options), { concurrency: ${concurrency} })
phase("First")
const before = await all(calls.slice(0, ${first}))
phase("Second")
return [...before, ...(await all(calls.slice(${first})))]`;
}

export function taskOf({ key }: Pick<AgentPlan, "key">): string {
	return `Weather it. [${key}]`;
}
