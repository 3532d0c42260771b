/** A real pi session as the child, with a scripted model. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineTool } from "@earendil-works/pi-coding-agent";
import {
	callTool,
	createGate,
	createTempDir,
	type FauxModel,
	type FauxModelOptions,
	fail,
	fauxModel,
	hang,
	httpError,
	type Reply,
	type RequestView,
	say,
} from "@pi-subagents-dev/testkit";
import { Type } from "typebox";
import type { RunIdentity, RunSpec } from "../src/index.ts";
import { conversationsWritten, type SessionHost, sessionRunner } from "../src/session/index.ts";
import type { ChildScript, CreateFixture } from "../src/testing/index.ts";
import { spec as anySpec } from "./events.ts";

export interface SessionWorld extends AsyncDisposable {
	host: SessionHost;
	spec: RunSpec & RunIdentity;
	model: FauxModel;
	/** Holds the project and pi's own directory. */
	dir: string;
}

export interface WorldOptions {
	/** pi's own settings, as the user has them. */
	settings?: Record<string, unknown>;
	model?: FauxModelOptions;
}

/** An empty project and a model that answers by the given rule. */
export async function sessionWorld(
	script: Parameters<typeof fauxModel>[0],
	{ settings = {}, model: modelOptions = {} }: WorldOptions = {},
): Promise<SessionWorld> {
	const model = await fauxModel(script, modelOptions);
	const dir = await createTempDir();
	const cwd = join(dir.path, "project");
	const agentDir = join(dir.path, "agent");
	await mkdir(cwd);
	await mkdir(agentDir);
	await writeFile(join(agentDir, "settings.json"), JSON.stringify(settings));
	return {
		host: { agentDir, modelRuntime: () => model.modelRuntime, isProjectTrusted: () => false },
		spec: {
			...anySpec,
			cwd,
			model: `${model.model.provider}/${model.model.id}`,
			tools: ["ls", "read"],
			agentId: "a1",
			run: 1,
		},
		model,
		dir: dir.path,
		async [Symbol.asyncDispose]() {
			await conversationsWritten();
			await dir.remove();
		},
	};
}

export const sessionFixture: CreateFixture = async (script) => {
	const gate = createGate();
	const world = await sessionWorld((request) => reply(script, request, gate), {
		settings: {
			retry: { enabled: true, maxRetries: 3, baseDelayMs: 60_000 },
			compaction: { enabled: true, reserveTokens: 1_000, keepRecentTokens: 1 },
		},
		model: { models: [{ id: "small", contextWindow: 20_000 }] },
	});
	return {
		runner: sessionRunner({ ...world.host, childTools: () => [endlessTool] }),
		spec: world.spec,
		asked: async (times = 1) => void (await world.model.nextRequest(({ number }) => number === times)),
		release: gate.open,
		requests: () => world.model.requests.length,
		heard: () => userTexts(world.model.requests),
		cleanup: async () => world[Symbol.asyncDispose](),
	};
};

/** Ends when its run does. */
const endlessTool = defineTool({
	name: "wait",
	label: "wait",
	description: "Waits for ever.",
	parameters: Type.Object({}),
	execute: (_id, _params, signal) =>
		new Promise<never>((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("stopped")))),
});

/** Ends the run that calls it. */
export const lastTool = defineTool({
	name: "submit",
	label: "submit",
	description: "Hands in the result.",
	parameters: Type.Object({}),
	execute: async () => ({ content: [{ type: "text", text: "Thank you." }], details: {}, terminate: true }),
});

function reply(script: ChildScript, request: RequestView, gate: Promise<unknown>): Reply {
	if (script.does === "fail") return fail(script.error);
	if (script.does === "hang") return hang();
	if (script.does === "retry") return httpError(503, "overloaded");
	if (script.does === "use_tool") return { ...callTool("wait"), text: script.text };
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
