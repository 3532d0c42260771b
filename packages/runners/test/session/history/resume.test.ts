import { rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineTool } from "@earendil-works/pi-coding-agent";
import {
	callTool,
	createGate,
	fail,
	hang,
	onTurn,
	otherwise,
	type RequestView,
	type Rule,
	say,
	when,
} from "@pi-subagents-dev/testkit";
import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../../core/src/index.ts";
import { conversationOf, conversationsWritten, sessionRunner } from "../../../src/session/index.ts";
import { type SessionWorld, sessionWorld, type WorldOptions } from "../../fixtures/session.ts";

const echo: Rule = (request) => say(`Re: ${request.lastUserText}`);

/** A world whose conversations are kept, and what was reported in it. */
async function keptWorld(
	script: Rule | Rule[] = echo,
	options?: WorldOptions,
): Promise<SessionWorld & { sessionDir: string; reports: string[] }> {
	const world = await sessionWorld(script, options);
	const reports: string[] = [];
	const sessionDir = join(world.dir, "state", "sessions");
	return {
		...world,
		sessionDir,
		reports,
		host: { ...world.host, sessionDir: () => sessionDir, report: (message) => void reports.push(message) },
	};
}

function run(world: SessionWorld, run: number, change: Partial<SessionWorld["spec"]> = {}): Promise<Outcome> {
	return sessionRunner(world.host).start({ ...world.spec, run, ...change }, () => undefined).settled;
}

function said(world: SessionWorld): string[] {
	return (world.model.requests.at(-1)?.messages ?? []).map(({ role, text }) => `${role}: ${text}`);
}

describe("an agent whose conversation is kept", () => {
	test("goes on with it in its next run, also with another runner, and a third time", async () => {
		await using world = await keptWorld();
		await run(world, 1, { task: "First." });
		expect(await run(world, 2, { task: "Second." })).toEqual({ status: "completed", text: "Re: Second." });
		await run(world, 3, { task: "Third." });
		expect(said(world)).toEqual([
			"user: First.",
			"assistant: Re: First.",
			"user: Second.",
			"assistant: Re: Second.",
			"user: Third.",
		]);
		expect(await readdir(join(world.sessionDir, "a1"))).toHaveLength(1);
	});

	test("is kept where the host says at that time, and in memory if it says nothing", async () => {
		await using world = await keptWorld();
		let sessionDir: string | undefined;
		world.host.sessionDir = () => sessionDir;
		await run(world, 1);
		sessionDir = world.sessionDir;
		await run(world, 1, { agentId: "b2" });
		await conversationsWritten();
		expect(await readdir(world.sessionDir)).toEqual(["b2"]);
	});

	test("has its task in it before anything is answered", async () => {
		await using world = await keptWorld(otherwise(say("never", { gate: createGate() })));
		const first = sessionRunner(world.host).start({ ...world.spec, task: "First." }, () => undefined);
		await world.model.nextRequest();
		await conversationsWritten(join(world.sessionDir, "a1"));
		const [file = ""] = await readdir(join(world.sessionDir, "a1"));
		expect(await readFile(join(world.sessionDir, "a1", file), "utf8")).toContain("First.");
		first.abort({ by: "user" });
		await first.settled;
	});

	test("has its own directory, which nobody else may read", async () => {
		await using world = await keptWorld();
		await run(world, 1);
		await run(world, 1, { agentId: "b2" });
		await conversationsWritten();
		expect((await readdir(world.sessionDir)).sort()).toEqual(["a1", "b2"]);
		expect((await stat(join(world.sessionDir, "a1"))).mode & 0o777).toBe(0o700);
	});

	test("can be resumed after it was stopped in the middle of its work", async () => {
		const never = createGate();
		await using world = await keptWorld([
			when((request) => request.lastUserText === "Go on." && request.turn === 1, say("Went on.")),
			when(onTurn(1), callTool("ls", { path: "." })),
			otherwise(say("never", { gate: never })),
		]);
		const first = sessionRunner(world.host).start(world.spec, () => undefined);
		await world.model.nextRequest(({ turn }) => turn === 2);
		first.abort({ by: "user" });
		await first.settled;
		expect(await run(world, 2, { task: "Go on." })).toEqual({ status: "completed", text: "Went on." });
		expect(said(world)[0]).toBe(`user: ${world.spec.task}`);
	});

	test("has its tools again after a run that was wrapped up", async () => {
		await using world = await keptWorld();
		const first = sessionRunner(world.host).start(world.spec, () => undefined);
		first.wrapUp();
		await first.settled;
		await run(world, 2);
		expect(world.model.requests.map(({ tools }) => tools.length)).toEqual([0, 2]);
	});

	test("that is stopped at any moment of being resumed asks nothing more, not even for a summary", async () => {
		await using world = await keptWorld(
			({ number }) => (number === 1 ? say("A lot.", { usage: { input: 19_900, output: 10 } }) : hang()),
			{
				settings: { compaction: { enabled: true, reserveTokens: 1_000, keepRecentTokens: 1 } },
				model: { models: [{ id: "small", contextWindow: 20_000 }] },
			},
		);
		const first = sessionRunner(world.host).start(
			world.spec,
			({ type }) => type === "usage" && first.abort({ by: "user" }),
		);
		await first.settled;
		const { modelRuntime } = world.model;
		const stream = modelRuntime.streamSimple.bind(modelRuntime);
		let asked = 0; // where pi hands a request over: on its way from there, a stop ends it
		modelRuntime.streamSimple = (...request) => {
			asked++;
			return stream(...request);
		};
		const seen = new Set<string>();
		for (let ticks = 0; ticks < 60; ticks++) {
			let askedAtStop = -1;
			const events = {
				async emit(channel: string) {
					if (!channel.endsWith("created")) return;
					for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
					askedAtStop = asked;
					second.abort({ by: "user" });
				},
			};
			const spec = { ...world.spec, run: 2 };
			const second = sessionRunner({ ...world.host, events }).start(spec, ({ type }) => void seen.add(type));
			expect(await second.settled).toEqual({ status: "aborted", by: "user" });
			expect(asked).toBe(askedAtStop);
		}
		expect(seen).toContain("compacting"); // or the stops came too early to show anything
	});

	test("starts afresh if it was stopped before anything was answered", async () => {
		await using world = await keptWorld([
			when((request) => request.number === 1, say("never", { gate: createGate() })),
			echo,
		]);
		const first = sessionRunner(world.host).start(world.spec, () => undefined);
		await world.model.nextRequest();
		first.abort({ by: "user" });
		await first.settled;
		expect(await run(world, 2, { task: "Again." })).toEqual({ status: "completed", text: "Re: Again." });
	});

	test("answers with a model, a prompt and tools that are those of its new run", async () => {
		await using world = await keptWorld();
		await run(world, 1, { systemPrompt: { mode: "append", text: "You are a scout." } });
		await run(world, 2, { systemPrompt: { mode: "append", text: "You are a judge." }, tools: ["read"] });
		const last = world.model.requests.at(-1);
		expect(last?.systemPrompt).toContain("You are a judge.");
		expect(last?.systemPrompt).not.toContain("You are a scout.");
		expect(last?.tools.map(({ name }) => name)).toEqual(["read"]);
	});
});

