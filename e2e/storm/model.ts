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
import { scriptOf, taskOf, type WorkflowPlan } from "./extras.ts";
import { answerOf } from "./kill-plan.ts";
import type { AgentPlan, Plan, Reaction, Step } from "./plan.ts";

export interface StormModel {
	rule: Rule;
	/** How often it was asked since the storm began. */
	readonly asked: number;
	/** The agents that were told that a file of theirs, named after them, was written. */
	readonly written: ReadonlySet<string>;
	/** What agents saw that must not be: one outside of its launcher, a server that gave a wrong answer. */
	readonly wrongs: readonly string[];
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
	const wrongs: string[] = [];
	const rule: Rule = (request) => {
		asked++;
		if (!plan) return say("There is no storm.");
		if (isSession(request)) return sessionSays(plan, request, () => reactions.shift() ?? "listens");
		const agent = plan.agents.get(keyIn(request));
		if (agent && request.lastToolResults.some(hasWritten)) written.add(agent.key);
		if (agent) wrongs.push(...wrongsIn(agent, request));
		return agent ? agentSays(agent, request, failed, gate.promise) : say("I am nobody.");
	};
	return {
		rule,
		get asked() {
			return asked;
		},
		written,
		wrongs,
		begin(next) {
			plan = next;
			asked = 0;
			reactions = [...next.reactions];
			gate = Promise.withResolvers();
			failed.clear();
			written.clear();
			wrongs.length = 0;
		},
		calm: () => gate.resolve(),
	};
}

function sessionSays(plan: Plan, request: RequestView, react: () => Reaction): Reply {
	const { lastUserText, turn } = request;
	if (lastUserText.includes("The storm begins.")) {
		if (turn > 1) return say("They are on their way.");
		return callTools(...plan.roots.map(launch), ...plan.workflows.map(startWorkflow));
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

/** What an agent adds up by a tool of an MCP server. */
const SUM = { a: 19, b: 23, is: "42" };

function wrongsIn({ key, isBoxed }: AgentPlan, { lastToolResults }: RequestView): string[] {
	const texts = (tool: string) => lastToolResults.filter(({ name }) => name === tool).map(({ text }) => text.trim());
	return [
		...(isBoxed && texts("bash").includes("boxed=") ? [`${key} ran outside of its launcher.`] : []),
		...texts(ADD)
			.filter((text) => /^\d+$/.test(text) && text !== SUM.is)
			.map((text) => `${key} was told by its MCP server that ${SUM.a} and ${SUM.b} are ${text}.`),
	];
}

const ADD = "mcp__storm__add";

function presetOf({ isProcess, isBoxed, isRemote, usesMcp }: AgentPlan): string {
	if (isRemote) return "storm-remote";
	if (isBoxed) return "storm-boxed";
	if (isProcess) return "storm-process";
	return usesMcp ? "storm-mcp" : "storm";
}

const verifyOf = ({ key, verify }: AgentPlan) =>
	verify ? { verify: `sh "$PI_CODING_AGENT_DIR/check.sh" ${key} ${verify.passesAt}` } : {};

function startWorkflow(plan: WorkflowPlan): Reply {
	const script = scriptOf(plan, (agent) => ({ agentType: presetOf(agent), ...verifyOf(agent) }));
	return callTool("workflow", { script, background: !plan.isWaitedFor });
}

function launch(agent: AgentPlan): Reply {
	const { key, tool, hasWorktree, isScheduled } = agent;
	const task = taskOf(agent);
	const preset = presetOf(agent);
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
				...verifyOf(agent),
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

function playing({ does }: Step, { key, children, isBoxed }: AgentPlan, calm: Promise<void>): Reply {
	switch (does) {
		case "talks":
			return { ...callTool("read", { path: "notes.txt" }), text: `I am ${key}.` };
		case "reads":
			return callTool("read", { path: key.endsWith("3") ? "nothing.txt" : "notes.txt" });
		case "runs":
			return callTool("bash", { command: isBoxed ? "echo boxed=$STORM_BOXED" : "true" });
		case "adds":
			return callTool(ADD, { a: SUM.a, b: SUM.b });
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
