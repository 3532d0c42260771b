/**
 * Limits of the user in real pi: a settings file, or a limit in it, that is not understood refuses every launch, wherever
 * it comes from, until it is fixed. pi starts, and everything that launches nothing works.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	callTool,
	callTools,
	converse,
	gatePis,
	lastUserSays,
	offersTool,
	otherwise,
	type PiRpc,
	runPrint,
	say,
	startRpc,
	until,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { trust } from "../../support/hostile/hostile-repository.ts";
import { isScout, parentSays, type Scene, scene, scoutSays } from "../../support/scene.ts";
import { script } from "../../support/workflows.ts";

/** What else can be read of the file counts, so the model has all tools. */
const TOOLSETS = ["agents", "presets", "roles", "workflows"];
const GOOD = { toolsets: TOOLSETS, hooks: { before_launch: [] } };
const BAD = { toolsets: TOOLSETS, hooks: { before_launch: "policy" } };

/** Another extension asks for an agent over the bus, and says what it hears. */
const caller = `export default (pi) => {
	pi.registerCommand("call", { description: "", handler: async (_args, ctx) => {
		const requestId = String(Math.random());
		pi.events.on("subagents:rpc:spawn:reply:" + requestId, (reply) => ctx.ui.notify("reply " + JSON.stringify(reply)));
		pi.events.emit("subagents:rpc:spawn", { version: 2, requestId, type: "repo-scout", prompt: "Dig." });
	} });
};`;

const own = (fields: string) =>
	`---\nname: own\ndescription: digs\nmodel: fake/fake-1\ntools: read\n${fields}\n---\nYou dig.\n`;

const scout = { subagent_type: "repo-scout", prompt: "Dig.", description: "dig" };
const run = script('return agent("Dig.", { agentType: "repo-scout" })');

const world = () =>
	scene(
		[
			scoutSays(say("Found gold.")),
			converse(
				lastUserSays("Launch all"),
				callTools(
					callTool("subagent", { preset: "repo-scout", task: "Dig." }),
					callTool("background_agent", { preset: "repo-scout", task: "Dig." }),
					callTool("Agent", scout),
					callTool("workflow", { script: run, background: false }),
				),
				say("I see."),
			),
			converse(
				lastUserSays("Hand over"),
				callTool("start_subagent", { agent: "repo-scout", task: "Dig." }),
				say("I see."),
			),
			converse(
				lastUserSays("Once more"),
				({ lastUserText }) => callTool("Agent", { ...scout, resume: /more (\w+)/.exec(lastUserText)?.[1] ?? "" }),
				say("I see."),
			),
			converse(lastUserSays("Later"), callTool("Agent", { ...scout, schedule: "+1s" }), say("I see.")),
			converse(lastUserSays("First"), callTool("subagent", { preset: "repo-scout", task: "Dig." }), say("I see.")),
			otherwise(say("Noted.")),
		],
		{ files: { "caller.ts": caller } },
	);

const settle = ({ env }: Scene, content: object | string) =>
	writeFile(join(env.agentDir, "subagents.json"), typeof content === "string" ? content : JSON.stringify(content));

const scouts = ({ server }: Scene) => server.requests.filter(isScout).length;

/** Everything that pi has said from an event on. */
const said = (rpc: PiRpc, from = 0) => JSON.stringify(rpc.events.slice(from));

/** Sends a command, and waits until pi has said something. */
async function command(rpc: PiRpc, message: string, words: string): Promise<void> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message });
	await until(`${message} is answered with ${words}`, async () => said(rpc, from).includes(words) || undefined);
}

const results = ({ server }: Scene) =>
	server.requests
		.filter(offersTool("Agent"))
		.at(-1)
		?.lastToolResults.map(({ text }) => text) ?? [];

