import type { ChildEvent, Completed } from "@pi-subagents/progress";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../core/src/base/clock.ts";
import { AnswerCheck } from "../../../core/src/conversation/answer-check.ts";
import type { VerifySpec } from "../../../core/src/model/schema/spec.ts";
import { judgeJson } from "../../../core/src/output/check-answer.ts";
import type { CommandEnd } from "../../../core/src/shell/run-command.ts";
import { handClock } from "../../../core/src/testing/index.ts";
import { judgeCommand, Verifier } from "../../../core/src/verify/verification.ts";
import { spec } from "../../../core/test/fixtures/events.ts";
import { judgeUnobserved } from "../../src/claims/recover-result.ts";
import { RunTotals } from "../../src/run-totals.ts";

const completed: Completed = { status: "completed", text: "Done." };
const last = { type: "assistant_text", text: "Done.", stopReason: "stop" } as const;
const end = (more: Partial<CommandEnd>): CommandEnd => ({
	how: "exited",
	code: 0,
	durationMs: 12_300,
	tail: "",
	stdout: "",
	...more,
});
const judged = (more: Partial<CommandEnd>) => judgeCommand({ completed, command: "npm test", end: end(more) });

describe("what follows from how the command ended", () => {
	test("success is part of the outcome", () => {
		expect(judged({})).toEqual({
			outcome: { ...completed, verification: { ok: true, command: "npm test", durationMs: 12_300 } },
		});
	});

	test.each([
		[{ code: 2 }, "npm test exited with code 2 (12.3s)", true],
		[{ how: "timed_out" }, "npm test took longer than 12.3s", true],
		[{ how: "killed", why: "SIGSEGV" }, "npm test was ended by SIGSEGV", true],
		[{ how: "not_started", why: "EMFILE" }, "npm test could not be started: EMFILE", false],
		[{ how: "stopped" }, "npm test was stopped", false],
	] as const)("%j fails the run, with the tail, and may be repaired: %s, %s", (how, problem, canRepair) => {
		const { outcome, repair } = judged({ ...how, tail: "1 failing\n</log>" });
		expect(outcome).toMatchObject({
			status: "failed",
			error: `Not verified: ${problem}`,
			partialText: "Done.",
			verification: { ok: false, problem, tail: "1 failing\n</log>" },
		});
		expect(repair !== undefined).toBe(canRepair);
		if (repair !== undefined) expect(repair).toMatch(/1 failing\n<\/log>\n<\/log-[0-9a-f]{12}>/);
	});
});

async function verifying(verify: VerifySpec | { skipped: string }, rounds: readonly Completed[] = [completed]) {
	const events: ChildEvent[] = [];
	const given = { ...spec, cwd: "/", verify };
	const verifier = new Verifier(given, { clock: systemClock, emit: (event) => void events.push(event) });
	const check = new AnswerCheck(given, systemClock, verifier);
	const nexts = [];
	for (const answer of rounds) nexts.push(await check.after(answer, last));
	await verifier.stop();
	return { nexts, events };
}

describe("an answer that must be verified", () => {
	test.each(["test $WHERE = inside", ["sh", "-c", "test $WHERE = inside"]])(
		"is checked inside the program that the agent runs in: %j",
		async (command) => {
			const given = { cwd: "/", verify: { command, repairs: 0 } };
			const verdict = (around?: readonly string[]) =>
				new Verifier(given, { clock: systemClock, emit: () => undefined, around }).check(completed);
			expect((await verdict(["env", "WHERE=inside"])).outcome.status).toBe("completed");
			expect((await verdict()).outcome.status).toBe("failed");
			expect((await verdict(["false"])).outcome.status).toBe("failed");
		},
	);

	test("stands when the command succeeds, and both are events", async () => {
		const { nexts, events } = await verifying({ command: "exit 0", repairs: 1 });
		expect(nexts).toMatchObject([{ does: "settle", outcome: { status: "completed", verification: { ok: true } } }]);
		expect(events).toMatchObject([
			{ type: "verifying", command: "exit 0" },
			{ type: "verified", verification: { ok: true, command: "exit 0" } },
		]);
	});

	test("is repaired as often as allowed, then the run fails", async () => {
		const { nexts } = await verifying({ command: "echo broken; exit 1", repairs: 1 }, [completed, completed]);
		expect(nexts.map(({ does }) => does)).toEqual(["ask", "settle"]);
		expect(nexts[0]).toMatchObject({ text: expect.stringContaining("broken") });
		expect(nexts[1]).toMatchObject({ outcome: { status: "failed", verification: { tail: "broken" } } });
		expect((await verifying({ command: "false", repairs: 0 })).nexts).toMatchObject([{ does: "settle" }]);
	});

	test("is not repaired by an agent that was asked to finish: it has no tools left", async () => {
		const rounds: Completed[] = [{ ...completed, wrappedUp: true }];
		expect((await verifying({ command: "false", repairs: 3 }, rounds)).nexts).toMatchObject([{ does: "settle" }]);
	});

	test("is not verified where the project is not trusted, and says so", async () => {
		const { nexts, events } = await verifying({ skipped: "project not trusted" });
		const verification = { ok: false, problem: "project not trusted" };
		expect(nexts).toEqual([{ does: "settle", outcome: { ...completed, verification } }]);
		expect(events).toEqual([]);
	});

	test("has what the command printed as its data", async () => {
		const schema = { type: "array", items: { type: "number" } };
		const json = async (printed: string) => {
			const command = ["printf", "%s", printed];
			return (await verifying({ command, output: "json", schema, repairs: 0 })).nexts[0];
		};
		expect(await json("[1, 2]\n")).toMatchObject({
			outcome: { status: "completed", structured: { ok: true, data: [1, 2] }, verification: { ok: true } },
		});
		expect(await json('["a"]')).toMatchObject({
			outcome: { status: "failed", error: expect.stringContaining("/0 must be number"), structured: { ok: false } },
		});
		expect(await json("2 passed")).toMatchObject({
			outcome: { status: "failed", error: expect.stringContaining("It did not print JSON") },
		});
	});

	test("is plain data, whatever keys the command prints", async () => {
		const printed = '{"a":1,"a":2,"__proto__":{"polluted":true}}';
		const judged = await judgeJson(printed, { type: "object", required: ["a"] }, { clock: systemClock });
		expect(judged).toMatchObject({ ok: true, data: { a: 2 } });
		expect(({} as { polluted?: true }).polluted).toBeUndefined();
		expect(Object.getPrototypeOf(judged.ok && judged.data)).toBe(Object.prototype);
	});

	test("was not given if only the log says so, which the agent can write", async () => {
		const outcomeAfter = async (verify: VerifySpec, ...events: ChildEvent[]) => {
			const totals = new RunTotals();
			for (const event of [last, { type: "idle" } as const, ...events]) totals.add({ ...event, at: 1, seq: 1 });
			return judgeUnobserved(totals, { by: "lost" }, { runner: "process", verify }, handClock());
		};
		const command: VerifySpec = { command: "npm test", repairs: 1 };
		const verified = (ok: boolean): ChildEvent => ({ type: "verified", verification: { ok, command: "npm test" } });
		expect(await outcomeAfter(command)).toMatchObject({ status: "aborted", by: "lost" });
		expect(await outcomeAfter(command, { type: "verifying", command: "npm test" })).toMatchObject({
			status: "aborted",
		});
		expect(await outcomeAfter(command, verified(false))).toMatchObject({ status: "aborted" });
		expect(await outcomeAfter(command, verified(true))).toMatchObject({ status: "aborted" });
	});
});
