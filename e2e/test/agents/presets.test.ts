/** Presets in real pi: found, fresh, overridable, and harmless when they are broken or come with the project. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	callTool,
	converse,
	gatePis,
	isFullRun,
	lastUserSays,
	offersTool,
	runJson,
	say,
	startRpc,
	startTui,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { type Scene, scene, unfenced } from "../../support/scene.ts";

const preset = (name: string, fields = "", body = `You are ${name}.`) =>
	`---\nname: ${name}\ndescription: ${name} of the test\n${fields}---\n${body}\n`;
/** The parent calls whatever preset the user names; every child says who it is. */
const rules = [
	converse(
		offersTool("subagent"),
		({ lastUserText }) => callTool("subagent", { preset: lastUserText.trim(), task: "Who are you?" }),
		({ lastToolResults }) => say(unfenced(lastToolResults[0]?.text)),
	),
	converse(lastUserSays("Who are you?"), ({ systemPrompt, tools, model }) => {
		const who = /You are (\w+)\./.exec(systemPrompt)?.[1] ?? "nobody";
		const names = tools.map(({ name }) => name).filter((name) => name !== "ask_main_session");
		return say(`I am ${who} on ${model} with ${names.sort().join(",")}`);
	}),
];

async function ask(it: Scene, name: string): Promise<string> {
	const { events } = await runJson({ env: it.env, args: ["--no-session"] }, name);
	const request = it.server.requests.findLast(({ lastToolResults }) =>
		lastToolResults.some((result) => result.name === "subagent"),
	);
	expect(events.some(({ type }) => type === "agent_settled")).toBe(true);
	return unfenced(request?.lastToolResults[0]?.text);
}

describe.each(await gatePis())("pi $version", (pi) => {
	if (isFullRun)
		test("a preset that is written while pi runs can be used in the next call, and so can its next version", async () => {
			await using it = await scene(rules);
			await using rpc = startRpc({ env: it.env, pi });
			const answerTo = async (name: string) => JSON.stringify(await rpc.prompt(name));
			expect(await answerTo("newcomer")).toContain("There is no preset");
			const path = join(it.env.cwd, ".pi/subagents/newcomer.md");
			await writeFile(path, preset("newcomer", "model: fake/fake-1\ntools: read\n"));
			expect(await answerTo("newcomer")).toContain("I am newcomer on fake-1 with read");
			await writeFile(path, preset("newcomer", "model: fake/fake-1\ntools: read, ls\n", "You are changed."));
			expect(await answerTo("newcomer")).toContain("I am changed on fake-1 with ls,read");
		});

	test("a broken file shows its problem on the screen and harms nothing", async () => {
		const files = { ".pi/subagents/broken.md": "---\nname: broken\ndescription: x\ntools: {a: b}\n---\n" };
		await using it = await scene(rules, { files });
		await using tui = await startTui({ env: it.env, pi }, { cols: 140 });
		await tui.waitForText(/Preset not used: .*broken\.md/);
		tui.submit("Explore");
		await tui.waitForText(/I am nobody on fake-1 with|I am \w+ on fake-1/);
	});
});

