import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { identityOf, isAlive } from "../../../../core/src/signals/identity.ts";
import { processesDir } from "../../../../core/src/signals/run-processes.ts";
import { type Meta, readMeta, readResult, traceOf, traceparentOf } from "../../../../runs/src/index.ts";
import { resultOf, runDir, tempDir } from "../../../../runs/test/fixtures/run-dir.ts";
import { hastyClock } from "../../fixtures/hasty-clock.ts";
import { runSpec, start } from "../../fixtures/process.ts";

/** Begins like every wrapper: says that it is there. `dir` is the run's directory. */
const begin = `
	import { writeFileSync } from "node:fs";
	const dir = process.argv[2];
	const say = (name, value) => writeFileSync(dir + "/" + name, JSON.stringify(value));
	const me = ${JSON.stringify({ type: "started", at: 1, born: null, boot: null })};
	say("wrapper.json", { ...me, pid: process.pid, host: ${JSON.stringify((await identityOf(process.pid)).host)} });`;

const done = JSON.stringify(resultOf({ status: "completed", text: "All done." }));

/** Where run 1 of agent a1 goes. */
async function newRun(): Promise<string> {
	return join(await tempDir(), "runs", "a1");
}

async function launchOf(dir: string): Promise<NonNullable<Meta["launch"]>> {
	const meta = await readMeta(dir);
	if (typeof meta === "string" || !meta.launch) throw new Error(`no launch in ${dir}`);
	return meta.launch;
}

