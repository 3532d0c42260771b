/**
 * The same life on another machine, in real pi: what a person, a model and the next pi can do with an agent here, they can
 * do with one there. `local` is a worker on this machine, over a pipe, so the mirror, the orders and git are the real ones.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Report } from "@pi-subagents/report";
import {
	all,
	callTool,
	converse,
	createGate,
	gatePis,
	isFullRun,
	lastUserSays,
	offersTool,
	runPrint,
	say,
	startRpc,
	startTui,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { launchesIn, linesOf, toldIn } from "../../support/detached.ts";
import { sessionIn } from "../../support/digs.ts";
import { trust } from "../../support/hostile/hostile-repository.ts";
import { asRepository } from "../../support/repository.ts";
import { asksWhichColour, parentSays, scene, scoutSays, unfenced } from "../../support/scene.ts";

const onLocal = { agentFiles: { "subagents.json": JSON.stringify({ machine: "local" }) } };
const asScout = (text: string) => all(({ systemPrompt }) => systemPrompt.includes("repo scout"), lastUserSays(text));
const read = callTool("read", { path: "notes.txt" });

const preset = (fields: string) => ({
	".pi/subagents/repo-scout.md": `---
name: repo-scout
description: Fast repo exploration
model: fake/fake-1
tools: read,write
${fields}
---
You are the repo scout. Explore quickly and summarize.
`,
});

const launch = (more: Record<string, unknown> = {}) =>
	callTool("Agent", {
		...{ prompt: "Find the launch code.", description: "find the code", subagent_type: "repo-scout" },
		...{ run_in_background: false, ...more },
	});

const repeats = ({ lastToolResults }: { lastToolResults: readonly { text: string }[] }) =>
	say(`Got: ${unfenced(lastToolResults[0]?.text)}`);

if (isFullRun)
	describe.each(await gatePis())("pi $version", (pi) => {
		test("its words are read while it writes them; it is steered, answered and stopped in its viewer", async () => {
			const [writing, told] = [createGate(), createGate()];
			await using it = await scene(
				[
					converse(
						asScout("Trace it."),
						{
							...read,
							text: "The first part, which is long enough to come in pieces.",
							gate: writing,
							chunksBeforeGate: 4,
						},
						{ ...read, text: "The second part.", gate: told },
					),
					asksWhichColour(asScout("Look at the tests, too.")),
				],
				onLocal,
			);
			await using tui = await startTui({ env: it.env, pi }, { cols: 120, rows: 40 });
			tui.submit("/subagent start repo-scout: Trace it. ");
			await tui.waitForText(/Started repo-scout as \w+\./);
			await tui.waitForText(/repo-scout .*@local/);
			tui.press("alt+a");
			await tui.waitForText(/→ . repo-scout /);
			tui.press("enter");
			await tui.waitForText(/The first part, which/);
			expect(tui.screen().join("\n"), "it is still writing").not.toContain("to come in pieces.");
			writing.open();
			await tui.waitForText(/to come in pieces\./);
			tui.type("s");
			await tui.waitForText("what it should know or do");
			tui.submit("Look at the tests, too.");
			await tui.waitForText("Message sent");
			told.open();
			await tui.waitForText("? Which colour?");
			tui.type("a");
			await tui.waitForText("your answer");
			tui.submit("heliotrope");
			await tui.waitForText(/I heard: .*heliotrope/);
			tui.type("xx");
			await tui.waitForText(/■ repo-scout[\s\S]* end ─/);
			const home = join(it.env.agentDir, "state", "subagents", "worker", "runs");
			await until("the other machine has nothing left of it", async () =>
				(await readdir(home)).length === 0 ? true : undefined,
			);
		});

		test("its answer matches a schema, its work passes a check, and its commits come back on a branch", async () => {
			const schema = { type: "object", properties: { code: { type: "string" } }, required: ["code"] };
			await using it = await scene(
				[
					parentSays(launch({ output_schema: schema }), repeats),
					when(asScout("Your answer cannot be used."), say('```json\n{"code": "heliotrope"}\n```')),
					converse(
						asScout("does not pass its check"),
						callTool("write", { path: "fixed.txt", content: "yes" }),
						say('Now it is fixed.\n```json\n{"code": "heliotrope"}\n```'),
					),
					scoutSays(say('Found it: {"code": 7}')),
				],
				{ ...onLocal, files: preset('verify: "test -f fixed.txt"') },
			);
			const git = await asRepository(it);
			await trust(it.env);
			const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(stdout).toContain('<structured-output>\n{"code":"heliotrope"}\n</structured-output>');
			expect(stdout).toMatch(/Completed in \S+, verified on local: test -f fixed\.txt/);
			const [branch = ""] = (await git("branch", "--list", "pi/*", "--format=%(refname:short)")).split("\n");
			expect(await git("show", `${branch}:fixed.txt`)).toBe("yes");
			expect(await git("status", "--porcelain", "fixed.txt"), "nothing in the user's checkout").toBe("");
		});

		test("at the end of its budget it is asked for its answer", async () => {
			await using it = await scene(
				[
					parentSays(launch(), repeats),
					when(
						({ systemPrompt, tools, lastUserText }) =>
							systemPrompt.includes("repo scout") && tools.length === 0 && /^Finish now: .*budget/.test(lastUserText),
						say("This is all I have."),
					),
					scoutSays(read),
				],
				{ ...onLocal, files: preset("budget_tokens: 1") },
			);
			const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(stdout).toMatch(/Got: This is all I have\.[\s\S]*Wrapped up at its budget/);
		});

		test("pi is killed: the next one continues its copy where it ended, and delivers the run once", async () => {
			const gate = createGate();
			await using it = await scene(
				[
					converse(
						all(offersTool("background_agent"), lastUserSays("delegate")),
						callTool("background_agent", { preset: "repo-scout", task: "Find the launch code." }),
						say("Launched."),
					),
					scoutSays(read, { ...say("Found: heliotrope."), gate }),
					when(lastUserSays("Anything new?"), ({ messages }) =>
						say(`I was told ${messages.filter(({ text }) => text.includes("<task-notification>")).length} times.`),
					),
				],
				onLocal,
			);
			const sessions = join(it.env.root, "sessions");
			const args = ["--session-dir", sessions];
			const first = startRpc({ env: it.env, pi, args });
			await first.prompt("Please delegate.");
			const session = await until("the session's file", () => sessionIn(sessions));
			const run = await until("the run", async () => (await launchesIn(session))[0]);
			const log = join(run.artifacts, "events.jsonl");
			await it.server.nextRequest((request) => asScout("")(request) && request.turn === 2);
			await until("its first turn is here", async () =>
				(await linesOf(log)).some(({ type }) => type === "tool_result") ? true : undefined,
			);
			const before = await readFile(log, "utf8");
			process.kill(first.pid ?? 0, "SIGKILL");
			await first.close();
			await using second = startRpc({ env: it.env, pi, args: [...args, "--continue"] });
			await second.send({ type: "get_state" });
			gate.open();
			await until("it is told of", async () => ((await toldIn(session)).length > 0 ? true : undefined));
			const after = await readFile(log, "utf8");
			expect(after.startsWith(before)).toBe(true);
			const lines = after.trim().split("\n");
			expect(new Set(lines).size, "no line twice").toBe(lines.length);
			await second.prompt("Anything new?");
			await second.send({ type: "prompt", message: "/subagent report" });
			const written = JSON.stringify(await second.waitFor((event) => /\S+\.html/.test(JSON.stringify(event))));
			const html = await readFile(/: (\/[^"\\]+\.html)/.exec(written)?.[1] ?? "", "utf8");
			const report: Report = JSON.parse(
				/<script type="application\/json" id="report">(.*?)<\/script>/s.exec(html)?.[1] ?? "null",
			);
			expect(report.agents.map(({ preset: name, status }) => [name, status])).toEqual([["repo-scout", "completed"]]);
			await second.close();
			const { stdout } = await runPrint({ env: it.env, pi, args: [...args, "--continue"] }, "Anything new?");
			expect(stdout).toContain("I was told 1 times.");
			expect((await toldIn(session)).map(({ runId, status }) => [runId, status])).toEqual([[run.runId, "completed"]]);
		});
	});
