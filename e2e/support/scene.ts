/** A small project, a preset in it, and a scripted pair of models: the parent delegates, the child reads a file. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import {
	all,
	callTool,
	converse,
	createPiEnv,
	hang,
	lastUserSays,
	type ModelServer,
	offersTool,
	type PiEnv,
	type PiEnvOptions,
	type ReplySource,
	type RequestView,
	type Rule,
	say,
	startModelServer,
	systemPromptSays,
} from "@pi-subagents-dev/testkit";

/** The packed form of the extension, as pi loads it after an installation. */
export const extensionDir = dirname(fileURLToPath(import.meta.resolve("@pi-subagents/extension/package.json")));

const scoutPreset = `---
name: repo-scout
description: Fast repo exploration
model: fake/fake-1
tools: read,grep,find,ls
---
You are the repo scout. Explore quickly and summarize.
`;

const files = {
	"notes.txt": "The launch code is heliotrope.\n",
	".pi/subagents/repo-scout.md": scoutPreset,
};

/** The session's own model is asked. */
export const isSession = offersTool("Agent");
/** The agent of the preset above is asked. */
export const isScout = systemPromptSays("You are the repo scout.");
const asParent = all(offersTool("subagent"), lastUserSays("delegate"));

/** What the parent's model says after the agents' results have come back. */
export const parentSays = (...replies: readonly ReplySource[]): Rule => converse(asParent, ...replies);
export const scoutSays = (...replies: readonly ReplySource[]): Rule => converse(isScout, ...replies);

export const delegate = (task = "Find the launch code.", more: Record<string, unknown> = {}) =>
	callTool("subagent", { preset: "repo-scout", task, ...more });

/** What a model makes of a result: the words, without the tags around those of an agent. */
export const unfenced = (text = ""): string => text.replace(/<([a-z]+-[0-9a-f]{12})>\n?([\s\S]*?)\n?<\/\1>/g, "$2");

/** The child reads the notes and reports what they say. */
export const scoutReadsNotes = scoutSays(callTool("read", { path: "notes.txt" }), ({ lastToolResults }) =>
	say(`The notes say: ${lastToolResults[0]?.text.trim()}`),
);

/** An agent asks the one above it, says what it heard, and then works for ever. */
export const asksWhichColour = (when: (request: RequestView) => boolean): Rule =>
	converse(
		when,
		callTool("ask_main_session", { question: "Which colour?" }),
		({ lastToolResults }) => ({
			...callTool("read", { path: "notes.txt" }),
			text: `I heard: ${unfenced(lastToolResults[0]?.text)}`,
		}),
		hang(),
	);

export const parentDelegates = parentSays(delegate(), ({ lastToolResults }) =>
	say(`My scout reports: ${unfenced(lastToolResults[0]?.text)}`),
);

export interface Scene extends AsyncDisposable {
	server: ModelServer;
	env: PiEnv;
}

export async function scene(rules: readonly Rule[], options: Omit<PiEnvOptions, "server"> = {}): Promise<Scene> {
	const server = await startModelServer({ rules });
	const env = await createPiEnv({
		server,
		extensions: [extensionDir],
		...options,
		files: { ...files, ...options.files },
	});
	return {
		server,
		env,
		async [Symbol.asyncDispose]() {
			await env.cleanup();
			await server.close();
		},
	};
}
