/** Limits that a preset sets, obeyed in real pi, each end saying which one it was. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	callTool,
	createGate,
	gatePis,
	hang,
	isFullRun,
	requireTool,
	runJson,
	runPrint,
	say,
	slowdown,
	startTui,
	systemPromptSays,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentSays, type Scene, scene, unfenced } from "../../support/scene.ts";

const preset = (fields: string) =>
	`---\nname: limited\ndescription: has limits\nmodel: fake/fake-1\ntools: read\n${fields}---\nYou are limited.\n`;
const parent = parentSays(callTool("subagent", { preset: "limited", task: "Go on for ever." }), say("I see."));
const reads = callTool("read", { path: "notes.txt" });

async function resultOf(it: Scene, pi: Awaited<ReturnType<typeof gatePis>>[number]) {
	const { events } = await runJson({ env: it.env, pi }, "Please delegate.");
	const end = events.find((event) => event.type === "tool_execution_end");
	const request = it.server.requests.find(({ lastToolResults }) =>
		lastToolResults.some(({ name }) => name === "subagent"),
	);
	return {
		isError: end?.type === "tool_execution_end" && end.isError,
		text: unfenced(request?.lastToolResults[0]?.text),
	};
}

describe.each(await gatePis())("pi $version", (pi) => {
	if (isFullRun)
		test("max_turns: the child is told to finish, without tools, and its answer counts", async () => {
			await using it = await scene(
				[
					parent,
					when(
						({ systemPrompt, tools }) => systemPrompt.includes("You are limited.") && tools.length === 0,
						say("This is all I have."),
					),
					when(systemPromptSays("You are limited."), reads),
				],
				{ files: { ".pi/subagents/limited.md": preset("max_turns: 2\n") } },
			);
			const { isError, text } = await resultOf(it, pi);
			expect(isError).toBe(false);
			expect(text).toMatch(
				/^This is all I have\.\n\n\[agent \w+ \(limited\): Wrapped up at its turn limit after .*, 2 tool calls\]$/,
			);
		});

	const runners = isFullRun ? ["session", "process"] : ["session"];
	test.each(runners)(
		"budget_tokens in a %s: nobody can grant more, so the child is asked for its answer",
		async (runner) => {
			await using it = await scene(
				[
					parent,
					when(
						({ systemPrompt, tools, lastUserText }) =>
							systemPrompt.includes("You are limited.") &&
							tools.length === 0 &&
							/^Finish now: .*budget/.test(lastUserText),
						say("This is all I have."),
					),
					when(systemPromptSays("You are limited."), reads),
				],
				{ agentFiles: { "subagents/limited.md": preset(`budget_tokens: 1\nrunner: ${runner}\n`) } },
			);
			const { isError, text } = await resultOf(it, pi);
			expect(isError).toBe(false);
			expect(text).toMatch(
				/^This is all I have\.\n\n\[agent \w+ \(limited\): Wrapped up at its budget after .*, 1 tool call\]$/,
			);
		},
	);

	test.each(runners)(
		"budget.session: at its end agents give their answers, nothing more is launched, and a project cannot raise it, runner: %s",
		async (runner) => {
			await using it = await scene(
				[
					parentSays(
						callTool("subagent", { preset: "limited", task: "Go on for ever." }),
						callTool("subagent", { preset: "limited", task: "And again." }),
						({ lastToolResults }) => say(`Refused: ${lastToolResults[0]?.text}`),
					),
					when(
						({ systemPrompt, tools }) => systemPrompt.includes("You are limited.") && tools.length === 0,
						say("This is all I have."),
					),
					when(systemPromptSays("You are limited."), reads),
				],
				{
					files: {
						".pi/subagents/limited.md": preset(""),
						".pi/subagents.json": JSON.stringify({ budget: { session: { tokens: 0 } } }),
					},
					agentFiles: { "subagents.json": JSON.stringify({ runner, budget: { session: { tokens: 1 } } }) },
				},
			);
			const { isError, text } = await resultOf(it, pi);
			expect(isError).toBe(false);
			expect(text).toMatch(/^This is all I have\.\n\n\[agent \w+ \(limited\): Wrapped up at its budget after /);
			const last = it.server.requests.at(-1)?.lastToolResults[0]?.text;
			expect(last).toMatch(/The agents of this session have used .* of 1 tokens, and only the user can raise that/);
		},
	);

	if (isFullRun)
		test.each(runners)(
			"budget.session: on a screen, a notice at 80 % and a question at 100 %, runner: %s",
			async (runner) => {
				const uses = [850, 400].map((input) => ({ ...reads, usage: { input, output: 0 } }));
				await using it = await scene(
					[parent, when(systemPromptSays("You are limited."), ({ turn }) => uses[turn - 1] ?? say("All of it."))],
					{
						files: { ".pi/subagents/limited.md": preset("") },
						agentFiles: { "subagents.json": JSON.stringify({ runner, budget: { session: { tokens: 1_000 } } }) },
					},
				);
				await using tui = await startTui({ env: it.env, pi }, { cols: 160, rows: 40 });
				tui.submit("Please delegate.");
				await tui.waitForText("The agents of this session have used");
				await tui.waitForText("May they use the same amount again?");
				tui.submit("yes");
				await tui.waitForText("I see.");
				expect(unfenced(it.server.requests.at(-1)?.lastToolResults[0]?.text)).toContain("All of it.");
			},
		);

	test("timeout: a model that never answers does not hold the parent forever", async () => {
		await using it = await scene([parent, when(systemPromptSays("You are limited."), hang())], {
			files: { ".pi/subagents/limited.md": preset(`timeout: ${Math.ceil(slowdown())}s\n`) },
		});
		const { isError, text } = await resultOf(it, pi);
		expect(isError).toBe(true);
		expect(text).toMatch(/^\[agent \w+ \(limited\): Timed out after .*it ran longer than \d+s, 0 tool calls\]$/);
		await it.server.nextRequest(({ aborted }) => aborted);
	});
});

const everyRunner = ["session", "process", ...(isFullRun && requireTool("tmux") ? ["tmux"] : [])];
const combinations = (await gatePis()).flatMap((pi) => everyRunner.map((runner) => ({ runner, pi })));
test.each(combinations)(
	"idle_timeout, runner: $runner, pi $pi.version: an agent that writes, or whose command prints, is active",
	async ({ runner, pi }) => {
		const seconds = Math.ceil(3 * slowdown());
		const command = `for each in $(seq ${2 * seconds}); do echo $each; sleep 1; done`;
		const written = "The launch code is very, very long.";
		await using it = await scene(
			[
				parent,
				when(
					({ systemPrompt, lastToolResults }) =>
						systemPrompt.includes("You are limited.") && lastToolResults.length > 0,
					say(written, { chunkSize: 2, chunkDelayMs: (seconds * 2_000) / (written.length / 2) }),
				),
				when(systemPromptSays("You are limited."), callTool("bash", { command })),
			],
			{
				agentFiles: {
					"agents/limited.md": preset(`idle_timeout: ${seconds}s\nrunner: ${runner}\n`).replace(
						"tools: read",
						"tools: bash",
					),
				},
			},
		);
		expect((await resultOf(it, pi)).text).toMatch(
			/^The launch code is very, very long\.\n\n\[agent \w+ \(limited\): Completed/,
		);
	},
);

test("timeout: what the model had written of its answer is kept, whatever runs the agent", async () => {
	const written = `The launch code is ${"very ".repeat(40)}`;
	const runners = ["session", "process"];
	const limited = (runner: string) =>
		preset(`timeout: ${Math.ceil(8 * slowdown())}s\nrunner: ${runner}\n`).replace(
			"name: limited",
			`name: ${runner}-limited`,
		);
	await using it = await scene(
		[
			parentSays(
				{
					toolCalls: runners.map((runner) => ({
						name: "subagent",
						args: { preset: `${runner}-limited`, task: "Go on for ever." },
					})),
				},
				say("I see."),
			),
			when(
				systemPromptSays("You are limited."),
				say(`${written}secret`, { gate: createGate(), chunksBeforeGate: 6, chunkSize: 16 }),
			),
		],
		{ agentFiles: Object.fromEntries(runners.map((runner) => [`agents/${runner}-limited.md`, limited(runner)])) },
	);
	await runJson({ env: it.env }, "Please delegate.");
	const results = it.server.requests.find(({ lastToolResults }) => lastToolResults.length === 2)?.lastToolResults;
	for (const { text } of results ?? [])
		expect(text).toMatch(
			/Timed out after .*ran longer than .*\n\nWhat it had said until then.*\n<partial-\w+>\nThe launch code is very/,
		);
	expect(results).toHaveLength(2);
});

test("maxConcurrent in the settings: the second waits, and both are done in the end", async () => {
	let running = 0;
	let most = 0;
	await using it = await scene(
		[
			parentSays(
				{
					toolCalls: ["one", "two"].map((task) => ({ name: "subagent", args: { preset: "limited", task } })),
				},
				({ lastToolResults }) => say(lastToolResults.map(({ text }) => unfenced(text).split("\n")[0]).join(" and ")),
			),
			when(systemPromptSays("You are limited."), ({ lastUserText, turn }) => {
				if (turn === 1) most = Math.max(most, ++running);
				else running--;
				return turn === 1 ? reads : say(`done ${lastUserText}`);
			}),
		],
		{
			files: { ".pi/subagents/limited.md": preset("") },
			agentFiles: { "subagents.json": JSON.stringify({ maxConcurrent: 1 }) },
		},
	);
	const { events } = await runJson({ env: it.env }, "Please delegate.");
	expect(JSON.stringify(events.at(-2))).toContain("done one and done two");
	expect(most).toBe(1);
});

describe.each(await gatePis())("pi $version", (pi) => {
	test("budget.session: a run that continues when pi is closed uses no more than was left", async () => {
		const waits = callTool("bash", { command: "until test -e gone; do sleep 0.05; done" });
		let turns = 0;
		await using it = await scene(
			[
				parentSays(callTool("background_agent", { preset: "limited", task: "Go on for ever." }), say("Bye.")),
				when(systemPromptSays("You are limited."), ({ tools }) => {
					turns++;
					if (tools.length === 0 || turns >= 40) return say("This is all I have.");
					return turns === 1 ? waits : callTool("bash", { command: "echo turn" });
				}),
			],
			{
				agentFiles: {
					"subagents/limited.md": preset("").replace("tools: read", "tools: bash"),
					"subagents.json": JSON.stringify({ drainSeconds: 0, budget: { session: { tokens: 2_000 } } }),
				},
			},
		);
		await runPrint({ env: it.env, pi }, "Please delegate.");
		await writeFile(join(it.env.cwd, "gone"), "");
		const runs = join(it.env.cwd, ".pi/subagents/runs");
		const result = await until("the run has its result", async () => {
			const [run = ""] = (await readdir(runs)).filter((name) => !name.startsWith("."));
			const text = await readFile(join(runs, run, "result.json"), "utf8").catch(() => undefined);
			return text === undefined ? undefined : JSON.parse(text);
		});
		expect(result.outcome).toMatchObject({ status: "completed", wrappedUp: true, by: "budget" });
		const { input, output, cacheRead, cacheWrite } = result.usage;
		expect(input + output + cacheRead + cacheWrite).toBeLessThan(2_700); // with a turn for its answer
	});
});
