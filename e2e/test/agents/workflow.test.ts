/** Workflow scripts in real pi: what they can do, and what they may not. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
	callTool,
	createGate,
	gatePis,
	isFullRun,
	runPrint,
	say,
	startRpc,
	startTui,
	until,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { linesOf } from "../../support/detached.ts";
import { trust } from "../../support/hostile/hostile-repository.ts";
import { extensionDir, parentSays, scene, scoutSays } from "../../support/scene.ts";
import { command, journal, offering, repeats, runs, script } from "../../support/workflows.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const scout = '{ agentType: "repo-scout" }';
const echoes = scoutSays(({ lastUserText }) => say(`<${lastUserText}>`));

/** The data in what pi printed. */
function dataIn(stdout: string): unknown {
	const data = /<structured-output>\n(.*)\n<\/structured-output>/s.exec(stdout)?.[1];
	expect(data, stdout).toBeDefined();
	return JSON.parse(data ?? "");
}

describe.each(await gatePis())("pi $version", (pi) => {
	test("a script has schema answers, a failure, a pipeline with overtaking, a budget and a nested workflow", async () => {
		const slow = createGate();
		const body = `
			const options = ${scout}
			const names = await agent("Name them.", { ...options, schema: { type: "array", items: { type: "string" } } })
			const seen = await pipeline(names, (name) => agent("Look at " + name, options), (before, name, index) => agent("Check " + name + index + ": " + before, options))
			const failed = await agent("Please fail.", options)
			return { names, seen, failed, nested: await workflow("inner", { n: 3 }), spent: budget.spent() > 0 }`;
		await using it = await scene(
			[
				parentSays(runs(body), repeats),
				scoutSays(({ lastUserText }) => {
					if (lastUserText.includes("Name them.")) return say('{"value": ["a", "b"]}');
					if (lastUserText === "Look at a") return { ...say("<Look at a>"), gate: slow };
					if (lastUserText.startsWith("Check b")) slow.open(); // the second item is further than the first
					return lastUserText.includes("Please fail.") ? { error: "out of credit" } : say(`<${lastUserText}>`);
				}),
			],
			{
				agentFiles: {
					...offering(),
					"workflows/inner.js": script(`return agent("Inner " + args.n, ${scout})`, "inner"),
				},
			},
		);
		const { stdout, code } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(code).toBe(0);
		expect(dataIn(stdout)).toEqual({
			names: ["a", "b"],
			seen: ["<Check a0: <Look at a>>", "<Check b1: <Look at b>>"],
			failed: null,
			nested: "<Inner 3>",
			spent: true,
		});
	});
});