describe("a conversation that is shared", () => {
	test("is the same file, so what is said later is in it, too", async () => {
		await using world = await keptWorld();
		const path = join(world.dir, "child-session.jsonl");
		await run(world, 1, { task: "First." });
		await conversationOf(world.host)("a1")(path);
		await run(world, 2, { task: "Second." });
		await conversationsWritten();
		expect(await readFile(path, "utf8")).toContain("Re: Second.");
		await expect(conversationOf(world.host)("a1")(path)).rejects.toThrow("EEXIST");
	});

	test.runIf(process.platform === "linux")("with another disk is copied to it", async () => {
		await using world = await keptWorld();
		await run(world, 1, { task: "First." });
		const disk = await mkdtemp("/dev/shm/pi-subagents-");
		try {
			await conversationOf(world.host)("a1")(join(disk, "copy.jsonl"));
			expect(await readFile(join(disk, "copy.jsonl"), "utf8")).toContain("Re: First.");
		} finally {
			await rm(disk, { recursive: true });
		}
	});

	test("before there is one is nothing", async () => {
		await using world = await keptWorld();
		const path = join(world.dir, "child-session.jsonl");
		await conversationOf(world.host)("a1")(path);
		await mkdir(join(world.sessionDir, "b2"), { recursive: true });
		await conversationOf(world.host)("b2")(path);
		await conversationOf({})("a1")(path);
		await expect(stat(path)).rejects.toThrow("ENOENT");
	});

	test("is the one of the session that was open at the launch", async () => {
		await using world = await keptWorld();
		let sessionDir: string | undefined = world.sessionDir;
		const share = conversationOf({ sessionDir: () => sessionDir })("a1");
		await run(world, 1);
		sessionDir = undefined;
		await share(join(world.dir, "child-session.jsonl"));
		expect((await stat(join(world.dir, "child-session.jsonl"))).size).toBeGreaterThan(0);
	});
});

describe("a conversation that is gone", () => {
	const GONE = {
		status: "failed",
		error:
			"Agent a1 cannot be resumed: its conversation is gone. Launch a new agent and tell it what it needs to know.",
	};

	test("cannot be resumed, and says so, when nothing is kept", async () => {
		await using world = await sessionWorld(echo);
		await run(world, 1);
		expect(await run(world, 2)).toEqual(GONE);
		expect(world.model.requests).toHaveLength(1);
	});

	test("cannot be resumed, and says so, when its directory is not there", async () => {
		await using world = await keptWorld();
		expect(await run(world, 2)).toEqual(GONE);
	});

	test("cannot be resumed when its file is no conversation", async () => {
		await using world = await keptWorld();
		await mkdir(join(world.sessionDir, "a1"), { recursive: true });
		await writeFile(join(world.sessionDir, "a1", "2026.jsonl"), "not ours\n");
		expect(await run(world, 2)).toMatchObject({ status: "failed", error: expect.stringContaining("not a valid") });
	});
});

