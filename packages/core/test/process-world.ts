/** Real pi processes behind the real wrapper, both from their sources, with a scripted model over HTTP. */
import { fileURLToPath } from "node:url";
import {
	callTool,
	createGate,
	createPiEnv,
	FAKE_PROVIDER,
	fail,
	hang,
	httpError,
	type ModelServer,
	otherwise,
	type PiBinary,
	type PiEnv,
	piUnderTest,
	type Reply,
	type RequestView,
	say,
	startModelServer,
} from "@pi-subagents-dev/testkit";
import type { RunIdentity, RunSpec } from "../src/index.ts";
import type { ProcessRunnerOptions } from "../src/process/index.ts";
import { processRunner } from "../src/process/index.ts";
import type { ChildScript, CreateFixture } from "../src/testing/index.ts";
import { spec as anySpec } from "./events.ts";

const source = (path: string) => fileURLToPath(new URL(`../src/process/${path}`, import.meta.url));

export interface ProcessWorld extends AsyncDisposable {
	env: PiEnv;
	server: ModelServer;
	options: ProcessRunnerOptions;
	spec: RunSpec & RunIdentity & { artifacts: string };
}

/** `reply` is what the child's model answers. */
export async function processWorld(
	reply: (request: RequestView) => Reply,
	{ settings = {}, pi = piUnderTest() }: { settings?: Record<string, unknown>; pi?: PiBinary } = {},
): Promise<ProcessWorld> {
	const server = await startModelServer({ rules: [otherwise(reply)] });
	const env = await createPiEnv({ server, settings, models: [{ id: "small", contextWindow: 20_000 }] });
	const [command, ...args] = pi.command;
	return {
		env,
		server,
		options: {
			agentDir: env.agentDir,
			isProjectTrusted: () => false,
			pi: { command, args },
			wrapper: source("wrapper/main.ts"),
			childEntry: source("child/entry.ts"),
			// Node reads the wrapper's source as it is.
			env: {
				...env.variables,
				NODE_OPTIONS: "--conditions=@pi-subagents/source --disable-warning=ExperimentalWarning",
			},
		},
		spec: {
			...anySpec,
			runner: "process",
			cwd: env.cwd,
			model: `${FAKE_PROVIDER}/small`,
			tools: ["ls", "read", "bash"],
			agentId: "a1",
			run: 1,
			artifacts: `${env.root}/runs/a1`,
		},
		async [Symbol.asyncDispose]() {
			await server.close();
			await env.cleanup();
		},
	};
}

/** `open` and `runner`: for another runner that starts the same wrapper. */
export function processFixture(
	pi = piUnderTest(),
	{ open = processWorld, runner = processRunner } = {},
): CreateFixture {
	return async (script) => {
		const gate = createGate();
		const world = await open((request) => replyOf(script, request, gate), {
			pi,
			settings: {
				retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 },
				compaction: { enabled: true, reserveTokens: 1_000, keepRecentTokens: 1 },
			},
		});
		const { server } = world;
		return {
			runner: runner(world.options),
			spec: world.spec,
			asked: async (times = 1) => void (await server.nextRequest(({ number }) => number === times)),
			release: gate.open,
			requests: () => server.requests.length,
			heard: () => userTexts(server.requests),
			cleanup: async () => world[Symbol.asyncDispose](),
		};
	};
}

function replyOf(script: ChildScript, request: RequestView, gate: Promise<unknown>): Reply {
	if (script.does === "fail") return fail(script.error);
	if (script.does === "hang") return hang();
	if (script.does === "retry") return httpError(503, "overloaded");
	if (script.does === "use_tool") return { ...callTool("bash", { command: "sleep 1000" }), text: script.text };
	const hasWorked = request.messages.some((message) => message.role === "tool");
	if (script.does === "compact") {
		const isSummary = request.number > 1;
		return isSummary ? hang() : say(script.text, { usage: { input: 19_900, output: 10 } });
	}
	return hasWorked ? say(script.text) : callTool("ls", { path: "." }, { gate });
}

function userTexts(requests: readonly RequestView[]): string[] {
	return (requests.at(-1)?.messages ?? []).filter(({ role }) => role === "user").map(({ text }) => text);
}
