/** What guards pi guards its agents: in real pi, in every runner, whatever a preset or a call says. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	availablePis,
	callTool,
	createTempDir,
	gatePis,
	isFullRun,
	requireTool,
	runJson,
	runPrint,
	say,
} from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { guardedScene, ONE_LINE_GUARD, REFUSAL, SECRET, secretReadBy } from "../../support/env-guard.ts";
import { trust } from "../../support/hostile/hostile-repository.ts";
import { asRepository } from "../../support/repository.ts";
import { delegate, isScout, parentSays, type Scene, scoutSays } from "../../support/scene.ts";
import { endTmuxWith } from "../../support/tmux.ts";

const userGuard = { "extensions/env-guard.ts": ONE_LINE_GUARD };
const runners = isFullRun ? ["session", "process"] : ["session"];

function expectRefused(text: string): void {
	expect(text).toContain(REFUSAL);
	expect(text).not.toContain(SECRET);
}

/** Outside of all directories that pi looks in. */
async function givenGuard(): Promise<string> {
	const dir = await createTempDir("guard-");
	onTestFinished(() => dir.remove());
	const path = join(dir.path, "gate.ts");
	await writeFile(path, ONE_LINE_GUARD);
	return path;
}

describe.each(await availablePis())("pi $version", (pi) => {
	test.each(["session", "process"])("a one-line guard of the user holds in an agent (%s)", async (runner) => {
		expectRefused(await secretReadBy({ pi, agentFiles: userGuard, subagents: { runner } }));
	});
});

