import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { callTool, callTools, gatePis, httpError, isFullRun, otherwise, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { RUN_FILES } from "../../../../runs/src/format/layout.ts";
import { hasWorked, piWorld, processesOf, worksThenSays } from "./pi-fixture.ts";

describe.each(await gatePis())("pi $version", (pi) => {
	test("runs a task, keeps its conversation, and changes nobody's settings", async () => {
		await using world = await piWorld(pi, worksThenSays("All done."));
		const before = await readFile(join(world.env.agentDir, "settings.json"), "utf8");
		await world.tell({ type: "steer", message: "mind the tests" });
		const { result, stderr } = await world.run();
		expect(stderr).toBe("");
		expect(result).toMatchObject({
			outcome: { status: "completed", text: "All done." },
			resolvedModel: "fake/fake-1",
			turns: 2,
			toolUses: 1,
			exitCode: 0,
		});
		const { requests } = world.server;
		expect(requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
			["ls", "ask_main_session"],
			["ls", "ask_main_session"],
		]);
		expect(requests[0]?.messages.map(({ text }) => text)).toEqual(["Look around and report.", "mind the tests"]);
		expect(requests[0]?.headers).not.toHaveProperty("x-initiator");
		expect(await world.read("transcript.log")).toBe("Listing .\nFinished listing .\nAll done.\n");
		expect((await world.events()).at(-2)).toMatchObject({ type: "idle" });
		expect(await world.saw("turn")).toMatchObject({ contextPercent: expect.any(Number) });
		expect(await world.read(RUN_FILES.session)).toContain("All done.");
		expect(await readFile(join(world.env.agentDir, "settings.json"), "utf8")).toBe(before);
		expect(await processesOf(world.runDir)).toEqual([]);
	});

	if (isFullRun)
		test("whose conversation cannot be compacted first says so, and does its task", async () => {
			await using world = await piWorld(pi, worksThenSays("All done."), { spec: { compactsFirst: true } });
			const { result } = await world.run();
			expect(result?.outcome).toEqual({ status: "completed", text: "All done." });
			expect(await world.saw("compacted")).toMatchObject({ ok: false });
			expect((await world.saw("notice")).text).toMatch(/^The earlier conversation could not be compacted \(Nothing to/);
		});

	test("has failed when another extension takes the task for itself", async () => {
		const extension = 'export default (pi) => pi.on("input", () => ({ action: "handled" }));';
		const preload = new URL("hasty-looks.cjs", import.meta.url);
		await using world = await piWorld(pi, worksThenSays("All done."), { extension, preload });
		const { result } = await world.run();
		expect(result?.outcome).toEqual({ status: "failed", error: expect.stringMatching(/^An extension took the task/) });
		expect(world.server.requests).toEqual([]);
	});

	test("asks whoever watches and goes on with the answer", async () => {
		const question = { question: "Which one?", context: "There are two.", default_answer: "the first", timeout: 600 };
		await using world = await piWorld(pi, (request) =>
			hasWorked(request) ? say(request.lastToolResults[0]?.text ?? "") : callTool("ask_main_session", question),
		);
		await world.watch();
		const { ended } = world.start();
		const asked = await world.saw("question");
		expect(asked).toMatchObject({
			question: "Which one?",
			context: "There are two.",
			defaultAnswer: "the first",
			timeoutMs: 600_000,
		});
		await world.tell({ type: "answer", id: asked.id, answer: { by: "user", text: "the second" } });
		const { id } = await world.saw("checkpoint");
		await world.tell({ type: "pass", id, word: "go" });
		expect((await ended).result?.outcome).toEqual({
			status: "completed",
			text: "Answer from the user: the second",
		});
		expect(await processesOf(world.runDir)).toEqual([]);
	});

	test("takes the tools away when it is to wrap up", async () => {
		await using world = await piWorld(pi, ({ tools }) => (tools.length === 0 ? say("So far.") : callTool("ls")));
		await world.watch();
		const { ended } = world.start();
		const { id } = await world.saw("checkpoint");
		await world.tell({ type: "wrap_up", reason: "the user is in a hurry" }, { type: "pass", id, word: "go" });
		expect((await ended).result?.outcome).toEqual({ status: "completed", text: "So far.", wrappedUp: true });
		expect(world.server.requests[1]?.lastUserText).toMatch(/^Finish now: the user is in a hurry\./);
	});

	if (isFullRun)
		test("has no tools from the beginning when it is to wrap up before that", async () => {
			await using world = await piWorld(pi, ({ tools }) => (tools.length === 0 ? say("Nothing.") : callTool("ls")));
			await world.tell({ type: "wrap_up" });
			expect((await world.run()).result?.outcome).toEqual({ status: "completed", text: "Nothing.", wrappedUp: true });
			expect(world.server.requests).toHaveLength(1);
		});

	test("ends at its turn limit and the grace after it", async () => {
		const limits = { maxTurns: 1, graceTurns: 2 };
		await using world = await piWorld(pi, otherwise(callTool("ls")), { spec: { limits } });
		expect((await world.run()).result).toMatchObject({
			outcome: { status: "aborted", by: "turns", reason: "no answer after 3 turns" },
			turns: 3,
		});
		expect(world.server.requests).toHaveLength(3);
		expect(await processesOf(world.runDir)).toEqual([]);
	});

	test("asks its model nothing more when the checkpoint says end", async () => {
		await using world = await piWorld(pi, worksThenSays("Never said."));
		await world.watch();
		await world.tell({ type: "steer", message: "and then the docs" });
		const { ended } = world.start();
		const { id } = await world.saw("checkpoint");
		await world.tell({ type: "pass", id, word: "end" });
		expect((await ended).result?.outcome).toEqual({
			status: "failed",
			error: "The agent ended while it was still using tools.",
		});
		expect(world.server.requests).toHaveLength(1);
		expect(await processesOf(world.runDir)).toEqual([]);
	});

	test("asks before a failed request is made again", async () => {
		const settings = { retry: { enabled: true, maxRetries: 3, baseDelayMs: 1 } };
		await using world = await piWorld(pi, otherwise(httpError(503, "overloaded")), { bench: { settings } });
		await world.watch();
		const { ended } = world.start();
		const { id } = await world.saw("checkpoint");
		await world.tell({ type: "pass", id, word: "end" });
		const { result } = await ended;
		expect(result).toMatchObject({
			outcome: { status: "failed", error: expect.stringContaining("overloaded") },
			turns: 1,
		});
		expect(world.server.requests).toHaveLength(1);
	});

	if (isFullRun)
		test("counts as an agent with GitHub Copilot", async () => {
			await using world = await piWorld(pi, worksThenSays("All done."), { spec: { model: "github-copilot/fake-1" } });
			const path = join(world.env.agentDir, "models.json");
			const models = JSON.parse(await readFile(path, "utf8"));
			await writeFile(path, JSON.stringify({ providers: { "github-copilot": models.providers.fake } }));
			expect((await world.run()).result?.outcome).toEqual({ status: "completed", text: "All done." });
			expect(world.server.requests.map(({ headers }) => headers["x-initiator"])).toEqual(["agent", "agent"]);
		});

	test("cannot write into the files of its own run, and can beside them", async () => {
		let runDir = "";
		await using world = await piWorld(
			pi,
			(request) =>
				hasWorked(request)
					? say("Tried.")
					: callTools(
							callTool("edit", { path: join(runDir, "control.jsonl"), edits: [{ oldText: "a", newText: "b" }] }),
							...[
								join(runDir, "a"),
								`@${runDir}/b`,
								pathToFileURL(join(runDir, "c")).href,
								"link/d",
								"~/link/e",
								"dangling",
							].map((path) => callTool("write", { path, content: "{}" })),
							callTool("write", { path: "note.txt", content: "milk" }),
						),
			{ spec: { tools: ["write", "edit"] } },
		);
		({ runDir } = world);
		for (const dir of [world.env.cwd, world.env.home]) await symlink(runDir, join(dir, "link"));
		await symlink(join(runDir, "f"), join(world.env.cwd, "dangling"));
		expect((await world.run()).result?.outcome).toEqual({ status: "completed", text: "Tried." });
		expect(world.server.requests[1]?.lastToolResults.map(({ text }) => text)).toEqual([
			...Array(7).fill(expect.stringContaining("which only pi-subagents may change")),
			expect.stringContaining("Successfully wrote"),
		]);
		expect(await readFile(join(world.env.cwd, "note.txt"), "utf8")).toBe("milk");
	});

	test("cannot write into a git directory, also without a worktree", async () => {
		const paths = [".git/config", "lib/.GIT/hooks/post-checkout"];
		await using world = await piWorld(
			pi,
			(request) =>
				hasWorked(request)
					? say("Tried.")
					: callTools(...paths.map((path) => callTool("write", { path, content: "x" }))),
			{ spec: { tools: ["write"] } },
		);
		expect((await world.run()).result?.outcome).toEqual({ status: "completed", text: "Tried." });
		expect(world.server.requests[1]?.lastToolResults.map(({ text }) => text)).toEqual(
			paths.map((path) => expect.stringContaining(`${path} is in a git directory`)),
		);
	});

	describe.runIf(process.platform === "linux")("with a command that does not end", () => {
		const sleeps = otherwise(callTool("bash", { command: "sleep 600" }));
		const spec = { tools: ["bash"] };

		test("ends it when it is stopped", async () => {
			await using world = await piWorld(pi, sleeps, { spec });
			const { ended } = world.start();
			await world.saw("tool_call");
			await world.tell({ type: "abort", stop: { by: "user" } });
			expect((await ended).result?.outcome).toEqual({ status: "aborted", by: "user" });
			expect(await processesOf(world.runDir)).toEqual([]);
		});

		test("has it ended for it when it is killed", async () => {
			await using world = await piWorld(pi, sleeps, { spec });
			const { ended } = world.start();
			const { pid } = await world.saw("child_started");
			await world.saw("tool_call");
			await expect.poll(() => processesOf(world.runDir).then(({ length }) => length)).toBeGreaterThan(1);
			process.kill(pid, "SIGKILL");
			expect((await ended).result?.outcome).toMatchObject({ status: "failed" });
			// Who is killed may be seen for a moment more.
			await expect.poll(() => processesOf(world.runDir)).toEqual([]);
		});

		test("ends with it when its wrapper is killed", async () => {
			await using world = await piWorld(pi, sleeps, { spec });
			const { ended, process: wrapper } = world.start();
			await world.saw("tool_call");
			wrapper.kill("SIGKILL");
			await ended;
			await expect.poll(() => processesOf(world.runDir)).toEqual([]);
		});
	});
});
