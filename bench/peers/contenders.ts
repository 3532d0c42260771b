/** Who is compared, and how a model asks each of them for the same thing. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "@pi-subagents/core/internal/base";
import { callTool, callTools, type Reply } from "@pi-subagents-dev/testkit";
import { IN_PROCESS, PROCESS, rivalDir } from "../rivals.ts";
import { WHO, type Who, type Work } from "./comparison.ts";

export interface Contender {
	/** For pi to load. */
	extension: string;
	/** Waits for the answers of as many agents in pi's own process. */
	ask(task: string, options?: { count?: number; description?: string; atOnce?: number }): Reply;
	/** The call after which an agent goes on in pi's own process, or why there is none. */
	launch: ((task: string) => Reply) | string;
	/** The call after which an agent goes on in a process of its own, or why there is none. */
	detach: ((task: string) => Reply) | string;
	/** The call after which an agent goes on behind a link to a machine, or why there is none. */
	sendAway: ((task: string) => Reply) | string;
	/** Waits for a script that asks as many agents at once, or why there is none. */
	script: ((task: string, count: number) => Reply) | string;
	/** Waits for an agent whose work `true` checks before it counts, or why there is none. */
	checked: ((task: string) => Reply) | string;
}

const PRESET = "peer";
const NO_PROCESSES = "has no agents in processes of their own";
const NO_MACHINES = "has no agents on other machines";
const NO_SCRIPTS = "has no scripts";
const NO_CHECKS = "has no checks by a command";

/** Nothing is to wait for a free place, and all use the same preset. Each reads the files that it knows. */
export const agentFiles = {
	[`agents/${PRESET}.md`]: `---\nname: ${PRESET}\ndescription: Looks around\ntools: ls, read\n---\nLook closely, then tell.\n`,
	"subagents.json": JSON.stringify({ maxConcurrent: 1_024 }),
	"extensions/subagent/config.json": JSON.stringify({
		globalConcurrencyLimit: 1_024,
		maxSubagentSpawnsPerSession: 10_000,
		maxSubagentSpawnsPerRun: 10_000,
		maxActiveAsyncRunsPerSession: 1_024,
		parallel: { concurrency: 1_024 },
	}),
};

/** For what only ours has to be told of; apart, so that it is in no other request. */
export const featureFiles = {
	...agentFiles,
	"subagents.json": JSON.stringify({ maxConcurrent: 1_024, toolsets: ["agents", "presets", "workflows"] }),
	"agents/checked.md": '---\nname: checked\ndescription: Is checked\nverify: ["true"]\n---\nLook closely.\n',
	"agents/far.md": "---\nname: far\ndescription: Is far away\nmachine: local\n---\nLook closely.\n",
};

const times = <T>(count: number, one: () => T): T[] => Array.from({ length: count }, one);

/** As long for all: what pi does with a call while it streams grows with its length. */
const callOf = (task: string, description: string, inBackground: boolean) => ({
	prompt: task,
	description,
	subagent_type: PRESET,
	run_in_background: inBackground,
});

/** Ours and one rival have a tool of the same name. */
const agent = (task: string, description: string, inBackground: boolean) =>
	callTool("Agent", callOf(task, description, inBackground));

const floor: Contender = {
	extension: fileURLToPath(new URL("../fixtures/bare-agents.ts", import.meta.url)),
	ask: (task, { count = 1, description = "look", atOnce } = {}) =>
		callTools(...times(count, () => callTool("ask_bare", { ...callOf(task, description, false), at_once: atOnce }))),
	launch: (task) => callTool("launch_bare", callOf(task, "look", true)),
	detach: NO_PROCESSES,
	sendAway: NO_MACHINES,
	script: (task, count) => floor.ask(task, { count }),
	checked: (task) => callTool("ask_bare", { ...callOf(task, "look", false), command: "true" }),
};

const ours: Contender = {
	extension: dirname(fileURLToPath(import.meta.resolve("@pi-subagents/extension/package.json"))),
	ask: (task, { count = 1, description = "look" } = {}) =>
		callTools(...times(count, () => agent(task, description, false))),
	launch: (task) => agent(task, "look", true),
	detach: (task) => callTool("background_agent", { preset: PRESET, task }),
	sendAway: (task) => callTool("background_agent", { preset: "far", task }),
	script: (task, count) => callTool("workflow", { script: scriptOf(task, count), background: false }),
	checked: (task) => callTool("Agent", { ...callOf(task, "look", false), subagent_type: "checked" }),
};

const scriptOf = (task: string, count: number) => `export const meta = { name: "many", description: "Asks many" };
const items = Array.from({ length: ${count} });
return map(items, () => agent(${JSON.stringify(task)}, { agentType: "${PRESET}" }), { concurrency: ${count} });`;

const contenders: Readonly<Record<Who, Contender | string>> = {
	floor,
	ours,
	"in-process rival": await ifInstalled(IN_PROCESS, (extension) => ({
		...ours,
		extension,
		detach: NO_PROCESSES,
		sendAway: NO_MACHINES,
		script: NO_SCRIPTS,
		checked: NO_CHECKS,
	})),
	"process rival": await ifInstalled(PROCESS, (extension) => ({
		extension,
		ask: (task, { count = 1 } = {}) => callTool("subagent", count === 1 ? one(task) : several(task, count)),
		launch: "its background agents are processes",
		detach: (task) => callTool("subagent", { agent: PRESET, task, async: true }),
		sendAway: "reaches machines by ssh only, which is not set up here",
		script: (task, count) => callTool("subagent", several(task, count)),
		checked: NO_CHECKS,
	})),
};

/** The process rival takes one call in a turn; several agents are a program in it. */
const one = (task: string) => ({ agent: PRESET, task, async: false });
const several = (task: string, count: number) => ({
	workflowScript: `const all = await runs.all(${JSON.stringify(
		Array.from({ length: count }, (_, at) => ({ key: `k${at}`, agent: PRESET, task, async: false })),
	)}); return all.map((each) => each.output);`,
	...{ async: false, mission: false, globalConcurrencyLimit: 1_024, maxSubagentSpawnsPerRun: 10_000 },
});

async function ifInstalled(
	rival: Parameters<typeof rivalDir>[0],
	contender: (extension: string) => Contender,
): Promise<Contender | string> {
	try {
		return contender(await rivalDir(rival));
	} catch (error) {
		return `cannot be had: ${messageOf(error)}`;
	}
}

/** The same work for each; `work` may say why a contender cannot do it. */
export function forEach(work: (contender: Contender, who: Who) => Work | string): Record<Who, Work | string> {
	const works = WHO.map((who) => {
		const contender = contenders[who];
		return [who, typeof contender === "string" ? contender : work(contender, who)] as const;
	});
	return Object.fromEntries(works) as Record<Who, Work | string>;
}
