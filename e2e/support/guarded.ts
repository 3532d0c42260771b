/** An agent whose every tool call one of the user's extensions asks about. */
import {
	callTool,
	converse,
	createTempDir,
	type Gate,
	lastUserSays,
	type Rule,
	say,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";
import { extensionDir, parentSays, type Scene, scene, unfenced } from "./scene.ts";
import { endTmuxWith } from "./tmux.ts";

export type GuardedRunner = "session" | "process" | "tmux";

const preset = (runner: GuardedRunner, fields: string) => `---
name: guarded
description: Reads under guard
model: fake/fake-1
tools: read
runner: ${runner}
${fields}---
You are the guarded agent.
`;

/** The user's extension, with this body of its handler of tool calls. In the session itself it allows everything. */
const guard = (body: string) => `export default function (pi) {
	pi.on("tool_call", async (event, ctx) => {
		if (event.toolName !== "read") return undefined;
		${body}
	});
}
`;

/** Blocks the call, and tells the agent what the expression gives. */
export const blockSaying = (expression: string): string =>
	`return { block: true, reason: JSON.stringify(${expression}) };`;

/** The agent's own model is asked. */
export const isGuarded = systemPromptSays("You are the guarded agent.");

/** The agent reads a file, once the gate is open, and says what came of it; the session repeats it. */
export const readsUnderGuard = ({ gate }: { gate?: Gate } = {}): Rule[] => [
	parentSays(callTool("subagent", { preset: "guarded", task: "Read the notes." }), ({ lastToolResults }) =>
		say(`My agent reports: ${unfenced(lastToolResults[0]?.text)}`),
	),
	converse(isGuarded, callTool("read", { path: "notes.txt" }, gate ? { gate } : {}), ({ lastToolResults }) =>
		say(`I got: ${lastToolResults[0]?.text.trim()}`),
	),
	when(lastUserSays("hello"), say("Hello.")),
];

export interface GuardedOptions {
	runner: GuardedRunner;
	/** The body of the guard's handler of tool calls. Absent: there is no such guard. */
	body?: string;
	/** What pi loads besides us. */
	extensions?: readonly string[];
	rules?: readonly Rule[];
	agentFiles?: Record<string, string>;
	/** More lines of the preset. */
	fields?: string;
}

export async function guardedScene({
	runner,
	body,
	rules,
	agentFiles,
	fields = "",
	extensions,
}: GuardedOptions): Promise<Scene> {
	const home = runner === "tmux" ? await createTempDir("tmux-") : undefined; // a socket's path must be short
	const it = await scene(rules ?? readsUnderGuard(), {
		agentFiles: {
			"agents/guarded.md": preset(runner, fields),
			...(body === undefined ? {} : { "extensions/guard.ts": guard(body) }),
			...agentFiles,
		},
		...(extensions ? { extensions: [extensionDir, ...extensions] } : {}),
		...(home ? { variables: { TMUX_TMPDIR: home.path } } : {}),
	});
	if (home) endTmuxWith(it.env, home);
	return it;
}
