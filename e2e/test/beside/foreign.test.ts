/** Agent files and settings that were written for other programs, in real pi: limits hold, models are found, names work. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
	callTool,
	converse,
	isFullRun,
	lastUserSays,
	offersTool,
	runJson,
	runPrint,
	say,
	startRpc,
	startTui,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { type Scene, scene } from "../../support/scene.ts";

const agent = (name: string, fields: string) => `---\nname: ${name}\ndescription: d\n${fields}---\nYou help.\n`;

/** The parent calls the preset that the user names; every child says what it has. */
const rules = [
	converse(
		offersTool("Agent"),
		({ lastUserText }) =>
			callTool("Agent", {
				subagent_type: lastUserText.trim(),
				prompt: "What have you?",
				description: "ask",
				run_in_background: false,
			}),
		({ lastToolResults }) => say(`It says: ${lastToolResults[0]?.text}`),
	),
	converse(lastUserSays("What have you?"), ({ tools, model }) => {
		const names = tools.map(({ name }) => name).filter((name) => name !== "ask_main_session");
		return say(`I am on ${model} with ${names.sort().join(",") || "nothing"}`);
	}),
];

describe("a limit that is not understood", () => {
	const files = {
		".pi/agents/typo.md": agent("typo", "toolz: read\n"),
		".pi/agents/boxed.md": agent("boxed", "sandbox: strict\n"),
		".pi/agents/careful.md": agent("careful", "permissionMode: plan\ntools: read, bash, edit\n"),
		".pi/agents/asking.md": agent("asking", "permissions:\n  bash: ask\n  edit: deny\n"),
	};
	const said = /typo\.md:4: unknown field "toolz" looks like a limit: did you mean "tools"\?/;

	test("is reported in print, JSON and RPC mode and on the screen, and the agent does not run", async () => {
		await using it = await scene(rules, { files });
		const print = await runPrint({ env: it.env, args: ["--no-session"] }, "typo");
		expect(print.stderr).toMatch(said);
		expect(print.stderr).toMatch(/boxed\.md:4: the field "sandbox" is not supported by this version/);
		expect(print.stdout).toMatch(/It says: .*Preset "typo" cannot be used: .*did you mean "tools"/);
		const json = await runJson({ env: it.env, args: ["--no-session"] }, "boxed");
		expect(json.stderr).toMatch(said);
		expect(JSON.stringify(json.events)).toContain('"sandbox\\" is not supported by this version');
		await using rpc = startRpc({ env: it.env });
		const event = await rpc.waitFor(
			(each) => each.type === "extension_ui_request" && each.method === "notify" && said.test(String(each.message)),
		);
		expect(event).toBeDefined();
		await using tui = await startTui({ env: it.env }, { cols: 200 });
		await tui.waitForText(/Preset not used: .*typo\.md/);
		expect(it.server.requests.some(({ lastUserText }) => lastUserText.includes("What have you?"))).toBe(false);
	});

	test("a limit of another program that is understood is enforced", async () => {
		await using it = await scene(rules, { files });
		expect(await ask(it, "careful")).toContain("with read\n");
		expect(await ask(it, "asking")).toContain("with read\n");
	});
});

describe("imported agents", () => {
	test("run under the name that was written, from sub-folders, and on the session's model where theirs is nowhere", async () => {
		await using it = await scene(rules, {
			agentFiles: { "subagents.json": JSON.stringify({ imports: ["claude"] }) },
		});
		await writeAgents(it, {
			"team/review.md": agent("Code Reviewer", "model: sonnet\ntools: Read, Agent(plugin:x), mcp:docs/search\n"),
			"team/web/search.md": agent("searcher", "model: inherit\ntools: WebSearch\n"),
			"team/NOTES.md": "# Notes\n",
		});
		const answer = await ask(it, "Code Reviewer");
		expect(answer).toContain("I am on fake-1 with read");
		expect(answer).toContain('asks for the model "sonnet", which is not available here; the session\'s model is used');
		const none = await ask(it, "searcher");
		expect(none).toContain("I am on fake-1 with nothing");
		expect(none).toContain('Preset "searcher" has no tools left');
	});
});

if (isFullRun)
	test("a preset's model is the one that `pi --model` finds by that name", async () => {
		const ids = [
			...["fake-1", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-6", "claude-3-7-sonnet-latest"],
			...["gpt-3.5-turbo", "gpt-5", "gpt-5-mini", "gpt-5-mini-2025-08-07"],
		];
		const wanted = ["sonnet", "claude-sonnet-4-5", "gpt-5-mini", "Claude Opus 9"];
		const file = (model: string) => `.pi/agents/${model.replaceAll(" ", "-")}.md`;
		await using it = await scene(rules, {
			files: Object.fromEntries(
				// Not imported: where nothing matches this is an error, so the session's model never stands in.
				wanted.map((model) => [file(model), `---\nmodel: ${model}\n---\nYou help.\n`]),
			),
			models: [...ids.map((id) => ({ id })), { id: "m-17", name: "Claude Opus 9" }],
		});
		// The provider is named, because the flag also looks among those that the user has no key for.
		const found: [string, string | undefined, string | undefined][] = [];
		for (const model of wanted) {
			it.server.forget();
			const answer = await ask(it, model.replaceAll(" ", "-"), ["--model", `fake/${model}`]);
			found.push([model, it.server.requests[0]?.model, /I am on (\S+) with/.exec(answer)?.[1]]);
		}
		expect(found).toEqual([
			["sonnet", "claude-sonnet-4-6", "claude-sonnet-4-6"],
			["claude-sonnet-4-5", "claude-sonnet-4-5", "claude-sonnet-4-5"],
			["gpt-5-mini", "gpt-5-mini", "gpt-5-mini"],
			["Claude Opus 9", "m-17", "m-17"],
		]);
	});

test("settings of others do what their users expect, or pi says that they do not", async () => {
	const settings = {
		backgroundByDefault: false,
		worktreeIsolation: false,
		maxConcurrentForeground: 2,
		agentOverrides: { Explore: { disabled: true } },
	};
	await using it = await scene(rules, { agentFiles: { "subagents.json": JSON.stringify(settings) } });
	const { stderr, stdout } = await runPrint({ env: it.env, args: ["--no-session"] }, "Explore");
	expect(stderr).toMatch(/Settings: .*"maxConcurrentForeground" is 2, which has no effect here/);
	expect(stdout).toContain('Preset "Explore" is switched off');
	const offered = it.server.requests[0]?.tools.find(({ name }) => name === "Agent");
	expect(offered?.description).toContain("wait for its answer");
	expect(offered?.description).not.toContain("- Explore");
	expect(JSON.stringify(offered)).not.toContain("worktree");
	expect(JSON.stringify(offered)).toContain("Default false");
});

async function ask(it: Scene, name: string, args: readonly string[] = []): Promise<string> {
	return (await runPrint({ env: it.env, args: ["--no-session", ...args] }, name)).stdout;
}

async function writeAgents({ env }: Scene, files: Record<string, string>): Promise<void> {
	for (const [path, text] of Object.entries(files)) {
		const file = join(env.cwd, ".claude/agents", path);
		await mkdir(dirname(file), { recursive: true });
		await writeFile(file, text);
	}
}