describe("which preset counts", () => {
	test("built-ins are there and take the session's model; settings remove them or change them", async () => {
		await using it = await scene(rules);
		expect(await ask(it, "explore")).toMatch(/^I am .* on fake-1 with find,grep,ls,read\n/);
		const settings = join(it.env.agentDir, "subagents.json");
		await writeFile(
			settings,
			JSON.stringify({ agentOverrides: { explore: { tools: "read", prompt_mode: "append" } } }),
		);
		expect(await ask(it, "Explore")).toMatch(/ on fake-1 with read\n/);
		await writeFile(settings, JSON.stringify({ builtins: false }));
		expect(await ask(it, "Explore")).toMatch(/^There is no preset "Explore"\. .*Known: repo-scout\./);
	});

	if (isFullRun)
		test("the nearest project beats the user's, and both beat the built-ins", async () => {
			await using it = await scene(rules, {
				agentFiles: { "agents/Explore.md": "You are mine.", "subagents/own.md": preset("own", "model: fake/fake-1\n") },
			});
			expect(await ask(it, "Explore")).toContain("I am mine on fake-1");
			expect(await ask(it, "own")).toContain("I am own on fake-1");
			await writeFile(
				join(it.env.cwd, ".pi/subagents/own.md"),
				preset("own", "model: fake/fake-1\n", "You are theirs."),
			);
			expect(await ask(it, "own")).toContain("I am theirs on fake-1");
		});

	if (isFullRun)
		test("a project the user declined contributes none", async () => {
			await using it = await scene(rules);
			await writeFile(join(it.env.agentDir, "trust.json"), JSON.stringify({ [it.env.cwd]: false }));
			expect(await ask(it, "repo-scout")).toMatch(/^There is no preset "repo-scout"/);
		});

	test("projectPresets: off leaves them out, trusted wants the stored yes", async () => {
		await using it = await scene(rules);
		const settings = join(it.env.agentDir, "subagents.json");
		await writeFile(settings, JSON.stringify({ projectPresets: "off" }));
		expect(await ask(it, "repo-scout")).toMatch(/^There is no preset/);
		await writeFile(settings, JSON.stringify({ projectPresets: "trusted" }));
		expect(await ask(it, "repo-scout")).toMatch(/^There is no preset/);
		await writeFile(join(it.env.agentDir, "trust.json"), JSON.stringify({ [it.env.cwd]: true }));
		expect(await ask(it, "repo-scout")).toMatch(/ on fake-1 with find,grep,ls,read/);
	});

	test("a project's preset gets no tool that the session does not have", async () => {
		await using it = await scene(rules, {
			files: { ".pi/subagents/greedy.md": preset("greedy", "model: fake/fake-1\ntools: bash\n") },
		});
		const { events } = await runJson({ env: it.env, args: ["--no-session", "--tools", "read,subagent"] }, "greedy");
		expect(JSON.stringify(events)).toContain(
			'Project preset \\"greedy\\" asks for bash, which this session does not have active',
		);
	});
});

describe("what a person sees", () => {
	test("one notice when a project's preset replaces a built-in", async () => {
		await using it = await scene(rules, {
			files: { ".pi/subagents/explore.md": preset("Explore", "model: fake/fake-1\n") },
		});
		await using tui = await startTui({ env: it.env }, { cols: 160 });
		await tui.waitForText('This project\'s preset "Explore" replaces the one you had');
		tui.submit("Explore");
		await tui.waitForText("I am Explore on fake-1");
		expect(tui.scrollback().split("replaces the one you had")).toHaveLength(2);
	});

	test("/subagent agents lists them, /subagent explain tells what one would be started with and why", async () => {
		await using it = await scene(rules);
		await using tui = await startTui({ env: it.env }, { cols: 120, rows: 60 });
		tui.type("/subagent agents "); // the space ends the completion, which would take Enter for itself
		tui.press("enter");
		await tui.waitForText(/repo-scout +project +Fast repo exploration/);
		expect(tui.screen().join("\n")).toMatch(/Explore +builtin/);
		tui.submit("/subagent explain repo-scout ");
		await tui.waitForText(/It starts with about .* tokens/);
		const shown = tui.screen().join("\n");
		expect(shown).toMatch(/model +fake\/fake-1 +\(line 4 of the file\)/);
		expect(shown).toMatch(/tools +read, grep, find, ls +\(line 5 of the file\)/);
		expect(tui.scrollback()).toContain("You are the repo scout.");
	});
});

if (isFullRun)
	test("a huge description does not reach the model's tool list", async () => {
		const files = {
			".pi/subagents/long.md": `---\nname: long\ndescription: ${"very ".repeat(150)}long\n---\n`,
			".pi/subagents/huge.md": `---\nname: huge\ndescription: ${"x".repeat(2_000_000)}\n---\n`,
		};
		await using it = await scene(rules, { files });
		await ask(it, "Explore");
		const [request] = it.server.requests;
		expect(JSON.stringify(request?.tools.find(({ name }) => name === "subagent")).length).toBeLessThan(4_000);
	});
