import { appendFileSync } from "node:fs";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Answer, type Clock, type Limits, Manager, type Question } from "../../../../core/src/index.ts";
import { handClock } from "../../../../core/src/testing/index.ts";
import type { ControlLine, EventLine } from "../../../../runs/src/format/lines.ts";
import { lines, liveProcess, type RunDir, runDir } from "../../../../runs/test/fixtures/run-dir.ts";
import { processRunner } from "../../../src/process/index.ts";
import { attach, runSpec } from "../../fixtures/process.ts";

const { looking, reading, read, answer, usage, turn, idle } = lines;

describe("what a run asks", () => {
	const question: EventLine = { type: "question", at: 5, id: "q1", question: "Which one?", defaultAnswer: "red" };
	const asks: Question = { question: "Which one?", defaultAnswer: "red" };

	test("reaches whoever answers, and the answer reaches the wrapper", async () => {
		const dir = await runDir();
		await dir.wrappedBy((await liveProcess()).identity);
		const asked: [string, Question][] = [];
		const ask = async (agentId: string, question: Question): Promise<Answer> => {
			asked.push([agentId, question]);
			return { by: "user", text: "blue" };
		};
		attach(dir, { ask });
		await dir.log(question);
		await expect
			.poll(() => dir.control().catch(() => []))
			.toEqual([{ type: "answer", id: "q1", answer: { by: "user", text: "blue" } }]);
		expect(asked).toEqual([["a1", asks]]);
	});

	test.each([
		["nobody is there to answer", undefined],
		["whoever should answer fails", () => Promise.reject(new Error("no session"))],
	])("comes to its default when %s", async (_when, ask) => {
		const dir = await runDir();
		await dir.wrappedBy((await liveProcess()).identity);
		attach(dir, ask ? { ask } : {});
		await dir.log(question);
		await expect
			.poll(() => dir.control().catch(() => []))
			.toEqual([{ type: "answer", id: "q1", answer: { by: "default", text: "red", why: "absent" } }]);
	});

	test("is not asked again when it was answered, or is over", async () => {
		const dir = await runDir();
		await dir.wrappedBy((await liveProcess()).identity);
		await dir.log(
			question,
			{ ...question, id: "q2" },
			{ type: "question_over", at: 6, id: "q2" },
			{ ...question, id: "q3" },
			{ type: "checkpoint", at: 7, id: "c1" },
			looking,
			{ type: "checkpoint", at: 11, id: "c2" },
			turn,
		);
		await writeFile(
			dir.file("control"),
			`${JSON.stringify({ type: "answer", id: "q1", answer: { by: "nobody" } })}\n{"type":"steer","mess`,
		);
		const asked: string[] = [];
		attach(dir, {
			ask: async (_id, { question }) => {
				asked.push(question);
				return { by: "user", text: "green" };
			},
		});
		const replies = async () => {
			const lines = (await readFile(dir.file("control"), "utf8")).split("\n").filter((line) => line !== "");
			return lines.slice(2).map((line) => JSON.parse(line));
		};
		await expect.poll(replies).toHaveLength(2);
		expect((await replies()).sort((a, b) => a.id.localeCompare(b.id))).toEqual([
			{ type: "pass", id: "c2", word: "go" },
			{ type: "answer", id: "q3", answer: { by: "user", text: "green" } },
		]);
		expect(asked).toEqual(["Which one?"]);
	});

	test.each<[string, EventLine]>([
		["is over before somebody answered", { type: "question_over", at: 6, id: "q1" }],
		["was answered by another program of the user", { type: "agent_answered", at: 6, id: "q1", by: "user" }],
	])("is taken back when it %s", async (_name, line) => {
		const dir = await runDir();
		await dir.wrappedBy((await liveProcess()).identity);
		let signal: AbortSignal | undefined;
		attach(dir, {
			ask: (_id, _question, given) => {
				signal = given;
				return new Promise(() => {});
			},
		});
		await dir.log(question);
		await expect.poll(() => signal?.aborted).toBe(false);
		await dir.log(line);
		await expect.poll(() => signal?.aborted).toBe(true);
	});

	test.each([
		["lets it go on", async () => "go" as const, { word: "go" }],
		["ends it", async () => "end" as const, { word: "end" }],
		["fails, so nothing may pass", () => Promise.reject(new Error("closed")), { word: "end", error: "closed" }],
	])("at a checkpoint %s", async (_what, checkpoint, word) => {
		const dir = await runDir();
		await dir.wrappedBy((await liveProcess()).identity);
		attach(dir, { checkpoint });
		await dir.log({ type: "checkpoint", at: 5, id: "c1" });
		await expect.poll(() => dir.control().catch(() => [])).toEqual([{ type: "pass", id: "c1", ...word }]);
	});
});