describe.each(await gatePis())("pi $version", (pi) => {
	test.skipIf(!requireTool("tmux"))("it holds in a tmux window", async () => {
		const home = await createTempDir("tmux-");
		expectRefused(
			await secretReadBy({
				pi,
				agentFiles: userGuard,
				subagents: { runner: "tmux" },
				variables: { TMUX_TMPDIR: home.path },
				onScene: (it) => endTmuxWith(it.env, home),
			}),
		);
	});

	test("it holds on the machine called local, also one that was given with -e", async () => {
		expectRefused(
			await secretReadBy({ pi, agentFiles: userGuard, subagents: { machine: "local" }, isRepository: true }),
		);
		const given = await givenGuard();
		expectRefused(
			await secretReadBy({ pi, args: ["-ne", "-e", given], subagents: { machine: "local" }, isRepository: true }),
		);
	});

	test("it holds against a project that switches guards off, even one that the user trusts", async () => {
		const files = { ".pi/subagents.json": '{"guards":"off"}', ".pi/settings.json": '{"subagents":{"guards":"off"}}' };
		const trusted = (it: Scene) => trust(it.env);
		expectRefused(await secretReadBy({ pi, agentFiles: userGuard, files, args: ["--approve"], onScene: trusted }));
	});

	test("one that replaces bash works in the agent's worktree, in a process of its own", async () => {
		const sandbox = `import { createBashTool } from "@earendil-works/pi-coding-agent";
			export default (pi) => {
				const bash = createBashTool(process.cwd(), { spawnHook: (context) => ({ ...context, command: "echo boxed; " + context.command }) });
				pi.registerTool({ ...bash, label: "bash" });
			};`;
		await using it = await guardedScene(
			{
				agentFiles: { "extensions/my-sandbox.ts": sandbox },
				subagents: { agentOverrides: { "repo-scout": { tools: ["bash"] } } },
			},
			[
				parentSays(
					callTool("Agent", {
						subagent_type: "repo-scout",
						prompt: "Look.",
						description: "look",
						isolation: "worktree",
						run_in_background: false,
					}),
					say("I see."),
				),
				scoutSays(callTool("bash", { command: "pwd" }), ({ lastToolResults }) => say(`In ${lastToolResults[0]?.text}`)),
			],
		);
		await asRepository(it);
		await runJson({ env: it.env, pi }, "Please delegate.");
		const [ran] = it.server.requests.filter(isScout).flatMap(({ lastToolResults }) => lastToolResults);
		expect(ran?.text).toMatch(/^boxed\n.*worktrees/);
		const [heard] = it.server.requests
			.filter((request) => !isScout(request))
			.flatMap(({ lastToolResults }) => lastToolResults);
		expect(heard?.text).toContain("The agent runs in its own process: my-sandbox guards it");
	});

	test.each(runners)("one given with -e holds, even under --no-extensions (%s)", async (runner) => {
		expectRefused(await secretReadBy({ pi, args: ["-ne", "-e", await givenGuard()], subagents: { runner } }));
	});

	test("one that pi did not load guards no agent: --no-extensions, and the user's own settings", async () => {
		expect(await secretReadBy({ pi, agentFiles: userGuard, args: ["-ne"] })).toContain(SECRET);
		expect(await secretReadBy({ pi, agentFiles: userGuard, subagents: { guards: "off" } })).toContain(SECRET);
		const exempt = { guards: { exempt: ["env-guard"] } };
		expect(await secretReadBy({ pi, agentFiles: userGuard, subagents: exempt })).toContain(SECRET);
	});

	test("doctor and explain say which guards hold", async () => {
		await using it = await guardedScene({ agentFiles: userGuard }, []);
		const doctor = await runPrint({ env: it.env, pi }, "/subagent doctor");
		expect(doctor.stdout + doctor.stderr).toMatch(/guards +env-guard holds in every agent: it judges tool calls/);
		const explain = await runPrint({ env: it.env, pi }, "/subagent explain repo-scout");
		expect(explain.stdout + explain.stderr).toMatch(/guards +env-guard \(.*env-guard\.ts\)/);
	});

	test.each(runners)(
		"one that cannot be loaded twice refuses a launch inside pi, and holds elsewhere (%s)",
		async (runner) => {
			const once = `globalThis.count = (globalThis.count ?? 0) + 1;\nif (globalThis.count > 1) throw new Error("only once");\n`;
			const text = await secretReadBy({
				pi,
				agentFiles: { "extensions/env-guard.ts": once + ONE_LINE_GUARD },
				subagents: { runner },
			});
			if (runner === "process") return expectRefused(text);
			expect(text).toMatch(/env-guard guards agents and could not be loaded \(.*only once\).*`guards: \{ exempt \}`/);
			expect(text).not.toContain(SECRET);
		},
	);

	test("one that the user names holds without a handler for tool calls; one that does not exist refuses", async () => {
		const redactor = `export default (pi) => { pi.on("tool_result", ({ content }) => ({ content: content.map((part) => part.type === "text" ? { ...part, text: part.text.replaceAll("${SECRET}", "[redacted]") } : part) })); };\n`;
		const agentFiles = { "extensions/redactor.ts": redactor };
		expect(await secretReadBy({ pi, agentFiles })).toContain(SECRET);
		expect(await secretReadBy({ pi, agentFiles, subagents: { guards: { also: ["redactor"] } } })).toContain(
			"[redacted]",
		);
		const missing = await secretReadBy({ pi, agentFiles, subagents: { guards: { also: ["redacter"] } } });
		expect(missing).toMatch(/names "redacter", which pi has not loaded \(there is: redactor\)/);
	});

	describe("one that judges by the session's directory", () => {
		/** Nothing outside the directory, and no `touch` where the project says so, in a file that git ignores. */
		const fence = `import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
export default (pi) => {
	let mayTouch = true;
	pi.on("session_start", (_event, ctx) => { mayTouch = !existsSync(join(ctx.cwd, ".pi", "no-touch")); });
	pi.on("tool_call", ({ toolName, input }, ctx) => {
		if (toolName === "bash" && !mayTouch && input.command.includes("touch")) return { block: true, reason: "No touch here." };
		const path = toolName === "bash" ? (/^cd '([^']*)'/.exec(input.command)?.[1] ?? ".") : (input.path ?? ".");
		if (!(resolve(ctx.cwd, path) + "/").startsWith(ctx.cwd + "/")) return { block: true, reason: "Nothing outside." };
	});
};
`;
		const cases = [
			["elsewhere", { cwd: "/" }, ["Nothing outside.", "Nothing outside.", "No touch here."]],
			["below", { cwd: "src" }, ["inner", "Successfully", "No touch here."]],
			["in a worktree", { isolation: "worktree" }, ["outer", "Successfully", "No touch here."]],
		] as const;
		test.each(runners.flatMap((runner) => cases.map((each) => [runner, ...each] as const)))(
			"an agent in runner %s that works %s is judged like pi",
			async (runner, _where, call, expected) => {
				const tries = scoutSays(
					callTool("read", { path: call === cases[0][1] ? "etc/hostname" : "a.txt" }),
					callTool("write", { path: "new.txt", content: "x" }),
					callTool("bash", { command: "touch it" }),
					say("Done."),
				);
				const preset =
					"---\nname: repo-scout\ndescription: d\nmodel: fake/fake-1\ntools: read, write, bash\n---\nYou are the repo scout.\n";
				await using it = await guardedScene(
					{
						agentFiles: { "extensions/fence.ts": fence },
						subagents: { runner },
						files: {
							".pi/subagents/repo-scout.md": preset,
							".pi/no-touch": "",
							".gitignore": ".pi\n",
							"a.txt": "outer",
							"src/a.txt": "inner",
						},
					},
					[parentSays(delegate("Try it.", call), say("I see.")), tries],
				);
				await asRepository(it);
				await runJson({ env: it.env, pi }, "Please delegate.");
				const results = it.server.requests.filter(isScout).flatMap(({ lastToolResults }) => lastToolResults);
				expect(results.map(({ text }) => text)).toEqual(expected.map((text) => expect.stringContaining(text)));
			},
		);
	});
});
