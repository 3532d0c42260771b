/** What will happen in a storm, as data: who is launched by whom, what each model turn does, and who interferes when. */
import { type Random, randomFrom } from "../support/rounds.ts";
import {
	type AgentExtras,
	type Extra,
	type ExtraDeed,
	extraDeeds,
	planExtras,
	possibleExtras,
	type WorkflowPlan,
} from "./extras.ts";

/** One turn of an agent's model. */
export interface Step {
	does: "talks" | "reads" | "runs" | "writes" | "launches" | "asks" | "waits" | "adds";
	/** What goes wrong when it is first asked for; the second time it does not. */
	fault?: "cut" | "429" | "500" | "garbage" | "overloaded";
}

/** How a run ends that nobody stops. */
type End = "answers" | "fails" | "says nothing" | "is cut off";

export interface AgentPlan extends AgentExtras {
	/** Stands in its task, so that the model knows whose turn it is. */
	key: string;
	/** Which tool launches it, or a call of a workflow's script. */
	tool: "Agent" | "waited Agent" | "subagent" | "background_agent" | "call";
	/** In a process of its own, whatever launches it. */
	isProcess: boolean;
	/** In a checkout of its own. */
	hasWorktree: boolean;
	/** Launched by a job, a moment after the call. */
	isScheduled: boolean;
	steps: readonly Step[];
	end: End;
	children: readonly AgentPlan[];
}

/** Something that comes from outside. It happens when the model has been asked so often. */
export interface Act {
	afterRequests: number;
	does: Deed;
	key: string;
	/** From 0 to below 1: which one, how much, how far. */
	chance: number;
}

type Deed = (typeof DEEDS)[number] | (typeof FULL_DEEDS)[number] | Weather | ExtraDeed | "reload";

const DEEDS = ["stop", "stop", "stop", "abort turn", "say something"] as const;
/** Those need processes, or a pi that may be lost. */
const FULL_DEEDS = [
	"kill pi",
	"kill a child",
	"kill a wrapper",
	"spoil a file",
	"put a full device in place of a log",
	"restart with spoiled files",
	"kill pi and spoil files",
] as const;
type Weather = (typeof WEATHERS)[number][number];
/** What becomes of the disk and the clock, in this order, in a storm of that kind. */
const WEATHERS = [
	["fill the disk", "free the disk"],
	["fill the disk of sessions, too", "free the disk"],
	["make the disk read-only", "free the disk"],
	["forbid the disk", "free the disk"],
	["set the clock", "set the clock"],
	["set the clock", "fill the disk"],
] as const;

export interface Plan {
	seed: number;
	roots: readonly AgentPlan[];
	/** All of them, also those within others. */
	agents: ReadonlyMap<string, AgentPlan>;
	workflows: readonly WorkflowPlan[];
	acts: readonly Act[];
	/** What the session's model does when it hears of results, in this order. */
	reactions: readonly Reaction[];
}

export type Reaction = "listens" | "reads a result" | "steers" | "resumes" | "stops one";

export interface StormOptions {
	agents: number;
	/** With processes of their own, and kills. */
	isFull: boolean;
	/** What it may have besides agents. */
	extras?: readonly Extra[];
}

const DEEPEST = 3;

export function planStorm(seed: number, { agents: count, isFull, extras: wanted = [] }: StormOptions): Plan {
	const chance = randomFrom(seed);
	const agents = new Map<string, AgentPlan>();
	const roots: AgentPlan[] = [];
	const faults = seed % 5 === 0 ? FAULTS_WITH_PAUSE : FAULTS;
	/** Who has the user's own checkout before them writes nothing. */
	const grow = (depth: number, above: { hasWorktree: boolean; isProcess: boolean }): AgentPlan => {
		const key = `a${agents.size + 1}`;
		const tool = depth === 1 ? chance.pick(isFull ? FULL_TOOLS : TOOLS) : "Agent";
		const isDetached = tool === "background_agent";
		const takesMore = tool === "Agent" || tool === "waited Agent";
		const plan: AgentPlan & { children: AgentPlan[] } = {
			key,
			tool,
			isProcess: isFull && !isDetached && chance.next() < 0.15,
			hasWorktree: takesMore && chance.next() < 0.15,
			isScheduled: depth === 1 && tool === "Agent" && chance.next() < 0.12,
			steps: [],
			end: chance.pick(ENDS),
			children: [],
		};
		agents.set(key, plan);
		const mayWrite = plan.hasWorktree || above.hasWorktree;
		const isProcess = plan.isProcess || isDetached;
		const mayLaunch = depth < DEEPEST && !isProcess; // a process of its own has no agents of its own
		while (mayLaunch && agents.size < count && chance.next() < 0.35)
			plan.children.push(grow(depth + 1, { hasWorktree: mayWrite, isProcess }));
		plan.steps = stepsOf(chance, { launches: plan.children.length > 0, mayWrite, faults });
		return plan;
	};
	while (agents.size < count) roots.push(grow(1, { hasWorktree: false, isProcess: false }));
	const acts = actsOf(chance, count, agents, isFull);
	const reactions = reactionsOf(chance, count);
	const extras = possibleExtras(isFull, wanted);
	const more = extraDeeds(seed, extras).map(({ does, at, chance }): Act => {
		return { does, chance, afterRequests: Math.floor(at * count * 3), key: "" };
	});
	return {
		seed,
		roots,
		agents,
		workflows: planExtras({ seed, isFull, extras, agents, roots }),
		acts: [...acts, ...more].sort((one, other) => one.afterRequests - other.afterRequests),
		reactions,
	};
}