interface AdoptOptions {
	limits: Limits;
	/** Undefined: the settings are not read. */
	sessionTokens?: number | undefined;
	clock?: Clock;
}

/** Rejoins the run in this directory as a manager does. */
function adopt(dir: RunDir, { limits, sessionTokens, clock = handClock(1_000) }: AdoptOptions) {
	const { agentId: id, run, ...spec } = { ...runSpec, limits, outlives: true };
	const process = processRunner({ agentDir: dir.place.agentDir, isProjectTrusted: () => false, clock });
	const manager = new Manager({ runners: { process }, clock, newId: () => "b2" });
	manager.adopt({ id, run, spec, artifacts: dir.path, depth: 1, isBackground: true, queuedAt: 1 });
	if (sessionTokens !== undefined) manager.setSessionBudget({ tokens: sessionTokens, cost: 0, agents: 0 }); // read later
	onTestFinished(() => manager.shutdown());
	return { manager };
}

test("a run that took its time while we could not hear it is judged by its wrapper alone", async () => {
	const dir = await runDir();
	const clock = handClock(1_000);
	await dir.wrappedBy((await liveProcess()).identity);
	await dir.log(looking, reading);
	const limits = { timeoutMs: 1_000, idleTimeoutMs: 1_000, toolTimeoutMs: 1_000 };
	const { manager } = adopt(dir, { limits, clock });
	await expect.poll(() => manager.store.record("a1")?.toolUses).toBe(1);
	clock.advance(3_600_000);
	await dir.log(read, answer, idle);
	await dir.result({ status: "completed", text: "All done." });
	expect(await manager.wait("a1")).toEqual({ status: "completed", text: "All done." });
});

test("a stop settles a run at once: what the child does before it hears of it is in its log, and not in its record", async () => {
	const dir = await runDir();
	await dir.wrappedBy((await liveProcess()).identity);
	await dir.log(looking, reading);
	const { manager } = adopt(dir, { limits: {} });
	await expect.poll(() => manager.store.record("a1")?.toolUses).toBe(1);
	appendFileSync(dir.file("events"), `${JSON.stringify(read)}\n${JSON.stringify(reading)}\n`);
	manager.abort("a1", { by: "user" });
	const settled = manager.store.record("a1");
	expect(settled).toMatchObject({
		status: "aborted",
		outcome: { by: "user", partialText: "I look first." },
		toolUses: 1,
	});
	await dir.result({ status: "aborted", by: "user" }, { toolUses: 2 });
	await manager.shutdown(); // until its wrapper has ended
	expect(manager.store.record("a1")).toBe(settled);
});

describe("a budget that was extended", () => {
	const checkpoint: EventLine = { type: "checkpoint", at: 60, id: "c1" };
	const passed = { type: "pass", id: "c1", word: "go", limits: { budgetTokens: 40 } };

	test("is told to the wrapper", async () => {
		const dir = await runDir();
		await dir.wrappedBy((await liveProcess()).identity);
		await dir.log(checkpoint);
		const { run } = attach(dir, {
			async checkpoint() {
				run.granted = passed.limits;
				return "go";
			},
		});
		await expect.poll(() => dir.control().catch(() => [])).toEqual([passed]);
	});

	const granted: EventLine = { type: "granted", at: 50, limits: passed.limits };

	test("is known to whoever rejoins the run", async () => {
		const dir = await runDir();
		await dir.wrappedBy((await liveProcess()).identity);
		const earlier = { ...passed, id: "c0" };
		await writeFile(dir.file("control"), `${JSON.stringify(earlier)}\n`);
		await dir.log(usage, granted, usage, checkpoint);
		const { manager } = adopt(dir, { limits: { budgetTokens: 20 } });
		await expect.poll(() => dir.control().catch(() => [])).toEqual([earlier, passed]);
		expect(manager.store.record("a1")?.status).toBe("running");
	});

	test("only because the files that its agent can write say so is not extended", async () => {
		const dir = await runDir();
		await dir.wrappedBy((await liveProcess()).identity);
		await writeFile(join(dir.path, "control.jsonl"), `${JSON.stringify({ ...passed, id: "c0" })}\n`);
		await dir.log(usage, granted, usage, checkpoint);
		const { manager } = adopt(dir, { limits: { budgetTokens: 20 } });
		expect(await manager.wait("a1")).toMatchObject({ status: "aborted", by: "budget" });
		await dir.result({ status: "aborted", by: "budget" });
	});
});

