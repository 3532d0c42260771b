/** Pi where much is broken around it: it starts in every mode, says what is wrong, and agents work as far as they can. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	assistantTexts,
	callTool,
	converse,
	gatePis,
	lastUserSays,
	type PiEvent,
	type PiTarget,
	runJson,
	runPrint,
	say,
	startRpc,
	startTui,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { homegrown } from "../../support/extensions/homegrown.ts";
import { type Scene, scene, unfenced } from "../../support/scene.ts";

const rules = [
	converse(
		lastUserSays("Please delegate."),
		callTool("Agent", { prompt: "Dig.", description: "dig", run_in_background: false }),
		({ lastToolResults }) => say(`Heard: ${unfenced(lastToolResults[0]?.text).split("\n")[0]}`),
	),
	when(lastUserSays("Dig."), say("Found gold.")),
	when(lastUserSays("What can you do?"), ({ tools }) => say(`I can: ${tools.map(({ name }) => name).sort()}.`)),
];

/** Much of what may be wrong around us, at once. */
async function ruins(): Promise<Scene> {
	const it = await scene(rules, {
		settings: { subagents: { widget: "huge" } },
		agentFiles: { "subagents.json": '{ "retention": "a lot" }', "agents/broken.md": "---\n: : [\n---\n" },
		files: { ".pi/subagents.json": "[]" },
	});
	const { agentDir, root, cwd, variables } = it.env;
	await writeFile(join(agentDir, "state"), "This is no directory.\n");
	await writeFile(join(agentDir, "subagents"), "Nor is this.\n");
	await mkdir(join(cwd, ".agents"));
	await symlink("agents", join(cwd, ".agents", "agents")); // leads to itself
	const nowhere = join(root, "nowhere");
	return { ...it, env: { ...it.env, variables: { ...variables, HOME: nowhere, USERPROFILE: nowhere } } };
}

const noModels = { "models.json": '{ "providers": {} }' };

/** What must be said of it, wherever that is. */
const complaints = [
	/settings\.json:\d+: "subagents\.widget" is "huge", expected one of .*; ignored/,
	/agent\/subagents\.json:1: "retention" is "a lot", expected an object; ignored/,
	/project\/\.pi\/subagents\.json: not used, because you have not trusted this project/,
	/Preset not used: .*agents\/broken\.md:2: /,
	/Preset not used: .*\.agents\/agents: cannot be read \(ELOOP\)/,
	/The conversation of agent \w+ is not saved, so it cannot be resumed: ENOTDIR/,
];

/** What it says, and what it says is wrong. */
type Run = (target: PiTarget) => Promise<{ said: string; wrong: string }>;

const modes: [string, Run][] = [
	[
		"print",
		async (target) => {
			const { stdout, stderr, code } = await runPrint(target, "Please delegate.");
			return { said: `${code} ${stdout.trim()}`, wrong: stderr };
		},
	],
	[
		"json",
		async (target) => {
			const { events, stderr, code } = await runJson(target, "Please delegate.");
			return { said: `${code} ${assistantTexts(events).at(-1)}`, wrong: stderr };
		},
	],
	[
		"rpc",
		async (target) => {
			await using rpc = startRpc(target);
			const events = await rpc.prompt("Please delegate.");
			return { said: `${rpc.stderr}0 ${assistantTexts(events).at(-1)}`, wrong: notices(rpc.events) };
		},
	],
	[
		"interactive",
		async (target) => {
			await using tui = await startTui(target, { cols: 300, rows: 60 });
			tui.submit("Please delegate.");
			const screen = await tui.waitForText("Heard: ");
			return { said: `0 ${screen.find((line) => line.includes("Heard: "))?.trim()}`, wrong: screen.join("\n") };
		},
	],
];

function notices(events: readonly PiEvent[]): string {
	return events
		.map((event) => (event.type === "extension_ui_request" && event.method === "notify" ? event.message : ""))
		.join("\n");
}

describe.each(await gatePis())("pi $version", (pi) => {
	test.each(modes)("%s: it starts, says what is wrong, and an agent works", async (_mode, run) => {
		await using it = await ruins();
		const { said, wrong } = await run({ env: it.env, pi });
		expect(said).toBe("0 Heard: Found gold.");
		for (const complaint of complaints) expect(wrong).toMatch(complaint);
	});

	test.each(modes)("%s: with settings in pieces it starts, says where, and launches nothing", async (_mode, run) => {
		const settings = { settings: { subagents: "a lot" }, agentFiles: { "subagents.json": "{\n maxConcurrent: 4," } };
		await using it = await scene(rules, settings);
		const { said, wrong } = await run({ env: it.env, pi });
		expect(said).toMatch(/^0 Heard: No agent is launched until the settings can be understood\./);
		expect(wrong).toMatch(
			/until this is fixed: .*agent\/settings\.json:\d+: "subagents" is "a lot", expected an object/,
		);
		expect(wrong).toMatch(
			/until this is fixed: .*agent\/subagents\.json:2: not valid JSON \(a key in double quotes is/,
		);
		expect(it.server.requests.filter(lastUserSays("Dig."))).toEqual([]);
	});

	test("without any model pi starts all the same, and says so itself where it must have one", async () => {
		await using it = await scene(rules, { agentFiles: noModels });
		await using tui = await startTui({ env: it.env, pi }, { cols: 140, rows: 50 });
		tui.submit("/subagent doctor ");
		await tui.waitForText(/✗ +models +No model is available\./);
		const { stderr, code } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect({ stderr, code }).toEqual({ stderr: expect.stringMatching(/^No (API key|model)/), code: 1 });
	});

	test("without any model there are no tools of ours, until one appears", async () => {
		await using it = await scene(rules, { agentFiles: noModels });
		await writeFile(
			join(it.env.cwd, "late.ts"),
			`export default (pi) => pi.registerCommand("grow", {
				async handler(_args, ctx) {
					ctx.ui.notify("Tools: " + pi.getAllTools().map(({ name }) => name).sort());
					pi.registerProvider("homegrown", ${JSON.stringify(homegrown(it.server.baseUrl))});
				},
			});\n`,
		);
		await using rpc = startRpc({ env: it.env, pi, extensions: ["late.ts"] });
		await rpc.send({ type: "prompt", message: "/grow" });
		const before = await rpc.waitFor((event) => notices([event]).startsWith("Tools: "));
		expect(notices([before])).not.toMatch(/Agent|subagent/);
		await rpc.send({ type: "set_model", provider: "homegrown", modelId: "oak" });
		const [said] = assistantTexts(await rpc.prompt("What can you do?"));
		expect(said).toMatch(/\bAgent,.*\bsubagent\b/);
		expect(rpc.events.filter(({ type }) => type === "extension_error")).toEqual([]);
	});
});
