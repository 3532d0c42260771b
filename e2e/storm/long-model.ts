/** The model of a long run: wave after wave the session launches agents of every kind, and each of them plays its part. */
import {
	callTool,
	callTools,
	fail,
	hang,
	offersTool,
	type Reply,
	type RequestView,
	type Rule,
	say,
} from "@pi-subagents-dev/testkit";

type Kind = "answers" | "is waited for" | "keeps files" | "launches" | "fails" | "is stopped" | "is resumed" | "talks";

/** What a wave consists of, over and over. Its agents are numbered from 0. */
const KINDS: readonly Kind[] = [
	"answers",
	"is waited for",
	"answers",
	"launches",
	"answers",
	"fails",
	"answers",
	"keeps files",
	"is stopped",
	"is resumed",
	"answers",
	"talks",
];

/** Agents of one wave: those that others launch count, too. */
export const WAVE_AGENTS = 4 * (KINDS.length + 1);
const CALLS = 4 * KINDS.length;
/** How many runs the session knows of after a wave: those of its own agents, and the second ones. */
export const WAVE_RUNS = 4 * (KINDS.length + 1);

const isSession = offersTool("start_subagent");

/** `longest` is how many characters those say who talk. */
export function longModel({ longest }: { longest: number }): Rule {
	const talk = "There is a lot to say about this. ".repeat(longest / 34);
	return (request) => {
		if (isSession(request)) return sessionSays(request);
		const key = keyIn(request);
		return key === undefined ? say("So far everything went well.") : agentSays(key, request, talk);
	};
}

function sessionSays({ lastUserText, turn }: RequestView): Reply {
	const wave = /^Wave (\d+)\./.exec(lastUserText)?.[1];
	if (wave === undefined) return say("Good to know.");
	const agents = Array.from({ length: CALLS }, (_, number) => ({ kind: kindOf(number), key: `w${wave}-${number}` }));
	if (turn === 1) return callTools(...agents.map(launch));
	if (turn === 2) return callTools(...agents.flatMap(followUp));
	return say("They are on their way.");
}

interface Launched {
	kind: Kind;
	key: string;
}

function launch({ kind, key }: Launched): Reply {
	const task = `Play your part. [${key}]`;
	if (kind === "keeps files") return callTool("subagent", { preset: "player", task });
	return callTool("Agent", {
		prompt: task,
		description: `part ${key}`,
		name: key,
		subagent_type: "player",
		...(kind === "is waited for" || kind === "is resumed" ? { run_in_background: false } : {}),
	});
}

function followUp({ kind, key }: Launched): Reply[] {
	if (kind === "is stopped") return [callTool("stop_subagent", { id: key })];
	if (kind === "is resumed")
		return [callTool("Agent", { prompt: "Once more.", description: "once more", resume: key })];
	return [];
}

/** Whose request it is: its task was the first thing it heard. */
function keyIn({ messages }: RequestView): string | undefined {
	const first = messages.find(({ role, text }) => role === "user" && /\[w[\d-]+\]/.test(text));
	return /\[(w[\d-]+)\]/.exec(first?.text ?? "")?.[1];
}

function agentSays(key: string, { turn }: RequestView, talk: string): Reply {
	const [, number, below] = key.split("-");
	if (below !== undefined) return say(`Done by ${key}.`);
	const kind = kindOf(Number(number));
	if (kind === "fails") return fail(`no luck for ${key}`);
	if (kind === "is stopped") return hang();
	if (kind === "launches" && turn === 1)
		return callTool("Agent", { prompt: `Play it. [${key}-0]`, description: "below", subagent_type: "player" });
	if (kind === "talks") return say(talk, { chunkSize: 10_000 });
	return turn === 1 ? callTool("read", { path: "notes.txt" }) : say(`Done by ${key}.`);
}

function kindOf(number: number): Kind {
	return KINDS[number % KINDS.length] ?? "answers";
}
