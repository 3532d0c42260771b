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
	/** The session file holds a message that tells of it, or the result of the call that waited for it. */
	| "told";

/** The tool that launches it. A call of `subagent` waits; the result of one of `read` is read by another call. */
type Tool = "Agent" | "start_subagent" | "/subagent start" | "background_agent" | "subagent" | "read";

/** What it has besides an answer: a command that checks it, a schema that it must match, a checkout of its own. */
export type Kind = "plain" | "verified" | "data" | "worktree";

export interface MortalPlan {
	/** Stands in its task, so that the model knows whose turn it is. */
	key: string;
	runner: "session" | "process" | "tmux";
	kind: Kind;
	tool: Tool;
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
	/** By how much the files of agents inside pi are late: what else happens on a busy machine now and then. */
	diskMs: number;
	sign: Sign;
	/** How long after the sign. */
	afterMs: number;
	way: Way;
	/** A signal is followed by the end of its input. */
	isHurried: boolean;
}

/** The files are never written. */
const STUCK_MS = 1_000_000;

export function planKill(
	seed: number,
	{ runners = RUNNERS }: { runners?: readonly MortalPlan["runner"][] } = {},
): KillPlan {
	const chance = randomFrom(seed);
	const tools = chance.pick(LAUNCHES);
	const isRead = tools === "read";
	const count = isRead ? 2 : 1 + Math.floor(chance.next() * 3);
	const agents = Array.from({ length: count }, (_, index): MortalPlan => {
		const key = `k${seed}a${index + 1}`;
		// Its result is read in one message with a call that waits for an agent that does not end.
		const tool = isRead ? (index === 0 ? "read" : "subagent") : toolBy(chance, tools);
		const drawn = chance.pick(RUNNERS);
		const runner = tool === "background_agent" || !runners.includes(drawn) ? "process" : drawn;
		const kind = chance.pick(KINDS);
		const answer = answerOf(key, lengthBy(chance), kind);
		const isInTime = index === 0 || (!isRead && chance.next() < 0.7);
		return { key, tool, runner, kind, answer, isInTime };
	});
	const isWaited = agents.some(({ tool }) => tool === "subagent");
	const diskMs = chance.pick([0, 0, 0, 0, Math.floor(chance.next() * 5_000), STUCK_MS]);
	const drawn = chance.pick(SIGNS);
	const sign = possible(drawn, { agents, diskMs });
	const mayBeBusy = sign !== "told" && tools !== "start_subagent" && !isWaited;
	return {
		seed,
		agents,
		isBusy: mayBeBusy && chance.next() < 0.7,
		diskMs,
		sign,
		afterMs: chance.pick([0, 0, Math.floor(chance.next() * 10), Math.floor(chance.next() * 60)]),
		way: chance.pick(WAYS),
		isHurried: chance.next() < 0.5,
	};
}

export function describeKill({ seed, agents, isBusy, diskMs, sign, afterMs, way, isHurried }: KillPlan): string {
	const who = agents.map(
		({ key, tool, runner, kind, answer, isInTime }) =>
			`${key} (${tool}, ${runner}, ${kind}, ${answer.length}${isInTime ? "" : ", late"})`,
	);
	const disk = diskMs === 0 ? "" : diskMs === STUCK_MS ? "; files never written" : `; files ${diskMs} ms late`;
	const how = isHurried && way.startsWith("SIG") && way !== "SIGKILL" ? `${way}, hurried,` : way;
	return `seed ${seed}: ${who.join(", ")}; ${isBusy ? "busy" : "idle"}${disk}; ${how} ${afterMs} ms after ${sign}`;
}

const RUNNERS = ["session", "session", "session", "session", "process", "process", "tmux"] as const;
const KINDS = ["plain", "plain", "plain", "verified", "data", "worktree"] as const;
const WAYS: readonly Way[] = ["quit", "SIGTERM", "SIGHUP", "SIGKILL", "SIGKILL", "SIGKILL"];
const SIGNS: readonly Sign[] = [
	...(["launched", "asked", "answered", "answered", "logged", "logged"] as const),
	...(["settled", "settled", "settled", "settled", "filed", "filed", "told"] as const),
];
const LAUNCHES = [
	"Agent",
	"Agent",
	"start_subagent",
	"/subagent start",
	"subagent",
	"subagent",
	"subagent",
	"read",
] as const;

function toolBy(chance: Random, tools: Tool): Tool {
	return tools === "Agent" && chance.next() < 0.15 ? "background_agent" : tools;
}

/** A sign that comes, whatever else is planned: files that are never written show nothing. */
function possible(sign: Sign, { agents, diskMs }: Pick<KillPlan, "agents" | "diskMs">): Sign {
	const [first] = agents;
	const isInside = first?.runner === "session";
	const isLate = isInside && diskMs > 0;
	if (isLate && (sign === "logged" || sign === "filed")) return "settled";
	const isEndless = isLate && (first?.answer.length ?? 0) > ENTRY_CHARACTERS;
	if (isEndless && (sign === "settled" || sign === "told")) return "answered";
	// What a call waits for is written with the results of the other calls, or is read by one that does not end.
	const isHeld = agents.some(({ tool, isInTime }) => tool === "subagent" && !isInTime);
	return isHeld && sign === "told" ? "settled" : sign;
}

/** An entry of the session holds no more. */
const ENTRY_CHARACTERS = 1_000_000;

/** Short ones, such as a preview holds; such as an entry, a message, or only a file holds; and at the limits between them. */
function lengthBy(chance: Random): number {
	const some = (from: number, to: number) => from + Math.floor(chance.next() * (to - from));
	const usual = [
		60,
		some(480, 520),
		some(600, 2_000),
		some(3_980, 4_020),
		10_000,
		some(32_000, 33_500),
		40_000,
		40_000,
	];
	return chance.next() < 0.06 ? chance.pick([150_000, 150_000, 1_200_000]) : chance.pick(usual);
}

/** Lines that differ, and an end that can be told from any other; or the same as data. */
export function answerOf(key: string, length: number, kind: Kind = "plain"): string {
	const end = `That is all of ${key}.`;
	const lines: string[] = [];
	for (let size = 0; size < length - end.length; size += (lines.at(-1)?.length ?? 0) + 1)
		lines.push(`Line ${lines.length + 1} of what ${key} found.`);
	return kind === "data" ? JSON.stringify({ lines: [...lines, end] }) : [...lines, end].join("\n");
}
