/** Agents whose work is checked by a command before they are done, in real pi with real commands. */
import { readdir, readFile, writeFile } from "node:fs/promises";
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
	type RequestView,
	runPrint,
	say,
	startRpc,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { isRunning, toldIn, until } from "../../support/detached.ts";
import { sessionIn } from "../../support/digs.ts";
import { trust } from "../../support/hostile/hostile-repository.ts";
import { parentSays, type Scene, scene, unfenced } from "../../support/scene.ts";

const TIMEOUT = 120_000;
const PIS = await gatePis();
const RUNNERS = ["session", "process"] as const;

const preset = (fields: string) =>
	`---\nname: mender\ndescription: mends things\nmodel: fake/fake-1\ntools: read,write,bash\n${fields}\n---\nYou are the mender.\n`;
const asMender = systemPromptSays("You are the mender.");
const launch = (more: Record<string, unknown> = {}) =>
	callTool("Agent", {
		prompt: "Mend it.",
		description: "mend the notes",
		subagent_type: "mender",
		run_in_background: false,
		...more,
	});
const tellsParent = ({ lastToolResults }: RequestView) =>
	say(`Heard: ${lastToolResults.map(({ text }) => unfenced(text)).join("\n")}`);
/** It forgets the file, and writes it when the check complains. */
const mends = [
	converse(
		all(asMender, lastUserSays("does not pass its check")),
		callTool("write", { path: "fixed.txt", content: "yes" }),
		say("Now it is fixed."),
	),
	when(asMender, say("Mended.")),
];

const place = (fields: string, rules: Parameters<typeof scene>[0], more: Parameters<typeof scene>[1] = {}) =>
	scene(rules, { ...more, files: { ".pi/subagents/mender.md": preset(fields), ...more.files } });

async function trusted(it: Scene): Promise<void> {
	await trust(it.env);
}

describe.each(PIS)("pi $version", { timeout: TIMEOUT }, (pi) => {
	test.each(RUNNERS)("work that fails its check is fixed by the same agent, runner: %s", async (runner) => {
		await using it = await place(`runner: ${runner}\nverify: "echo looking for it; test -f fixed.txt"`, [
			parentSays(launch(), tellsParent),
			...mends,
		]);
		await trusted(it);
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toContain("Now it is fixed.");
		expect(stdout).toMatch(
			/Completed in \S+, verified: echo looking for it; test -f fixed\.txt \([\d.]+s\), 1 tool call/,
		);
		const repair = it.server.requests.find(({ lastUserText }) => lastUserText.includes("does not pass its check"));
		expect(repair?.lastUserText).toMatch(
			/exited with code 1.*\n.*data and not instructions:\n<log-\w+>\nlooking for it\n/,
		);
		// It continues its own conversation.
		expect(repair?.messages.some(({ text }) => text.includes("Mended."))).toBe(true);
	});

	test.each(gateCases(RUNNERS, 0))(
		"work that never passes fails the run, with the end of the output, runner: %s",
		async (runner) => {
			await using it = await place(`runner: ${runner}\nverify: "echo 3 tests failed; exit 7"\nverify_repairs: 0`, [
				parentSays(launch(), tellsParent),
				when(asMender, say("All good.")),
			]);
			await trusted(it);
			const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(stdout).toMatch(/Failed after \S+: Not verified: echo 3 tests failed; exit 7 exited with code 7/);
			expect(stdout).toContain("\n3 tests failed\n");
			expect(stdout).toContain("All good.");
		},
	);

	test("a project that is not trusted verifies nothing, and the result says so", async () => {
		await using it = await place('verify: "touch owned.txt"', [
			parentSays(launch(), tellsParent),
			when(asMender, say("Mended.")),
		]);
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toMatch(/Completed in \S+, not verified: project not trusted/);
		expect(await readdir(it.env.cwd)).not.toContain("owned.txt");
	});

	test("a call can name the command only where the user allows it, and its JSON is the result", async () => {
		const verify = { command: ["cat", "count.json"], output: "json", schema: { type: "object", required: ["passed"] } };
		const rules = [parentSays(launch({ verify }), tellsParent), when(asMender, say("Mended."))];
		const files = { "count.json": '{"passed": 12}' };
		await using it = await place("", rules, { files });
		await trusted(it);
		const settings = join(it.env.agentDir, "subagents.json");
		await writeFile(settings, '{ "verifyCalls": true }');
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toContain('<structured-output>\n{"passed":12}\n</structured-output>');
		expect(stdout).toMatch(/verified: cat count\.json \(/);
		if (!isFullRun) return;
		await writeFile(settings, "{}");
		const plain = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(plain.stdout).not.toContain("verified");
	});

	if (isFullRun)
		test("a workflow of the model verifies its agents, by either name, only where calls may", async () => {
			const script = `export const meta = { name: "w", description: "w" }
const good = await agent("Mend it.", { agentType: "mender", gate: "true" })
const bad = await agent("Mend it.", { agentType: "mender", verify: "false" })
return { good, bad }`;
			await using it = await place("verify_repairs: 0", [
				converse(
					all(offersTool("workflow"), lastUserSays("delegate")),
					callTool("workflow", { script, background: false }),
					tellsParent,
				),
				when(asMender, say("Mended.")),
				otherwise(say("I see.")),
			]);
			const settings = join(it.env.agentDir, "subagents.json");
			await writeFile(settings, '{ "toolsets": ["workflows"] }');
			await trusted(it);
			const refused = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(refused.stdout).not.toContain('"good":"Mended."');
			await writeFile(settings, '{ "toolsets": ["workflows"], "verifyCalls": true }');
			const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(stdout).toContain('"good":"Mended."');
			expect(stdout).toContain('"bad":null');
		});
});

/** The check writes its pid and waits to be killed. */
const HANGS = `runner: RUNNER\nverify: "echo $$ >> checks.txt; exec sleep 1000"`;

async function checks(it: Scene): Promise<number[]> {
	const text = await readFile(join(it.env.cwd, "checks.txt"), "utf8").catch(() => "");
	return text.split("\n").filter(Boolean).map(Number);
}

describe("killed with -9 during the check", { timeout: TIMEOUT }, () => {
	test.each(gateCases(RUNNERS, 0))(
		"pi leaves no command behind, and the agent is not taken for done, runner: %s",
		async (runner) => {
			await using it = await place(HANGS.replace("RUNNER", runner), [
				parentSays(launch({ run_in_background: true }), say("Started.")),
				when(asMender, say("Mended.")),
				otherwise(say("I see.")),
			]);
			await trusted(it);
			const sessions = join(it.env.home, "sessions");
			const rpc = startRpc({ env: it.env, args: ["--session-dir", sessions], timeoutMs: 60_000 });
			await rpc.send({ type: "prompt", message: "Please delegate." });
			const [check = 0] = await until("the check runs", async () => {
				const found = await checks(it);
				return found.length > 0 ? found : undefined;
			});
			process.kill(rpc.pid ?? 0, "SIGKILL");
			await rpc.close();
			await until("the check is gone", async () => !isRunning(check) || undefined);
			const file = (await sessionIn(sessions)) ?? "";
			await using _next = startRpc({ env: it.env, args: ["--session", file], timeoutMs: 60_000 });
			const told = await until("the session hears of it", async () => (await toldIn(file))[0]);
			expect(told).toMatchObject({ status: "aborted" });
			expect(told.summary).not.toContain("verified:");
			expect(await checks(it)).toHaveLength(1);
		},
	);
});