describe.each(await gatePis())("pi $version", (pi) => {
	test("a limit that is not understood refuses launches from everywhere, and no agent's model is asked", async () => {
		await using it = await world();
		await settle(it, GOOD);
		await using rpc = startRpc({ env: it.env, pi, extensions: ["caller.ts"] });
		await rpc.prompt("First");
		expect(scouts(it)).toBe(1);
		const [, id = ""] = /"agentId":"(\w+)"/.exec(said(rpc)) ?? [];

		await settle(it, BAD);
		const why = `${join(it.env.agentDir, "subagents.json")}:1: "hooks.before_launch" is "policy", expected a list of names`;
		await rpc.prompt("Launch all");
		expect(results(it)).toEqual(Array(4).fill(expect.stringContaining(why)));
		await rpc.prompt("Hand over");
		expect(results(it)).toEqual([expect.stringContaining(why)]);
		await rpc.prompt(`Once more ${id}`);
		expect(results(it)).toEqual([expect.stringContaining(why)]);
		for (const message of ["/subagent start repo-scout: Dig.", "@repo-scout Dig.", "/call"])
			await command(rpc, message, "No agent is launched until the settings can be understood");
		await rpc.prompt("Later");
		expect(results(it)[0]).toContain("scheduled");
		await until(
			"the job was refused",
			async () => said(rpc).includes("could not launch its agent: No agent") || undefined,
		);
		expect(scouts(it)).toBe(1);

		await command(rpc, "/subagent doctor", "No agent is launched until then");
		await command(rpc, "/subagent explain repo-scout", "You are the repo scout");

		await settle(it, GOOD);
		await rpc.prompt("Launch all");
		await until("agents run again", async () => scouts(it) >= 4 || undefined);
	});

	test("pi starts with a file that is no JSON, says where it is wrong, and launches once it is fixed", async () => {
		await using it = await world();
		await settle(it, '{\n\t"toolsets": ["presets"],\n\t"maxDepth": 1,\n}\n');
		await using rpc = startRpc({ env: it.env, pi });
		const wrong = "subagents.json:3: not valid JSON (there is a comma too many before";
		await until("the user is told", async () => said(rpc).includes(wrong) || undefined);
		await rpc.prompt("First");
		expect(results(it)[0]).toContain(wrong);
		expect(scouts(it)).toBe(0);
		await settle(it, { maxDepth: 1 });
		await rpc.prompt("First");
		expect(scouts(it)).toBe(1);
	});
});

describe.each(await gatePis())("pi $version", (pi) => {
	test.each([
		["settings that it trusts", { agentOverrides: { own: { idle_timeout: 0, max_turns: 0 } } }, {}],
		["preset of the same name, untrusted", undefined, { ".pi/subagents/own.md": own("idle_timeout: 0\nmax_turns: 0") }],
	])("a project lifts no limit of the user's settings: by %s", async (_how, settings, files) => {
		await using it = await scene(
			[parentSays(callTool("subagent", { preset: "own", task: "Dig." }), say("Heard.")), otherwise(say("Dug."))],
			{
				agentFiles: { "agents/own.md": own("") },
				files: { ...(settings && { ".pi/subagents.json": JSON.stringify(settings) }), ...files },
			},
		);
		const [seen, hook] = [join(it.env.root, "spec.json"), join(it.env.root, "hook.cjs")];
		await writeFile(
			hook,
			`require("fs").writeFileSync(${JSON.stringify(seen)}, require("fs").readFileSync(0)); console.log('{"refuse":"seen"}')`,
		);
		const limits = { idleTimeoutMinutes: 1, defaultMaxTurns: 5, hooks: { before_launch: [process.execPath, hook] } };
		await writeFile(join(it.env.agentDir, "subagents.json"), JSON.stringify(limits));
		if (settings) await trust(it.env);
		const { stderr } = await runPrint({ env: it.env, pi }, "Please delegate.");
		const spec = JSON.parse(await readFile(seen, "utf8"));
		expect(spec.limits).toMatchObject({ idleTimeoutMs: 60_000, maxTurns: 5 });
		expect(stderr).toMatch(/asks for more than your own settings (or preset )?allow: `max_turns`, `idle_timeout`/);
	});
});