describe("a run that is started", () => {
	test("has a directory that only its user can read, and that says what it is", async () => {
		const dir = await newRun();
		const spec = {
			systemPrompt: { mode: "append", text: "You scout." } as const,
			presetSource: "/presets/scout.md",
			requestedModel: "one",
			limits: { maxTurns: 3 },
		};
		const { run } = await start(dir, `${begin} say("result.json", ${done})`, { spec, parentSessionId: () => "s1" });
		expect(await run.settled).toEqual({ status: "completed", text: "All done." });
		const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
		const files = ["meta.json", "system-prompt.md"];
		expect(await Promise.all([dir, ...files.map((name) => join(dir, name))].map(mode))).toEqual(["700", "600", "600"]);
		const prompt = 'You scout.\n\n<active_agent name="scout"/>';
		expect(await readFile(join(dir, "system-prompt.md"), "utf8")).toBe(prompt);
		const TRACEPARENT = traceparentOf("a1", traceOf("s1", process.env.TRACEPARENT));
		const meta = await readMeta(dir);
		expect(meta).toMatchObject({
			runId: "a1",
			agentId: "a1",
			run: 1,
			parentSessionId: "s1",
			preset: "scout",
			presetSource: "/presets/scout.md",
			task: runSpec.task,
			tools: ["read"],
			systemPrompt: prompt,
			systemPromptPath: join(dir, "system-prompt.md"),
			requestedModel: "one",
			resolvedModel: "fake/one",
			spec: { ...spec, runner: "process" },
			launch: {
				command: "pi",
				env: { PI_SUBAGENTS_CHILD: "1", PI_SUBAGENTS_RUN_DIR: dir, PI_SUBAGENT_PARENT_SESSION: "s1", TRACEPARENT },
				showsProgress: false,
			},
		});
	});

	test("starts the wrapper in the run's directory of work, with the environment it was given", async () => {
		const dir = await newRun();
		const script = `${begin}
			say("seen.json", { args: process.argv.slice(2), cwd: process.cwd(), hello: process.env.HELLO, path: process.env.PATH });
			say("result.json", ${done})`;
		const { run } = await start(dir, script, { env: { HELLO: "world" } });
		await run.settled;
		const { cwd } = (await readMeta(dir)) as Meta;
		const seen = JSON.parse(await readFile(join(dir, "seen.json"), "utf8"));
		expect(seen).toEqual({ args: [dir], cwd, hello: "world" });
	});

	test("has a temporary directory where no files are kept, which goes away with it", async () => {
		const script = `${begin} say("result.json", { ...${done}, outcome: { status: "completed", text: dir } })`;
		const { run } = await start("", script, { spec: { artifacts: undefined } as object });
		const outcome = await run.settled;
		const dir = outcome.status === "completed" ? outcome.text : "";
		expect(dirname(dir)).toBe(tmpdir());
		await expect(stat(dir)).rejects.toThrow("ENOENT");
	});

	test("tells its result on the wrapper's output when no file could hold it, and then a file does", async () => {
		const dir = await newRun();
		const { run } = await start(dir, `${begin} process.stdout.write("noise\\n" + JSON.stringify(${done}) + "\\n")`);
		expect(await run.settled).toEqual({ status: "completed", text: "All done." });
		expect(await readResult(dir)).toEqual({ ...JSON.parse(done), finalText: "All done." });
	});

	test.each([
		["ends without a result", `${begin} process.exit(3)`, "it ended with exit code 3"],
		["ends before it said anything", "process.exit(4)", "it ended with exit code 4"],
		["is killed", `${begin} process.kill(process.pid, "SIGKILL")`, "it was killed by SIGKILL"],
	])("is lost when its wrapper %s", async (_how, script, reason) => {
		const dir = await newRun();
		const { run } = await start(dir, script);
		expect(await run.settled).toEqual({ status: "aborted", by: "lost", reason });
		expect(await readResult(dir)).toMatchObject({ writtenBy: "watcher", outcome: { by: "lost", reason } });
	});

	test("that cannot load its wrapper says why", async () => {
		const { run } = await start(join(await tempDir(), "a1"), 'import "./nowhere.js";');
		expect(await run.settled).toEqual({
			status: "aborted",
			by: "lost",
			reason: expect.stringMatching(/^it ended with exit code 1: Error \[ERR_MODULE_NOT_FOUND\]: Cannot find module/),
		});
	});

	test("keeps its sign of life open until it has settled", async () => {
		const dir = await newRun();
		const script = `${begin}
			import { existsSync } from "node:fs";
			let finalText = "held";
			process.stdin.on("end", () => { finalText = "let go"; }).resume();
			const look = () => {
				if (!existsSync(dir + "/go")) return setTimeout(look, 10);
				say("result.json", { ...${done}, finalText });
				process.exit();
			};
			look();`;
		const { run } = await start(dir, script);
		await expect.poll(() => readdir(dir).catch(() => [])).toContain("wrapper.json");
		await writeFile(join(dir, "go"), "");
		await run.settled;
		expect(await readResult(dir)).toMatchObject({ finalText: "held" });
	});

	test("can be let go of while it is being started; it starts all the same", async () => {
		const dir = await newRun();
		const agentDir = await tempDir();
		const { run } = await start(dir, `${begin} say("result.json", ${done})`, { agentDir });
		run.detach?.();
		await expect.poll(() => readResult(dir)).toMatchObject({ runId: "a1" });
		const owners = () => readdir(processesDir({ agentDir, runDir: dir })).catch(() => []);
		await expect.poll(owners).toContain("owner-2.json");
	});
});

