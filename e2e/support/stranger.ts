/** An agent that nobody trusts, and its place: the documented sandbox, from which it tries to reach further. */
import {
	callTool,
	type PiEnvOptions,
	type RequestView,
	type Rule,
	say,
	systemPromptSays,
} from "@pi-subagents-dev/testkit";
import { offerSandbox, type Sandbox } from "./sandbox.ts";
import { type Scene, scene, unfenced } from "./scene.ts";

/** `fields`: more lines of its front matter. */
export const stranger = (fields: string, tools = "read,write,bash") =>
	`---\nname: stranger\ndescription: tries things\nmodel: fake/fake-1\ntools: ${tools}\n${fields}\n---\nYou are the stranger.\n`;

export const asStranger = systemPromptSays("You are the stranger.");

export const launchStranger = (more: Record<string, unknown> = {}) =>
	callTool("Agent", {
		prompt: "Try it.",
		description: "try things",
		subagent_type: "stranger",
		run_in_background: false,
		...more,
	});

/** The words of the last results, without the tags around those of an agent. */
export const resultsOf = ({ lastToolResults }: RequestView) =>
	lastToolResults.map(({ text }) => unfenced(text)).join("\n");

export const tellsParent = (request: RequestView) => say(`Heard: ${resultsOf(request)}`);

export interface SandboxedScene extends Scene, Pick<Sandbox, "settle" | "recipe"> {}

/** `settings`: what else the user has set. */
export async function sandboxedStranger(
	rules: readonly Rule[],
	{
		fields = "",
		tools,
		settings = {},
		...options
	}: Omit<PiEnvOptions, "server"> & { fields?: string; tools?: string; settings?: object } = {},
): Promise<SandboxedScene> {
	const agentFiles = { "agents/stranger.md": stranger(`launcher: offline\n${fields}`, tools), ...options.agentFiles };
	const it = await scene(rules, { ...options, agentFiles });
	const sandbox = await offerSandbox(it);
	sandbox.settle(JSON.stringify({ ...JSON.parse(sandbox.recipe), ...settings }));
	return {
		...it,
		settle: sandbox.settle,
		recipe: sandbox.recipe,
		async [Symbol.asyncDispose]() {
			sandbox.close();
			await it[Symbol.asyncDispose]();
		},
	};
}