describe("in pi", () => {
	test("a fan-out keeps its concurrency, and a used-up budget ends it", async () => {
		const items = isFullRun ? 200 : 16;
		const body = `return (await map(Array.from({ length: ${items} }, (_, i) => i), (i) => agent("Item " + i, ${scout}), { concurrency: 8 })).filter(Boolean).length`;
		await using it = await scene([parentSays(runs(body), repeats), echoes], {
			agentFiles: offering({ maxConcurrent: 100 }),
		});
		expect((await runPrint({ env: it.env }, "Please delegate.")).stdout).toContain(`Got: ${items}`);
		const lines = await journal(it.env);
		const atOnce = lines.map((_line, index) => {
			const until = lines.slice(0, index + 1);
			const count = (type: string) => until.filter((line) => line.type === type).length;
			return count("called") - count("answered");
		});
		expect(Math.max(...atOnce)).toBe(8);
		await writeFile(
			join(it.env.agentDir, "subagents.json"),
			offering({ workflows: { budgetTokens: 1 } })["subagents.json"],
		);
		const { stdout } = await runPrint({ env: it.env }, "Please delegate.");
		expect(stdout).toContain("The budget is used up");
	});

	test("the guide comes on demand, a package brings workflows, and the project's count only with trust", async () => {
		const call = (more: Record<string, unknown>) => callTool("workflow", more);
		await using it = await scene(
			[
				parentSays(
					call({}),
					call({ name: "mine", background: false }),
					call({ path: ".pi/workflows/mine.js" }),
					call({ name: "hello", background: false }),
					repeats,
				),
				echoes,
			],
			{
				agentFiles: {
					...offering(),
					"shipped/package.json": JSON.stringify({ name: "shipped", pi: { subagents: { workflows: ["flows"] } } }),
					"shipped/flows/hello.js": script(`return agent("Shipped", ${scout})`, "hello"),
				},
				settings: { packages: ["./shipped"] },
				files: { ".pi/workflows/mine.js": script(`return agent("Mine", ${scout})`, "mine") },
			},
		);
		const untrusted = startRpc({ env: it.env });
		const said = JSON.stringify(await untrusted.prompt("Please delegate."));
		expect(said).toContain("export const meta");
		expect(said).toContain("its workflows are used only if you trust this project");
		expect(said).toContain("There is no workflow");
		expect(said).toContain("its scripts are run only if you trust it");
		expect(said).toContain("<Shipped>");
		await untrusted.close();
		await trust(it.env);
		await using rpc = startRpc({ env: it.env });
		expect(JSON.stringify(await rpc.prompt("Please delegate."))).toContain("<Mine>");
		const list = await command(rpc, "/workflow list");
		expect(list).toMatch(/mine +project +A test of mine/);
		expect(list).toMatch(/hello +package +A test of hello/);
	});

	test("a question reaches the person, a stop ends the agents, and commands show, skip and resume", async () => {
		const gate = createGate();
		const body = `const answer = await ask("Which colour?", { default: "none" })
			return [answer, await agent("First", ${scout}), await agent("Second", ${scout})]`;
		await using it = await scene(
			[
				scoutSays(({ lastUserText }) =>
					lastUserText.includes("First") ? { ...say("too late"), gate } : say(`<${lastUserText}>`),
				),
			],
			{ agentFiles: { ...offering(), "workflows/colours.js": script(body, "colours") } },
		);
		await using rpc = startRpc({ env: it.env });
		const begin = async () => {
			const from = rpc.events.length;
			const id = /as (\S+)\./.exec(await command(rpc, "/workflow run colours"))?.[1] ?? "";
			await rpc.waitFor((event) => JSON.stringify(event).includes("Which colour?"), { from });
			await command(rpc, `/subagent reply ${id} blue`);
			await it.server.nextRequest(({ lastUserText }) => lastUserText.includes("First"));
			return id;
		};
		const first = await begin();
		expect(await command(rpc, `/workflow show ${first}`)).toMatch(/running\n1\/1|0\/1 agents/);
		expect(await command(rpc, `/workflow pause ${first}`)).toContain("launches no more agents");
		expect(await command(rpc, `/workflow skip ${first}`)).toContain("Skipped: First.");
		expect(await command(rpc, `/workflow resume ${first}`)).toContain("continues");
		await expect.poll(async () => (await journal(it.env)).at(-1)?.type).toBe("ended");
		expect((await journal(it.env)).at(-1)).toMatchObject({ value: ["blue", null, "<Second>"] });
	});

	test("headless: pi runs the file that its flag names", async () => {
		await using it = await scene([parentSays(say("x")), echoes], {
			files: { "flow.js": script(`return agent("Headless", ${scout})`) },
		});
		const args = ["--subagents-workflow", "flow.js"];
		expect(await runPrint({ env: it.env, args }, "")).toMatchObject({ stdout: "<Headless>\n", code: 0 });
		await writeFile(join(it.env.cwd, "flow.js"), script(`throw new Error("no luck")`));
		const failed = await runPrint({ env: it.env, args }, "");
		expect(failed).toMatchObject({ stdout: "", stderr: expect.stringContaining("no luck") });
		expect(failed.code).not.toBe(0);
	});

	test("one that was stopped continues where it was, and its finished agents are not asked again", async () => {
		const gate = createGate();
		const body = `return [await agent("First", ${scout}), await agent("Second", ${scout}), await agent("Third", ${scout})]`;
		await using it = await scene(
			[
				scoutSays(({ lastUserText }) =>
					lastUserText.startsWith("Second") ? { ...say("too late"), gate } : say(`<${lastUserText.slice(0, 20)}>`),
				),
			],
			{ agentFiles: { ...offering(), "workflows/three.js": script(body, "three") } },
		);
		await using rpc = startRpc({ env: it.env });
		const id = /as (\S+)\./.exec(await command(rpc, "/workflow run three"))?.[1] ?? "";
		await it.server.nextRequest(({ lastUserText }) => lastUserText.startsWith("Second"));
		expect(await command(rpc, `/workflow stop ${id}`)).toContain("is stopped");
		expect(await command(rpc, "/workflow list")).toMatch(/three +stopped/);
		gate.open();
		expect(await command(rpc, `/workflow resume ${id}`)).toContain("continues");
		await expect.poll(async () => (await journal(it.env)).at(-1)?.type).toBe("ended");
		expect((await journal(it.env)).at(-1)).toMatchObject({ status: "completed" });
		const asked = it.server.requests.map(({ lastUserText }) => lastUserText);
		expect(asked.filter((text) => text === "First")).toHaveLength(1);
		expect(asked.some((text) => text.startsWith("Your work on this task was interrupted."))).toBe(true);
	});

	test("a schedule runs a workflow, from a command and from the tool", async () => {
		await using it = await scene(
			[
				parentSays(
					callTool("workflow", { script: script(`return agent("By the tool", ${scout})`, "kept"), schedule: "+1s" }),
					repeats,
				),
				echoes,
			],
			{
				agentFiles: {
					...offering(),
					"workflows/nightly.js": script(`return agent("Nightly " + args.n, ${scout})`, "nightly"),
				},
			},
		);
		await using rpc = startRpc({ env: it.env });
		expect(await command(rpc, "/workflow run gone --schedule +1s")).toContain('There is no workflow "gone"');
		const added = await command(rpc, '/workflow run nightly {"n": 7} --schedule "+1s; quiet"');
		expect(added).toMatch(/Job \S+ "nightly" is scheduled/);
		await it.server.nextRequest(({ lastUserText }) => lastUserText === "Nightly 7");
		expect(JSON.stringify(await rpc.prompt("Please delegate."))).toContain("is scheduled");
		await it.server.nextRequest(({ lastUserText }) => lastUserText === "By the tool");
		await rpc.waitFor((event) => JSON.stringify(event).includes("<By the tool>"));
		expect(await command(rpc, "/workflow list")).toMatch(/kept \(scheduled\) +done/);
	});

	test("another extension runs a workflow and waits for it", async () => {
		const client = `
			import { connect } from ${JSON.stringify(pathToFileURL(join(root, "packages", "rpc", "dist", "index.js")).href)};
			import { appendFileSync } from "node:fs";
			export default (pi) => pi.on("session_start", async (_event, ctx) => {
				const note = (value) => appendFileSync(ctx.cwd + "/log.jsonl", JSON.stringify(value) + "\\n");
				const subagents = await connect(pi.events);
				const heard = [];
				pi.events.on("subagents:workflow_ended", ({ name, status }) => heard.push(name + " " + status));
				const run = async (request) => {
					try {
						const { status, structured, error } = await subagents.wait((await subagents.workflow(request)).id);
						return { status, data: structured?.data, error };
					} catch (error) { return error.message; }
				};
				note([await run({ script: ${JSON.stringify(script(`return { said: await agent("Over the bus " + args.n, ${scout}) }`))}, args: { n: 1 } }),
					await run({ script: "nonsense" }), await run({ script: ${JSON.stringify(script(`throw new Error("no luck")`, "bad"))} }), heard]);
			});`;
		await using it = await scene([echoes], { files: { "asks.ts": client }, extensions: [extensionDir, "asks.ts"] });
		await using _rpc = startRpc({ env: it.env });
		const [noted] = (await until("the note", async () => {
			const lines = await linesOf(join(it.env.cwd, "log.jsonl")).catch(() => []);
			return lines.length > 0 ? lines : undefined;
		})) as unknown[];
		expect(noted).toEqual([
			{ status: "completed", data: { said: "<Over the bus 1>" } },
			expect.stringContaining("Begin the script with"),
			{ status: "failed", error: expect.stringContaining("no luck") },
			["trial completed", "bad failed"],
		]);
	});

	test("the screen groups agents by phase and counts them, and their files name the phase", async () => {
		const gate = createGate();
		const body = `phase("Look"); await agent("Begin", ${scout}); phase("Review")
			return (await parallel(["fast", "slow", "slow too"].map((name) => () => agent(name, { agentType: "repo-scout", label: name })))).length`;
		await using it = await scene(
			[scoutSays(({ lastUserText }) => (lastUserText.startsWith("slow") ? { ...say("late"), gate } : say("quick")))],
			{ agentFiles: { ...offering(), "workflows/phases.js": script(body, "phases") } },
		);
		await using tui = await startTui({ env: it.env }, { cols: 100, rows: 40 });
		tui.submit("/workflow run phases");
		const shown = await tui.waitFor((lines) => /Review 1\/3.*slow.*slow too/s.test(lines.join("\n")), {}, "The phase");
		const tree = shown.slice(shown.findIndex((line) => line.startsWith("● Agents")));
		const plain = tree.map((line) => line.replace(/[⠀-⣿]/, "⠋").trimEnd());
		expect(plain.find((line) => line.includes("workflow"))).toMatch(/^└─ ⠋ workflow (fake-1 )?phases/);
		expect(plain.find((line) => line.includes("Review 1/3"))).toMatch(/[├└]─ ⠋ Review 1\/3$/);
		expect(plain.filter((line) => /[├└]─ ⠋ repo-scout slow/.test(line))).toHaveLength(2);
		gate.open();
		await expect.poll(async () => (await journal(it.env)).at(-1)?.type).toBe("ended");
		const runs = join(it.env.cwd, ".pi", "subagents", "runs");
		const phases = async () => {
			const metas = await Promise.all(
				(await readdir(runs)).map((name) => readFile(join(runs, name, "meta.json"), "utf8").catch(() => "{}")),
			);
			return metas
				.map((text) => JSON.parse(text).phase)
				.filter(Boolean)
				.sort();
		};
		await expect.poll(phases).toEqual(["Look", "Review", "Review", "Review"]); // written a moment behind
	});
});