describe("a run that cannot be", () => {
	const never = `${begin} say("spawned", true); say("result.json", ${done})`;

	test("is stopped before its wrapper is there: none is started", async () => {
		const dir = await newRun();
		const { run, events } = await start(dir, never);
		run.abort({ by: "parent", reason: "not needed" });
		const outcome = { status: "aborted", by: "parent", reason: "not needed" };
		expect(await run.settled).toEqual(outcome);
		expect(await readdir(dir)).not.toContain("spawned");
		expect(await readResult(dir)).toMatchObject({ outcome });
		expect(events).toEqual([]);
	});

	test("fails when its directory belongs to another run, which stays as it is", async () => {
		const { path } = await runDir();
		const { run } = await start(path, never);
		expect(await run.settled).toMatchObject({ status: "failed", error: expect.stringContaining("already holds") });
		expect(await readdir(path)).toEqual([]);
	});

	test("fails when there can be no directory", async () => {
		const file = join(await tempDir(), "file");
		await writeFile(file, "");
		const { run } = await start(join(file, "a1"), never);
		run.steer("are you there?");
		expect(await run.settled).toMatchObject({ status: "failed" });
	});

	test("fails when its directory of work is gone", async () => {
		const dir = await newRun();
		const { run } = await start(dir, never, { spec: { cwd: join(dir, "gone") } });
		expect(await run.settled).toMatchObject({ status: "failed", error: expect.stringContaining("ENOENT") });
		expect(await readResult(dir)).toMatchObject({ outcome: { status: "failed" } });
	});

	test("fails when its preset names an extension or a skill that is not there", async () => {
		const [one, other] = [await newRun(), await newRun()];
		const skill = await start(one, never, { spec: { skills: ["juggling"] } });
		expect(await skill.run.settled).toMatchObject({ status: "failed", error: expect.stringContaining('"juggling"') });
		const extension = await start(other, never, { spec: { extensions: ["git"] } });
		expect(await extension.run.settled).toMatchObject({ status: "failed", error: expect.stringContaining('"git"') });
	});

	test("fails when only an extension knows its model's provider, unless the child loads extensions", async () => {
		const [other, dir] = [await newRun(), await newRun()];
		const extensionOfModel = (model: string) => (model === "fake/one" ? ("user" as const) : undefined);
		const without = await start(other, never, { extensionOfModel });
		expect(await without.run.settled).toMatchObject({
			status: "failed",
			error: expect.stringContaining("Model fake/one comes from an extension"),
		});
		const { run } = await start(dir, never, { extensionOfModel, spec: { extensions: true } });
		expect(await run.settled).toMatchObject({ status: "completed" });
	});
});

describe("what a child loads of the user's", () => {
	async function home(files: Record<string, string>): Promise<string> {
		const dir = await tempDir();
		for (const [name, content] of Object.entries(files)) {
			await mkdir(dirname(join(dir, name)), { recursive: true });
			await writeFile(join(dir, name), content);
		}
		return dir;
	}
	const skill = (name: string) => `---\nname: ${name}\ndescription: does ${name}\n---\nDo it.\n`;
	const noop = "export default () => undefined;\n";

	test("are the extensions and skills it names, by their paths", async () => {
		const agentDir = await home({
			"extensions/git.ts": noop,
			"extensions/other.ts": noop,
			"skills/juggling/SKILL.md": skill("juggling"),
			"skills/cooking/SKILL.md": skill("cooking"),
			"APPEND_SYSTEM.md": "Be brief.",
		});
		const dir = await newRun();
		const spec = { extensions: ["git"], skills: ["juggling"] };
		await (await start(dir, `${begin} say("result.json", ${done})`, { agentDir, spec })).run.settled;
		const { args } = await launchOf(dir);
		expect(args).toContain(join(agentDir, "extensions", "git.ts"));
		expect(args).not.toContain(join(agentDir, "extensions", "other.ts"));
		expect(args).toContain(join(agentDir, "skills", "juggling", "SKILL.md"));
		expect(args).not.toContain(join(agentDir, "skills", "cooking", "SKILL.md"));
		expect(args).toContain(join(agentDir, "APPEND_SYSTEM.md"));
	});

	test("are all extensions but our own, when it wants all", async () => {
		const agentDir = await home({
			"extensions/git.ts": noop,
			"extensions/ours/package.json": JSON.stringify({ name: "@pi-subagents/extension" }),
			"extensions/ours/index.ts": noop,
			"extensions/host.ts": noop,
		});
		const dir = await newRun();
		const given = {
			agentDir,
			isOwnExtension: (path: string) => path.endsWith("host.ts"),
			spec: { extensions: true },
		};
		await (await start(dir, `${begin} say("result.json", ${done})`, given)).run.settled;
		const { args } = await launchOf(dir);
		expect(args.filter((arg) => arg.startsWith(agentDir))).toEqual([join(agentDir, "extensions", "git.ts")]);
	});

	test("comes from the project only when that is trusted", async () => {
		const cwd = await home({ ".pi/APPEND_SYSTEM.md": "Project.", ".pi/extensions/local.ts": noop });
		const script = `${begin} say("result.json", ${done})`;
		const argsWhen = async (isTrusted: boolean) => {
			const dir = await newRun();
			const spec = { cwd, extensions: true };
			await (await start(dir, script, { spec, isProjectTrusted: () => isTrusted })).run.settled;
			return (await launchOf(dir)).args.filter((arg) => arg.startsWith(cwd) || arg.endsWith("approve"));
		};
		expect(await argsWhen(false)).toEqual(["--no-approve"]);
		expect(await argsWhen(true)).toEqual([
			join(cwd, ".pi/extensions/local.ts"),
			"--approve",
			join(cwd, ".pi/APPEND_SYSTEM.md"),
		]);
	});
});