describe("what it may use of the session's budget without us", () => {
	const tokens = (budgetTokens: number): ControlLine => ({ type: "alone", limits: { budgetTokens } });
	const rejoined = async (sessionTokens: number | undefined, earlier: readonly ControlLine[]) => {
		const dir = await runDir();
		await dir.wrappedBy((await liveProcess()).identity);
		await writeFile(dir.file("control"), earlier.map((line) => `${JSON.stringify(line)}\n`).join(""));
		const { manager } = adopt(dir, { limits: {}, sessionTokens });
		await dir.log(usage);
		await expect.poll(() => manager.store.record("a1")?.usage.input).toBeGreaterThan(0);
		return { dir, manager };
	};

	test("is told to the wrapper when we rejoin the run, and before we leave it", async () => {
		const { dir, manager } = await rejoined(900, []);
		expect(await dir.control()).toEqual([tokens(900)]);
		await manager.shutdown();
		expect(await dir.control(), "nothing has changed").toEqual([tokens(900)]);
	});

	test.each<[string, number | undefined, readonly ControlLine[]]>([
		["stays what it was as long as we do not know the settings", undefined, []],
		["is not said again if it is the same", 900, []],
		["is replaced if the user set another budget", 1_800, [tokens(1_800)]],
		["is taken back if the user set none", 0, [{ type: "alone", limits: {} }]],
	])("%s", async (_what, sessionTokens, later) => {
		const { dir } = await rejoined(sessionTokens, [tokens(300), tokens(900)]);
		expect(await dir.control()).toEqual([tokens(300), tokens(900), ...later]);
	});
});

describe("a reply that cannot be written", () => {
	const blocked = async (line: EventLine) => {
		const dir = await runDir();
		const clock = handClock(1_000);
		await dir.wrappedBy((await liveProcess()).identity);
		await mkdir(dir.file("control"), { recursive: true });
		await dir.log(line);
		const { run, reports } = attach(dir, { clock });
		const complaint = /^An agent waits for an answer that could not be written: EISDIR/;
		await expect.poll(() => reports).toContainEqual(expect.stringMatching(complaint));
		return { dir, clock, run, reports };
	};

	test.each([
		[
			{ type: "checkpoint", at: 1, id: "c1" },
			{ type: "pass", id: "c1", word: "go" },
		],
		[
			{ type: "question", at: 1, id: "q1", question: "?" },
			{ type: "answer", id: "q1", answer: { by: "nobody", why: "absent" } },
		],
	] satisfies [EventLine, ControlLine][])("is written as soon as it can be: %o", async (line, reply) => {
		const { dir, clock, reports } = await blocked(line);
		const complaints = reports.length;
		const timer = setInterval(() => clock.advance(2_000), 10);
		onTestFinished(() => clearInterval(timer));
		await rmdir(dir.file("control"));
		await expect.poll(() => dir.control().catch(() => [])).toEqual([reply]);
		expect(reports.length).toBe(complaints);
	});

	test("is dropped when the question is over", async () => {
		const { dir, clock } = await blocked({ type: "question", at: 1, id: "q1", question: "?" });
		const waiting = clock.waiting();
		await dir.log({ type: "question_over", at: 2, id: "q1" });
		await expect.poll(() => clock.waiting()).toBeLessThan(waiting);
	});
});

test("steers and wishes to finish reach the wrapper in order", async () => {
	const dir = await runDir();
	await dir.wrappedBy((await liveProcess()).identity);
	const { run } = attach(dir);
	run.steer("mind the tests");
	run.wrapUp("the user is in a hurry");
	run.wrapUp();
	run.steer("and the docs");
	await expect
		.poll(() => dir.control().catch(() => []))
		.toEqual([
			{ type: "steer", message: "mind the tests" },
			{ type: "wrap_up", reason: "the user is in a hurry" },
			{ type: "wrap_up" },
			{ type: "steer", message: "and the docs" },
		]);
});

test("a steer that cannot be written is reported", async () => {
	const dir = await runDir();
	await mkdir(dir.file("control"), { recursive: true });
	const { run, reports } = attach(dir);
	run.steer("mind the tests");
	await expect
		.poll(() => reports)
		.toContainEqual(expect.stringMatching(/^A message to agent a1 could not be written: EISDIR/));
});