/** As lines, for whoever wants to know what a seed stands for. */
export function describePlan({ seed, roots, workflows, acts }: Plan): string[] {
	const lines = (agent: AgentPlan, indent: string): string[] => {
		const { key, tool, isProcess, hasWorktree, isScheduled, steps, end, children } = agent;
		const { verify, usesMcp, isBoxed, isRemote } = agent;
		const kind = [
			...[tool, isProcess && "process", hasWorktree && "worktree", isScheduled && "scheduled"],
			...[verify && `verify ${verify.passesAt}`, usesMcp && "MCP", isBoxed && "launcher", isRemote && "remote"],
		];
		const does = [...steps.map(({ does, fault }) => (fault ? `${fault}, ${does}` : does)), end];
		return [
			`${indent}${key} (${kind.filter(Boolean).join(", ")}): ${does.join("; ")}`,
			...children.flatMap((child) => lines(child, `${indent}  `)),
		];
	};
	return [
		`seed ${seed}`,
		...roots.flatMap((root) => lines(root, "  ")),
		...workflows.flatMap(({ key, calls, first, concurrency, isWaitedFor }) => [
			`  ${key} (workflow${isWaitedFor ? ", waited for" : ""}): ${first} first, ${concurrency} at once`,
			...calls.flatMap((call) => lines(call, "    ")),
		]),
		...acts.map(
			({ afterRequests, does, key, chance }) =>
				`  after ${afterRequests} requests: ${does} (${key}, ${chance.toFixed(3)})`,
		),
	];
}

const TOOLS = ["Agent", "Agent", "Agent", "waited Agent", "subagent"] as const;
const FULL_TOOLS = [...TOOLS, "background_agent", "background_agent"] as const;
const ENDS = ["answers", "answers", "answers", "answers", "fails", "says nothing", "is cut off"] as const;
const WORK = ["talks", "reads", "reads", "runs", "waits", "asks"] as const;
const WRITING = [...WORK, "writes", "writes", "writes"] as const;
const FAULTS = ["cut", "500", "garbage", "overloaded"] as const;
/** Everybody pauses for seconds when a provider says that it has had enough, so not every storm has it. */
const FAULTS_WITH_PAUSE = [...FAULTS, "429"] as const;

interface Work {
	launches: boolean;
	mayWrite: boolean;
	faults: readonly NonNullable<Step["fault"]>[];
}

function stepsOf(chance: Random, { launches, mayWrite, faults }: Work): Step[] {
	const work = Array.from({ length: Math.floor(chance.next() * 3) }, () => chance.pick(mayWrite ? WRITING : WORK));
	const does = launches ? [...work, "launches" as const] : work;
	return does.map((does) => ({ does, ...(chance.next() < 0.2 ? { fault: chance.pick(faults) } : {}) }));
}

function actsOf(chance: Random, count: number, agents: ReadonlyMap<string, unknown>, isFull: boolean): Act[] {
	const act = (does: Deed): Act => ({
		afterRequests: Math.floor(chance.next() * count * 3),
		does,
		key: chance.pick([...agents.keys()]),
		chance: chance.next(),
	});
	const kinds: Deed[] = [...DEEDS, ...(chance.next() < 0.3 ? (["reload"] as const) : [])];
	const deeds = Array.from({ length: Math.ceil(count / 4) }, () =>
		chance.pick(isFull ? [...kinds, ...FULL_DEEDS] : kinds),
	);
	const weather = chance.next() < 0.6 ? chance.pick(WEATHERS) : [];
	// The weather changes in its order, early enough to matter.
	const changes = weather.map((does, index) => ({
		...act(does),
		afterRequests: Math.floor((index + chance.next()) * count),
	}));
	return [...deeds.map(act), ...changes].sort((one, other) => one.afterRequests - other.afterRequests);
}

function reactionsOf(chance: Random, count: number): Reaction[] {
	const kinds = ["listens", "listens", "reads a result", "steers", "resumes", "stops one"] as const;
	return Array.from({ length: count }, () => chance.pick(kinds));
}
