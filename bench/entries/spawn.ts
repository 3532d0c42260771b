/**
 * What an agent costs beyond the session it lives in: ours, with records, slots and progress, beside a bare
 * `createAgentSession` and `prompt` of the same work with the same scripted model in the same process.
 */
import {
	createAgentSession,
	createExtensionRuntime,
	type ResourceLoader,
	SessionManager,
	SettingsManager,
} from "@earendil-works/pi-coding-agent";
import { type ChildEvent, type LifeCycleEvent, Manager, type RunSpec, Store, systemClock } from "@pi-subagents/core";
import { sessionRunner } from "@pi-subagents/core/session";
import { callTool, converse, createTempDir, fauxModel, say } from "@pi-subagents-dev/testkit";
import { type Benchmark, type Subject, timed } from "../measure.ts";

const SIZES = [1, 10, 50, 100];
const { path: cwd, remove } = await createTempDir("bench-spawn-");
process.once("exit", () => void remove());

const model = await fauxModel(converse(() => true, callTool("ls", { path: "." }), say("All seen.")));
const spec: RunSpec = {
	type: "scout",
	description: "look",
	task: "Look around.",
	cwd,
	runner: "session",
	model: `${model.model.provider}/${model.model.id}`,
	tools: ["ls"],
	limits: {},
	origins: {},
	warnings: [],
};

export const spawning: Benchmark[] = SIZES.map((count) => ({
	name: `spawn: ${count} agents, from launch to the last answer`,
	target: 1.25,
	unit: "ms",
	rounds: count === 1 ? 25 : 11,
	ours: timed("ours", () => runOurs(count)),
	against: timed("bare sessions", () => runBare(count)),
}));

/** The first of many must not wait until all are set up. */
export const firstStart: Benchmark = {
	name: "spawn: first request when 100 are launched",
	target: 1.25,
	unit: "ms",
	rounds: 11,
	ours: untilFirstRequest("ours", () => runOurs(100)),
	against: untilFirstRequest("bare sessions", () => runBare(100)),
};

/** One event at 10,000 agents, beside one at 10. */
export const dispatching: Benchmark = {
	name: "dispatch: 20,000 events at 10,000 records, beside 10 records",
	target: 1.2,
	unit: "ms",
	rounds: 15,
	ours: dispatchAt(10_000),
	against: dispatchAt(10),
};

async function runOurs(count: number): Promise<void> {
	let ids = 0;
	const manager = new Manager({
		runners: {
			session: sessionRunner({
				agentDir: `${cwd}/agent`,
				modelRuntime: () => model.modelRuntime,
				isProjectTrusted: () => false,
			}),
		},
		clock: systemClock,
		newId: () => `a${++ids}`,
		slots: { whenFull: "queue" },
	});
	const outcomes = await Promise.all(Array.from({ length: count }, () => manager.wait(manager.spawn(spec).id)));
	if (!outcomes.every(({ status }) => status === "completed")) throw new Error(JSON.stringify(outcomes[0]));
}

async function runBare(count: number): Promise<void> {
	const texts = await Promise.all(Array.from({ length: count }, bareSession));
	if (!texts.every((text) => text === "All seen.")) throw new Error(String(texts[0]));
}

async function bareSession(): Promise<string | undefined> {
	const { session } = await createAgentSession({
		cwd,
		agentDir: `${cwd}/agent`,
		modelRuntime: model.modelRuntime,
		model: model.model,
		tools: ["ls"],
		resourceLoader: emptyLoader(),
		settingsManager: SettingsManager.inMemory(),
		sessionManager: SessionManager.inMemory(cwd),
	});
	await session.prompt(spec.task);
	const text = session.getLastAssistantText();
	session.dispose();
	return text;
}

function emptyLoader(): ResourceLoader {
	const runtime = createExtensionRuntime();
	return {
		getExtensions: () => ({ extensions: [], errors: [], runtime }),
		getSkills: () => ({ skills: [], diagnostics: [] }),
		getPrompts: () => ({ prompts: [], diagnostics: [] }),
		getThemes: () => ({ themes: [], diagnostics: [] }),
		getAgentsFiles: () => ({ agentsFiles: [] }),
		getSystemPrompt: () => undefined,
		getSystemPromptSource: () => undefined,
		getAppendSystemPrompt: () => [],
		getAppendSystemPromptSources: () => [],
		extendResources: () => undefined,
		reload: async () => undefined,
	};
}

function untilFirstRequest(name: string, work: () => Promise<void>): Subject {
	return {
		name,
		async once() {
			const seen = model.requests.length;
			const start = performance.now();
			const first = model.nextRequest(({ number }) => number > seen).then(() => performance.now() - start);
			await Promise.all([first, work()]);
			return first;
		},
	};
}

/** Ten agents are at work, however many there are. */
function dispatchAt(records: number): Subject {
	return {
		name: `${records} records`,
		once() {
			const store = new Store();
			let seq = 0;
			const tell = (agentId: string, event: LifeCycleEvent | ChildEvent) =>
				store.dispatch({ ...event, agentId, run: 1, seq: ++seq, at: seq });
			for (let index = 0; index < records; index++) {
				tell(`a${index}`, { type: "agent_queued", agent: { ...spec, depth: 1, isBackground: false } });
				tell(`a${index}`, { type: "agent_started" });
			}
			const start = performance.now();
			for (let index = 0; index < 20_000; index++) tell(`a${index % 10}`, { type: "turn" });
			return performance.now() - start;
		},
	};
}