describe("a later run of an agent", () => {
	const script = `${begin} say("result.json", { ...${done}, runId: "a1-3", run: 3 })`;
	const third = { agentId: "a1", run: 3 };
	const header = { type: "session", version: 3, id: "s", cwd: "/elsewhere" };
	const entry = { type: "message", id: "1", text: "hello" };

	async function runsWith(...conversations: (string | undefined)[]): Promise<string> {
		const runs = await tempDir();
		for (const [index, conversation] of conversations.entries()) {
			const dir = join(runs, index === 0 ? "a1" : `a1-${index + 1}`);
			await mkdir(dir);
			if (conversation !== undefined) await writeFile(join(dir, "child-session.jsonl"), conversation);
		}
		return join(runs, "a1-3");
	}
	const lines = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");

	test("goes on with a copy of the conversation before it, in its own directory of work", async () => {
		const dir = await runsWith(lines(header), `${lines(header, entry)}{"type":"cut o`);
		const { run } = await start(dir, script, { spec: third });
		expect(await run.settled).toMatchObject({ status: "completed" });
		const { cwd } = (await readMeta(dir)) as Meta;
		expect(await readFile(join(dir, "child-session.jsonl"), "utf8")).toBe(lines({ ...header, cwd }, entry));
	});

	test("goes back to the last run that had one", async () => {
		const dir = await runsWith(lines(header, entry), undefined);
		await (await start(dir, script, { spec: third })).run.settled;
		expect(await readFile(join(dir, "child-session.jsonl"), "utf8")).toContain("hello");
	});

	test("begins anew when none before it had said anything", async () => {
		const dir = await runsWith(undefined, undefined);
		const { run } = await start(dir, script, { spec: third });
		expect(await run.settled).toMatchObject({ status: "completed" });
		expect(await readdir(dir)).not.toContain("child-session.jsonl");
	});

	test.each([
		["is gone", []],
		["cannot be read", [lines(header, entry), "not a conversation"]],
	])("fails when what it should go on with %s", async (_why, conversations) => {
		const dir = await runsWith(...conversations);
		const { run } = await start(dir, script, { spec: third });
		const error = expect.stringContaining("Agent a1 cannot be resumed: its conversation is gone");
		expect(await run.settled).toMatchObject({ status: "failed", error });
	});
});

test("a wrapper that ignores everything is killed after a stop", async () => {
	const dir = await newRun();
	const script = `${begin}
		process.on("SIGTERM", () => {});
		say("pid", process.pid);
		setInterval(() => {}, 1e6)`;
	const { run, reports } = await start(dir, script, { clock: hastyClock });
	await expect.poll(() => readdir(dir).catch(() => [])).toContain("pid");
	run.abort({ by: "user" });
	expect(await run.settled).toEqual({ status: "aborted", by: "user" });
	const pid = Number(await readFile(join(dir, "pid"), "utf8"));
	expect(await isAlive({ ...(await identityOf(pid)), born: null })).toBe(false);
	expect(reports).toEqual(["Agent a1 did not stop in 5 s and was killed."]);
});
