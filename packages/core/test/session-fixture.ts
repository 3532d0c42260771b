/** A real pi session as the child, with a scripted model. */
import { createGate, createTempDir, type FauxModel, fauxModel, type RequestView } from "@pi-subagents-dev/testkit";
import type { RunIdentity, RunSpec } from "../src/index.ts";
import { type SessionHost, sessionRunner } from "../src/session/index.ts";
import type { ChildScript, CreateFixture } from "../src/testing/index.ts";
import { spec as anySpec } from "./events.ts";

export interface SessionWorld extends AsyncDisposable {
	host: SessionHost;
	spec: RunSpec & RunIdentity;
	model: FauxModel;
}

/** An empty project and a model that answers by the given rule. */
export async function sessionWorld(script: Parameters<typeof fauxModel>[0]): Promise<SessionWorld> {
	const model = await fauxModel(script);
	const dir = await createTempDir();
	return {
		host: { agentDir: `${dir.path}/agent`, modelRuntime: () => model.modelRuntime, isProjectTrusted: () => false },
		spec: {
			...anySpec,
			cwd: dir.path,
			model: `${model.model.provider}/${model.model.id}`,
			tools: ["ls", "read"],
			agentId: "a1",
			run: 1,
		},
		model,
		[Symbol.asyncDispose]: () => dir.remove(),
	};
}

export const sessionFixture: CreateFixture = async (script) => {
	const gate = createGate();
	const world = await sessionWorld((request) => reply(script, request, gate));
	return {
		runner: sessionRunner(world.host),
		spec: world.spec,
		asked: async () => void (await world.model.nextRequest()),
		release: gate.open,
		heard: () => userTexts(world.model.requests),
		cleanup: async () => world[Symbol.asyncDispose](),
	};
};

function reply(script: ChildScript, request: RequestView, gate: Promise<unknown>) {
	if (script.does === "fail") return { error: script.error };
	if (script.does === "hang") return { fault: { kind: "hang" as const } };
	const hasWorked = request.messages.some((message) => message.role === "tool");
	return hasWorked ? { text: script.text } : { toolCalls: [{ name: "ls", args: { path: "." } }], gate };
}

function userTexts(requests: readonly RequestView[]): string[] {
	return (requests.at(-1)?.messages ?? []).filter(({ role }) => role === "user").map(({ text }) => text);
}
