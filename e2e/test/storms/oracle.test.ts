/** The oracle of storms itself: what it lets pass, and what not. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createPiEnv, createTempDir, startModelServer } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { journalViolations, verifyViolations } from "../../storm/extras-oracle.ts";
import { ownFiles } from "../../storm/files.ts";
import { accountOf, isOver, unbalanced, unsaid, violationsOf } from "../../storm/oracle.ts";
import { type AgentPlan, planStorm } from "../../storm/plan.ts";
import { cutAnswer, toldResults } from "../../storm/wholeness.ts";

const entry = (data: object) => ({ id: "x", customType: "subagents:record", data });
const launch = (run: number) => ({
	...{
		type: "launched",
		runId: run === 1 ? "a" : `a-r${run}`,
		agentId: "a",
		run,
		description: "x",
		isBackground: true,
	},
});
const settled = (runId: string, more: object = {}) => ({ type: "settled", runId, status: "aborted", ...more });
const said = (...words: string[]) => words.map((what) => ({ what, id: "a" }));

test("an agent may end again without a word of its beginning where its later run was stopped in the queue, once", () => {
	const runs = [launch(1), settled("a"), launch(2), settled("a-r2", { neverStarted: true })];
	const account = accountOf(runs.map(entry));
	const first = ["created", "started", "completed"];
	expect(unbalanced(said(...first, "failed"), account, new Set())).toEqual([]);
	expect(unbalanced(said(...first, "failed", "failed"), account, new Set())).toEqual(["a ended once more: failed."]);
});

test("an agent that began ends, and no more often than it began", () => {
	const account = accountOf([launch(1), settled("a")].map(entry));
	expect(unbalanced(said("created", "started"), account, new Set())).toEqual(["a began and never ended."]);
	expect(unbalanced(said("created", "failed", "failed"), account, new Set())).toEqual(["a ended once more: failed."]);
	expect(unbalanced(said("created", "started", "completed"), account, new Set())).toEqual([]);
});

test("a run may lack the entry of its end only if its message is there and the session lost entries", async () => {
	const message = { id: "m", customType: "subagent-notification", details: { runIds: ["a"] } };
	const judge = async (hasLostEntries: boolean, ...entries: Record<string, unknown>[]) =>
		violationsOf(accountOf(entries), { spoiled: new Set(), wasKilled: true, hasLostEntries });
	expect(isOver(accountOf([entry(launch(1)), message]))).toBe(true);
	expect(isOver(accountOf([entry(launch(1))]))).toBe(false);
	expect(await judge(true, entry(launch(1)), message)).toEqual([]);
	expect(await judge(false, entry(launch(1)), message)).toEqual(["a has settled 0 times."]);
	expect(await judge(true, entry(launch(1)))).toContain("a has settled 0 times.");
});

test("an agent of a workflow may end while no session is open only if it has its own process", () => {
	const workflow = { ...launch(1), runId: "w", agentId: "w", runner: "workflow" };
	const below = (runner: string, parentAgentId: string) => ({
		...{ id: "y", customType: "subagents:nested" },
		data: { ...launch(1), runner, parentAgentId },
	});
	const detached = (runner: string, parentAgentId: string) =>
		[...accountOf([entry(workflow), below(runner, parentAgentId)]).detached].join();
	expect([detached("process", "w"), detached("remote", "w")]).toEqual(["a", "a"]);
	expect([detached("session", "w"), detached("process", "other")]).toEqual(["", ""]);
});

test("the log of a run is what the session remembers; one in its own process that was stopped may have more", async () => {
	await using dir = await createTempDir();
	const [turn, call] = [{ type: "turn" }, { type: "tool_call" }].map((line) => `${JSON.stringify(line)}\n`);
	await writeFile(join(dir.path, "events.jsonl"), [call, turn, call].join(""));
	const judge = async (runner: string, end: object) => {
		const account = accountOf([{ ...launch(1), runner, artifacts: dir.path }, settled("a", end)].map(entry));
		const harm = { spoiled: new Set<string>(), wasKilled: false, hasLostEntries: false };
		return (await violationsOf(account, harm)).filter((found) => found.includes("kept"));
	};
	const before = { turns: 1, toolUses: 1 };
	const wrong = [expect.stringContaining('a kept {"turns":1,"toolUses":2}, but the session says')];
	expect(await judge("process", { by: "lost", turns: 1, toolUses: 2 })).toEqual([]);
	for (const by of ["user", "parent", "shutdown"]) expect(await judge("process", { by, ...before })).toEqual([]);
	expect(await judge("process", { by: "lost", ...before })).toEqual(wrong);
	expect(await judge("process", { status: "completed", ...before })).toEqual(wrong);
	expect(await judge("session", { by: "user", ...before })).toEqual(wrong);
	expect(await judge("process", { by: "user", turns: 1, toolUses: 0 }), "it never was so").toEqual(wrong);
	expect(await judge("process", { by: "user", turns: 1, toolUses: 3 }), "more than the log").toEqual(wrong);
});

test("what could not be kept of a run has to be said: to the user, as its failure, or that the run is lost", async () => {
	const faults = [{ code: "EACCES", call: "open", path: "/runs/a/events.jsonl" }];
	const ended = (more: object) => accountOf([{ ...launch(1), artifacts: "/runs/a" }, settled("a", more)].map(entry));
	expect(await unsaid(faults, ended({}), [])).toEqual([expect.stringMatching(/^a .*EACCES.*nobody said so/)]);
	expect(await unsaid(faults, ended({}), ["Nothing of run a is kept: EACCES"])).toEqual([]);
	expect(await unsaid(faults, ended({ error: "EACCES: no" }), [])).toEqual([]);
	expect(await unsaid(faults, ended({ by: "lost", reason: "its process is gone" }), [])).toEqual([]);
	expect(await unsaid([], ended({}), [])).toEqual([]);
});

test("what hides runs from git is not among the files that a storm spoils", async () => {
	await using server = await startModelServer({ rules: [] });
	await using env = await createPiEnv({ server });
	const runs = join(env.cwd, ".pi", "subagents", "runs");
	await mkdir(join(runs, "a"), { recursive: true });
	for (const name of [".gitignore", "a/meta.json"]) await writeFile(join(runs, name), "*\n");
	expect(await ownFiles(env)).toEqual([join(runs, "a", "meta.json")]);
});

test("an answer that a message cuts is whole only where the message says that there is more, and that is there", async () => {
	const answer = "All that was found. ".repeat(100).trim();
	const told = (shown: string, rest = "") => ({
		customType: "subagent-notification",
		content: `<task-notification>\n<task-id>a</task-id>\n<result>\n${shown}\n</result>\n${rest}</task-notification>`,
		details: { runIds: ["a"], agents: [{ id: "a", status: "completed" }] },
	});
	const judge = async (message: object, ...entries: Record<string, unknown>[]) => {
		const [result] = toldResults([message as Record<string, unknown>]);
		return result && cutAnswer(result, answer, entries);
	};
	const rest = "<rest>1,500 more characters: get_subagent_result a</rest>";
	expect(await judge(told(answer))).toBeUndefined();
	expect(await judge(told(answer.slice(0, 500)))).toContain("does not say that there is more");
	expect(await judge(told(answer.slice(0, 500), rest))).toContain("the session holds less");
	expect(await judge(told("", rest), entry(settled("a", { preview: "All", text: answer })))).toBeUndefined();
});

test("two runs of an agent in one message are told apart", () => {
	const element = (status: string) =>
		`<task-notification>\n<task-id>a</task-id>\n<status>${status}</status>\n</task-notification>`;
	const agents = ["aborted", "completed"].map((status) => ({ id: "a", status }));
	const content = agents.map(({ status }) => element(status)).join("\n");
	const message = { customType: "subagent-notification", content, details: { runIds: ["a", "a-2"], agents } };
	expect(toldResults([message])).toEqual([
		{ runId: "a", status: "aborted", text: element("aborted") },
		{ runId: "a-2", status: "completed", text: element("completed") },
	]);
});

test("a call of a workflow that had its answer is launched again only if the user asked for that", () => {
	const [launched, answered, retried] = ["launched", "answered", "retried"].map((type) => ({ type, path: "0" }));
	const skipped = { type: "answered", path: "0", answer: { ok: false, status: "skipped" } };
	const lines = (...all: (object | undefined)[]) => all as Record<string, unknown>[];
	expect(journalViolations("w", lines(launched, launched, answered, retried, launched, answered))).toEqual([]);
	expect(journalViolations("w", lines(launched, answered, skipped))).toEqual([]);
	expect(journalViolations("w", lines(answered, launched))).toEqual(["w: 0 had answered, and was launched again."]);
	expect(journalViolations("w", lines(answered, answered))).toEqual(["w: 0 was answered twice."]);
});

test("a run whose work must be checked is completed only if its command has passed", () => {
	const plan = planStorm(1, { agents: 1, isFull: false });
	const agents = new Map([["a1", { ...plan.roots[0], key: "a1", verify: { passesAt: 1 } } as AgentPlan]]);
	const ends = (verification?: object) =>
		[
			{ ...launch(1), task: "Weather it. [a1]" },
			{ ...settled("a", { status: "completed" }), verification },
		].map(entry);
	expect(verifyViolations({ agents }, ends({ ok: true }), "a1 began\na1 passed\n")).toEqual([]);
	expect(verifyViolations({ agents }, ends({ ok: true }), "a1 began\na1 failed\n")).toEqual([
		"a1 was verified 1 times, and its command passed 0 times.",
	]);
	expect(verifyViolations({ agents }, ends(), "a1 passed\n")).toEqual(["a (a1) was completed without its check."]);
});
