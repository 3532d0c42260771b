/** Each place that launches agents in real pi, against each way to switch extensions off: the user's guard holds in all. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	callTool,
	converse,
	gateCases,
	gatePis,
	isFullRun,
	lastUserSays,
	offersTool,
	otherwise,
	say,
	startRpc,
	systemPromptSays,
	until,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { guardedScene, ONE_LINE_GUARD, REFUSAL } from "../../support/env-guard.ts";
import { script } from "../../support/workflows.ts";

const boxed = (fields: string) =>
	`---\nname: boxed\ndescription: d\nmodel: fake/fake-1\ntools: read\n${fields}\n---\nYou are the boxed one.\n`;
const boss =
	"---\nname: boss\ndescription: d\nmodel: fake/fake-1\nrunner: session\ntools: read\nsubagents: boxed\nextensions: false\n---\nYou are the boss.\n";

/** What a preset, a setting or a file for another program can say. */
const WAYS: [string, { preset?: string; subagents?: Record<string, unknown>; call?: Record<string, unknown> }][] = [
	["an isolated preset", { preset: "isolated: true" }],
	["a preset without extensions", { preset: "extensions: false" }],
	["a preset with none of them by name", { preset: "extensions: []" }],
	["a preset that leaves the guard out", { preset: "extensions: true\nexclude_extensions: env-guard" }],
	["a setting that leaves the guard out", { subagents: { excludeExtensions: ["env-guard"] } }],
	["an override of the settings", { subagents: { agentOverrides: { boxed: { extensions: false } } } }],
	["a call that asks for isolation", { call: { isolated: true } }],
];

const task = "Read it.";
const isBoxed = systemPromptSays("You are the boxed one.");
const asked = (text: string) => all(offersTool("subagent"), lastUserSays(text));
const about = { prompt: task, description: "read it", subagent_type: "boxed" };

/** Another extension, which launches over the bus as soon as a command says so. */
const caller = `export default (pi) => pi.registerCommand("call", { handler: async () => {
	pi.events.emit("subagents:rpc:spawn", { requestId: "r1", type: "boxed", prompt: "${task}" });
} });\n`;

/** By the tools of the model. */
const TOOLS = [
	["subagent", { preset: "boxed", task }],
	["background_agent", { preset: "boxed", task }],
	["Agent", { ...about, name: "rex", run_in_background: false }],
	["Agent", { ...about, resume: "rex", run_in_background: false }],
	["Agent", { ...about, subagent_type: "boss", run_in_background: false }],
	["Agent", { ...about, schedule: "+1s; quiet" }],
	["workflow", { script: script(`return agent("${task}", { agentType: "boxed" })`), background: false }],
] as const;
const launchedByTools = TOOLS.length;

describe.each(await gatePis())("pi $version", (pi) => {
	describe.each(isFullRun ? ["session", "process"] : ["session"])("runner %s", (runner) => {
		test.each(gateCases(WAYS, 0))("every launch is guarded, whatever says %s", async (_title, way) => {
			const { preset = "", subagents = {}, call = {} } = way;
			const calls = TOOLS.map(([tool, input]) => callTool(tool, tool === "Agent" ? { ...input, ...call } : input));
			await using it = await guardedScene(
				{
					agentFiles: {
						"extensions/env-guard.ts": ONE_LINE_GUARD,
						"agents/boxed.md": boxed(preset),
						"agents/boss.md": boss,
						"caller.ts": caller,
					},
					subagents: { runner, toolsets: ["agents", "presets", "roles", "workflows"], ...subagents },
				},
				[
					converse(isBoxed, callTool("read", { path: "secret.env" }), say("Done.")),
					converse(
						systemPromptSays("You are the boss."),
						callTool("Agent", { ...about, run_in_background: false }),
						say("Done."),
					),
					converse(asked("Please launch."), ...calls, say("All launched.")),
					converse(asked("Start one."), callTool("start_subagent", { role: "boxed", task })),
					otherwise(say("I see.")),
				],
			);
			const { agentDir } = it.env;
			await writeFile(join(agentDir, "trust.json"), JSON.stringify({ [it.env.cwd]: true }));
			await using rpc = startRpc({ env: it.env, pi, args: ["-e", join(agentDir, "caller.ts")] });
			const read = () => it.server.requests.filter(isBoxed).flatMap(({ lastToolResults }) => lastToolResults);
			const areRead = (count: number) =>
				until(`${count} agents have tried`, async () => read().length >= count || undefined);
			await rpc.prompt("Please launch.");
			await areRead(launchedByTools);
			await rpc.prompt("Start one.");
			await areRead(launchedByTools + 1);
			for (const [index, line] of [`/subagent start boxed: ${task}`, `@boxed ${task}`, "/call"].entries()) {
				await rpc.send({ type: "prompt", message: line });
				await areRead(launchedByTools + 2 + index);
			}
			expect(read().map(({ text }) => text)).toEqual(Array.from({ length: launchedByTools + 4 }, () => REFUSAL));
		});
	});
});
