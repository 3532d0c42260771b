/** The model of a storm: it plays the session and every agent, each by its plan. */
import {
	callTool,
	callTools,
	cutOff,
	fail,
	garbage,
	httpError,
	offersTool,
	type Reply,
	type RequestView,
	type Rule,
	rateLimited,
	say,
} from "@pi-subagents-dev/testkit";
import { answerOf } from "./kill-plan.ts";
import type { AgentPlan, Plan, Reaction, Step } from "./plan.ts";

export interface StormModel {
	rule: Rule;
	/** How often it was asked since the storm began. */
	readonly asked: number;
	/** The agents that were told that a file of theirs, named after them, was written. */
	readonly written: ReadonlySet<string>;
	begin(plan: Plan): void;
	/** Whoever waits goes on. */
	calm(): void;
}

/** What an agent of that name answers: something short, or more than a preview, a message or an entry holds. */
export function stormAnswer(key: string): string {
	return answerOf(key, LENGTHS[Number(key.slice(1)) % LENGTHS.length] ?? 0);
}

const LENGTHS = [40, 900, 40, 5_000, 40, 40_000, 40];

const isSession = offersTool("start_subagent");

export function stormModel(): StormModel {
	let plan: Plan | undefined;
	let asked = 0;
	let reactions: Reaction[] = [];
	let gate = Promise.withResolvers<void>();
	const failed = new Set<string>();
	const written = new Set<string>();
	const rule: Rule = (request) => {
		asked++;
		if (!plan) return say("There is no storm.");
		if (isSession(request)) return sessionSays(plan, request, () => reactions.shift() ?? "listens");
		const agent = plan.agents.get(keyIn(request));
		if (agent && request.lastToolResults.some(hasWritten)) written.add(agent.key);
		return agent ? agentSays(agent, request, failed, gate.promise) : say("I am nobody.");
	};
	return {
		rule,
		get asked() {
			return asked;
		},
		written,
		begin(next) {
			plan = next;
			asked = 0;
			reactions = [...next.reactions];
			gate = Promise.withResolvers();
			failed.clear();
			written.clear();
		},
		calm: () => gate.resolve(),
	};
}

function sessionSays(plan: Plan, request: RequestView, react: () => Reaction): Reply {
	const { lastUserText, turn } = request;
	if (lastUserText.includes("The storm begins.")) {
		return turn === 1 ? callTools(...plan.roots.map(launch)) : say("They are on their way.");
	}
	if (turn > 1) return say("So be it.");
	const askers = [...lastUserText.matchAll(/<subagent-question agent="([\w-]+)"/g)].map(([, id]) => id);
	if (askers.length > 0)
		return callTools(...askers.map((id) => callTool("reply_subagent", { id, feedback: "Whatever you like." })));
	const id = /<task-id>([\w-]+)<\/task-id>/.exec(lastUserText)?.[1];
	return id === undefined ? say("I see.") : reaction(react(), id);
}

function reaction(kind: Reaction, id: string): Reply {
	switch (kind) {
		case "listens":
			return say("Good to know.");
		case "reads a result":
			return callTool("get_subagent_result", { agent_id: id });
		case "steers":
			return callTool("steer_subagent", { agent_id: id, message: "Go on differently." });
		case "resumes":
			return callTool("Agent", { prompt: "Once more.", description: "once more", resume: id });
		case "stops one":
			return callTool("stop_subagent", {});
	}
}

const hasWritten = ({ name, text }: RequestView["lastToolResults"][number]): boolean =>
	name === "write" && text.startsWith("Successfully wrote");

function launch({ key, tool, isProcess, hasWorktree, isScheduled }: AgentPlan): Reply {
	const task = `Weather it. [${key}]`;
	const preset = isProcess ? "storm-process" : "storm";
	switch (tool) {
		case "subagent":
		case "background_agent":
			return callTool(tool, { preset, task });
		default:
			return callTool("Agent", {
				prompt: task,
				description: `agent ${key}`,
				name: key,
				subagent_type: preset,
				...(hasWorktree ? { isolation: "worktree" } : {}),
				...(isScheduled ? { schedule: "+1s; missed=latest" } : {}),
				...(tool === "waited Agent" ? { run_in_background: false } : {}),
			});
	}
}

/** Whose request it is: its task was the first thing it heard. */
function keyIn({ messages }: RequestView): string {
	const first = messages.find(({ role, text }) => role === "user" && /\[a\d+\]/.test(text));
	return /\[(a\d+)\]/.exec(first?.text ?? "")?.[1] ?? "";
}

function agentSays(agent: AgentPlan, request: RequestView, failed: Set<string>, calm: Promise<void>): Reply {
	const turn = request.messages.filter(({ role }) => role === "assistant").length;
	const step = agent.steps[turn];
	if (!step) return ending(agent);
	const mark = `${agent.key} ${turn}`;
	if (step.fault && !failed.has(mark)) {
		failed.add(mark);
		return FAULTS[step.fault];
	}
	return playing(step, agent, calm);
}

const FAULTS: Record<NonNullable<Step["fault"]>, Reply> = {
	cut: cutOff(say("I was just going to say that"), { afterChunks: 1 }),
	"429": rateLimited({ retryAfterSeconds: 0 }),
	"500": httpError(500, { error: { message: "oops" } }),
	garbage: garbage("data: {{{\n\n"),
	overloaded: httpError(503, { error: { message: "overloaded" } }),
};

function playing({ does }: Step, { key, children }: AgentPlan, calm: Promise<void>): Reply {
	switch (does) {
		case "talks":
			return { ...callTool("read", { path: "notes.txt" }), text: `I am ${key}.` };
		case "reads":
			return callTool("read", { path: key.endsWith("3") ? "nothing.txt" : "notes.txt" });
		case "runs":
			return callTool("bash", { command: "true" });
		case "writes":
			return callTool("write", { path: `${key}.txt`, content: `Written by ${key}.\n` });
		case "waits":
			return { ...callTool("read", { path: "notes.txt" }), gate: calm };
		case "asks":
			return callTool("ask_main_session", { question: `What now, for ${key}?`, default_answer: "go on" });
		case "launches":
			return callTools(...children.map(launch));
	}
}

function ending({ key, end }: AgentPlan): Reply {
	switch (end) {
		case "answers":
			return say(stormAnswer(key), { chunkSize: 2_000 });
		case "fails":
			return fail(`no luck for ${key}`);
		case "says nothing":
			return {};
		case "is cut off":
			return say("too long", { stopReason: "length" });
	}
}