describe("what cannot be kept", () => {
	test("does not keep the agent from working, and what is lost is reported", async () => {
		await using world = await keptWorld();
		await mkdir(join(world.dir, "state"));
		await writeFile(world.sessionDir, "a file in its place");
		expect(await run(world, 1)).toMatchObject({ status: "completed" });
		await conversationsWritten();
		expect(world.reports).toEqual([
			expect.stringMatching(/^The conversation of agent a1 is not saved, so it cannot be/),
		]);
	});

	test("at its beginning is reported once, and its next run does not begin without it", async () => {
		await using world = await keptWorld([when(onTurn(1), callTool("ls", { path: "." })), echo]);
		await mkdir(join(world.sessionDir, "a1"), { recursive: true });
		const path = join(world.sessionDir, "a1");
		world.host.childTools = () => {
			rmSync(path, { recursive: true }); // before its first word
			writeFileSync(path, "a file in its place");
			return [];
		};
		expect(await run(world, 1)).toMatchObject({ status: "completed" });
		await conversationsWritten();
		expect(world.reports).toEqual([
			expect.stringMatching(/^The conversation of agent a1 is not saved.*(ENOTDIR|EEXIST)/),
		]);
		expect(await run(world, 2)).toMatchObject({ status: "failed" });
	});

	test("in the middle of a run is lost from there on, once reported", async () => {
		await using world = await keptWorld([
			when(onTurn(1), callTool("ls", { path: "." })),
			when(onTurn(2), callTool("vandal")),
			echo,
		]);
		const vandal = defineTool({
			name: "vandal",
			label: "vandal",
			description: "Takes the directory away.",
			parameters: Type.Object({}),
			execute: async () => {
				await conversationsWritten();
				await rm(world.sessionDir, { recursive: true });
				return { content: [{ type: "text", text: "gone" }], details: {} };
			},
		});
		world.host.childTools = () => [vandal];
		expect(await run(world, 1)).toMatchObject({ status: "completed" });
		await conversationsWritten();
		expect(world.reports).toEqual([expect.stringMatching(/^The rest of agent a1's conversation is not saved: ENOENT/)]);
	});

	test.each(["..", ".", "../a1", "a/b", "a\\b", "", ".hidden", "x".repeat(129), "a\n"])(
		"an agent called %j has no directory and does not run",
		async (agentId) => {
			await using world = await keptWorld();
			expect(await run(world, 1, { agentId })).toMatchObject({ status: "failed" });
			expect(world.model.requests).toHaveLength(0);
		},
	);
});

describe("a run whose conversation is compacted first", () => {
	const settings = { compaction: { enabled: true, reserveTokens: 1_000, keepRecentTokens: 1 } };
	const isSummary = ({ systemPrompt }: RequestView) => systemPrompt.includes("summarization");

	test("sends a summary in place of what was said, and says that it compacts", async () => {
		await using world = await keptWorld([when(isSummary, say("They said things.")), echo], { settings });
		await run(world, 1, { task: "First." });
		await run(world, 2, { task: "Second." });
		const events: string[] = [];
		const { settled } = sessionRunner(world.host).start(
			{ ...world.spec, run: 3, task: "Third.", compactsFirst: true },
			({ type }) => void events.push(type),
		);
		expect(await settled).toEqual({ status: "completed", text: "Re: Third." });
		expect(events.slice(0, 2)).toEqual(["compacting", "compacted"]);
		expect(said(world).join()).toContain("They said things.");
		expect(said(world).join()).not.toContain("First.");
		expect(world.reports).toEqual([]);
	});

	test("continues with all of it if that fails, and says why", async () => {
		await using world = await keptWorld([when(isSummary, fail("out of credit")), echo], { settings });
		await run(world, 1, { task: "First." });
		await run(world, 2, { task: "Second." });
		expect(await run(world, 3, { task: "Third.", compactsFirst: true })).toEqual({
			status: "completed",
			text: "Re: Third.",
		});
		expect(said(world)[0]).toBe("user: First.");
		expect(world.reports).toEqual([
			expect.stringMatching(
				/^Agent a1: The earlier conversation could not be compacted \(.*out of credit.*\)\. The agent continues/,
			),
		]);
	});

	test("can be stopped while it compacts", async () => {
		await using world = await keptWorld([when(isSummary, hang()), echo], { settings });
		await run(world, 1, { task: "First." });
		await run(world, 2, { task: "Second." });
		const third = sessionRunner(world.host).start(
			{ ...world.spec, run: 3, task: "Third.", compactsFirst: true },
			() => undefined,
		);
		await world.model.nextRequest(isSummary);
		third.abort({ by: "user" });
		expect(await third.settled).toEqual({ status: "aborted", by: "user" });
		expect(world.reports).toEqual([]);
	});
});
