/** What one round of the kill loop does, as data: who is launched, what each answers, and when pi ends in which way. */
import { type Random, randomFrom } from "../support/rounds.ts";

/** `quit` closes pi's input. */
type Way = "quit" | "SIGTERM" | "SIGHUP" | "SIGKILL";

/** What pi's end waits for, seen from outside. */
type Sign =
	/** The session file holds the launches. */
	| "launched"
	/** The agent's model is asked, and has begun to answer. */
	| "asked"
	/** The model has sent all of its answer. */
	| "answered"
	/** The log of the run holds the answer. */
	| "logged"
	/** The session file says that the run has settled. */
	| "settled"
	/** `result.json` is there. */
	| "filed"
	/** The session file holds a message that tells of it. */
	| "told";

export interface MortalPlan {
	/** Stands in its task, so that the model knows whose turn it is. */
	key: string;
	runner: "session" | "process";
	tool: "Agent" | "start_subagent" | "/subagent start" | "background_agent";
	answer: string;
	/** Whether its answer comes before pi ends; otherwise only after. */
	isInTime: boolean;
}

export interface KillPlan {
	seed: number;
	/** The first of them is the one whose sign is waited for. */
	agents: readonly MortalPlan[];
	/** The session's own turn goes on all the time, so that nothing can be told before pi ends. */
	isBusy: boolean;
	sign: Sign;
	/** How long after the sign. */
	afterMs: number;
	way: Way;
}

export function planKill(seed: number): KillPlan {
	const chance = randomFrom(seed);
	const tools = chance.pick(LAUNCHES);
	const sign = chance.pick(SIGNS);
	const mayBeBusy = sign !== "told" && tools !== "start_subagent";
	const agents = Array.from({ length: 1 + Math.floor(chance.next() * 3) }, (_, index): MortalPlan => {
		const key = `k${seed}a${index + 1}`;
		const tool = tools === "Agent" && chance.next() < 0.15 ? "background_agent" : tools;
		const runner = tool === "background_agent" || chance.next() < 0.3 ? "process" : "session";
		return { key, tool, runner, answer: answerOf(key, lengthBy(chance)), isInTime: index === 0 || chance.next() < 0.8 };
	});
	return {
		seed,
		agents,
		isBusy: mayBeBusy && chance.next() < 0.7,
		sign,
		afterMs: chance.pick([0, 0, Math.floor(chance.next() * 10), Math.floor(chance.next() * 60)]),
		way: chance.pick(WAYS),
	};
}

export function describeKill({ seed, agents, isBusy, sign, afterMs, way }: KillPlan): string {
	const who = agents.map(
		({ key, tool, runner, answer, isInTime }) =>
			`${key} (${tool}, ${runner}, ${answer.length}${isInTime ? "" : ", late"})`,
	);
	return `seed ${seed}: ${who.join(", ")}; ${isBusy ? "busy" : "idle"}; ${way} ${afterMs} ms after ${sign}`;
}

const WAYS: readonly Way[] = ["quit", "SIGTERM", "SIGHUP", "SIGKILL", "SIGKILL"];
const SIGNS: readonly Sign[] = [
	...(["launched", "asked", "answered", "answered", "logged", "logged"] as const),
	...(["settled", "settled", "settled", "filed", "filed", "told"] as const),
];
const LAUNCHES = ["Agent", "Agent", "Agent", "start_subagent", "/subagent start"] as const;

/** Short ones, such as a preview holds; such as a message holds; and such as only a file holds. */
function lengthBy(chance: Random): number {
	return chance.pick([60, 500 + Math.floor(chance.next() * 1_500), 10_000, 40_000]);
}

/** Lines that differ, and an end that can be told from any other. */
export function answerOf(key: string, length: number): string {
	const end = `That is all of ${key}.`;
	const lines: string[] = [];
	for (let size = 0; size < length - end.length; size += (lines.at(-1)?.length ?? 0) + 1)
		lines.push(`Line ${lines.length + 1} of what ${key} found.`);
	return [...lines, end].join("\n");
}
