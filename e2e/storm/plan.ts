/** What will happen in a storm, as data: who is launched by whom, what each model turn does, and who interferes when. */
import { type Random, randomFrom } from "../test/rounds.ts";

/** One turn of an agent's model. */
export interface Step {
	does: "talks" | "reads" | "runs" | "launches" | "asks" | "waits";
	/** What goes wrong when it is first asked for; the second time it does not. */
	fault?: "cut" | "429" | "500" | "garbage" | "overloaded";
}

/** How a run ends that nobody stops. */
type End = "answers" | "fails" | "says nothing" | "is cut off";

export interface AgentPlan {
	/** Stands in its task, so that the model knows whose turn it is. */
	key: string;
	/** Which tool launches it. */
	tool: "Agent" | "waited Agent" | "subagent" | "background_agent";
	steps: readonly Step[];
	end: End;
	children: readonly AgentPlan[];
}

/** Something that comes from outside. It happens when the model has been asked so often. */
export interface Act {
	afterRequests: number;
	does:
		| "stop"
		| "abort turn"
		| "reload"
		| "kill pi"
		| "kill a child"
		| "kill a wrapper"
		| "spoil a file"
		| "say something";
	key: string;
}

export interface Plan {
	seed: number;
	roots: readonly AgentPlan[];
	/** All of them, also those within others. */
	agents: ReadonlyMap<string, AgentPlan>;
	acts: readonly Act[];
	/** What the session's model does when it hears of results, in this order. */
	reactions: readonly Reaction[];
}

export type Reaction = "listens" | "reads a result" | "steers" | "resumes" | "stops one";

export interface StormOptions {
	agents: number;
	/** With processes of their own, and kills. */
	isFull: boolean;
}

const DEEPEST = 3;

export function planStorm(seed: number, { agents: count, isFull }: StormOptions): Plan {
	const chance = randomFrom(seed);
	const agents = new Map<string, AgentPlan>();
	const roots: AgentPlan[] = [];
	const faults = seed % 5 === 0 ? FAULTS_WITH_PAUSE : FAULTS;
	const grow = (depth: number): AgentPlan => {
		const key = `a${agents.size + 1}`;
		const plan: AgentPlan & { children: AgentPlan[] } = {
			key,
			tool: depth === 1 ? chance.pick(isFull ? FULL_TOOLS : TOOLS) : "Agent",
			steps: [],
			end: chance.pick(ENDS),
			children: [],
		};
		agents.set(key, plan);
		const mayLaunch = depth < DEEPEST && plan.tool !== "background_agent";
		while (mayLaunch && agents.size < count && chance.next() < 0.35) plan.children.push(grow(depth + 1));
		plan.steps = stepsOf(chance, plan.children.length > 0, faults);
		return plan;
	};
	while (agents.size < count) roots.push(grow(1));
	return { seed, roots, agents, acts: actsOf(chance, count, agents, isFull), reactions: reactionsOf(chance, count) };
}

const TOOLS = ["Agent", "Agent", "Agent", "waited Agent", "subagent"] as const;
const FULL_TOOLS = [...TOOLS, "background_agent", "background_agent"] as const;
const ENDS = ["answers", "answers", "answers", "answers", "fails", "says nothing", "is cut off"] as const;
const WORK = ["talks", "reads", "reads", "runs", "waits", "asks"] as const;
const FAULTS = ["cut", "500", "garbage", "overloaded"] as const;
/** Everybody pauses for seconds when a provider says that it has had enough, so not every storm has it. */
const FAULTS_WITH_PAUSE = [...FAULTS, "429"] as const;

function stepsOf(chance: Random, launches: boolean, faults: readonly NonNullable<Step["fault"]>[]): Step[] {
	const work = Array.from({ length: Math.floor(chance.next() * 3) }, () => chance.pick(WORK));
	const does = launches ? [...work, "launches" as const] : work;
	return does.map((does) => ({ does, ...(chance.next() < 0.2 ? { fault: chance.pick(faults) } : {}) }));
}

function actsOf(chance: Random, count: number, agents: ReadonlyMap<string, unknown>, isFull: boolean): Act[] {
	const kinds = ["stop", "stop", "stop", "abort turn", "say something", ...(chance.next() < 0.3 ? ["reload"] : [])];
	const fullKinds = [...kinds, "kill pi", "kill a child", "kill a wrapper", "spoil a file"];
	return Array.from({ length: Math.ceil(count / 4) }, () => ({
		afterRequests: Math.floor(chance.next() * count * 3),
		does: chance.pick(isFull ? fullKinds : kinds) as Act["does"],
		key: chance.pick([...agents.keys()]),
	})).sort((one, other) => one.afterRequests - other.afterRequests);
}

function reactionsOf(chance: Random, count: number): Reaction[] {
	const kinds = ["listens", "listens", "reads a result", "steers", "resumes", "stops one"] as const;
	return Array.from({ length: count }, () => chance.pick(kinds));
}
