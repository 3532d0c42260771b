/**
 * What every runner must do, as cases for any test framework. A fixture provides a real child of the runner under
 * test that behaves as its script says.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { ChildEvent } from "@pi-subagents/progress";
import type { Run } from "../model/runner.ts";
import { type ConformanceCase, conform, type RunnerFixture, type Started } from "./conform.ts";

export type { ChildScript, ConformanceCase, CreateFixture, RunnerFixture } from "./conform.ts";

/**
 * @example
 * ```ts
 * describe("my runner", () => {
 * 	test.each(runnerConformance)("$name", ({ run }) => run(createMyFixture));
 * });
 * ```
 */
export const runnerConformance: readonly ConformanceCase[] = [
	conform("a child that completes settles with its last message", { does: "work", text: "All done." }, async (it) => {
		await it.fixture.asked();
		it.fixture.release();
		deepStrictEqual(await it.run.settled, { status: "completed", text: "All done." });
		deepStrictEqual(it.fixture.heard(), [it.fixture.spec.task]);
		const kinds = it.events.map((event) => event.type);
		ok(kinds.indexOf("tool_call") < kinds.indexOf("tool_result"), `a tool call comes before its result: ${kinds}`);
		ok(it.events.some((event) => event.type === "assistant_text" && event.text === "All done."));
		strictEqual(kinds.at(-1), "idle");
	}),
	conform(
		"a model that fails is a failed outcome, not a rejection",
		{ does: "fail", error: "out of credit" },
		async (it) => {
			const outcome = await it.run.settled;
			strictEqual(outcome.status, "failed");
			ok(outcome.status === "failed" && outcome.error.includes("out of credit"), JSON.stringify(outcome));
		},
	),
	{
		name: "a spec that cannot run throws before the first event, or fails",
		async run(create) {
			const fixture = await create({ does: "hang" });
			const events: ChildEvent[] = [];
			try {
				const run = startUnknownModel(fixture, events);
				strictEqual((await run?.settled)?.status ?? "failed", "failed");
			} finally {
				await fixture.cleanup();
			}
			deepStrictEqual([events, fixture.requests()], [[], 0]);
		},
	},
	conform("a stop before the child exists lets it ask nothing", { does: "hang" }, async (it) => {
		await it.stop({ by: "parent", reason: "not needed" });
		deepStrictEqual([it.events, it.fixture.heard()], [[], []]);
	}),
	conform("a stop while the model is silent settles, once, as the first stop said", { does: "hang" }, async (it) => {
		await it.fixture.asked();
		const first = it.stop({ by: "user" });
		it.run.abort({ by: "timeout" });
		await first;
		it.run.abort({ by: "idle" });
		deepStrictEqual(await it.run.settled, { status: "aborted", by: "user" });
	}),
	conform("a stop in a tool ends the tool", { does: "use_tool", text: "I look first." }, async (it) => {
		await it.saw("tool_call");
		await it.stop({ by: "timeout", reason: "after 5m" }, "I look first.");
	}),
	conform("a stop before a retry prevents it", { does: "retry" }, async (it) => {
		await it.saw("retrying");
		await it.stop({ by: "user" });
	}),
	conform("a stop at the very moment a retry begins prevents it", { does: "retry" }, async (it) => {
		it.on("retrying", () => it.run.abort({ by: "user" }));
		deepStrictEqual(await it.run.settled, { status: "aborted", by: "user" });
		strictEqual(it.events.at(-1)?.type, "retrying");
	}),
	conform("a stop while the context is shortened ends that", { does: "compact", text: "So far." }, async (it) => {
		await it.saw("compacting");
		await it.fixture.asked(2); // for the summary
		await it.stop({ by: "user" }, "So far.");
	}),
	conform("a stop while the checkpoint waits settles", { does: "work", text: "Never said." }, async (it) => {
		const asked = it.atCheckpoint(() => new Promise(() => {}));
		it.fixture.release();
		await asked;
		await it.stop({ by: "budget", reason: "used up" });
	}),
	conform("a stop after the end changes nothing", { does: "work", text: "Finished." }, async (it) => {
		await it.fixture.asked();
		it.fixture.release();
		await it.run.settled;
		it.run.abort({ by: "user" });
		deepStrictEqual(await it.run.settled, { status: "completed", text: "Finished." });
	}),
	conform("a steer before the child exists reaches it", { does: "work", text: "Steered." }, async (it) => {
		it.run.steer("mind the tests");
		await it.fixture.asked();
		it.fixture.release();
		await it.run.settled;
		deepStrictEqual(it.fixture.heard(), [it.fixture.spec.task, "mind the tests"]);
	}),
	conform("a steer while it works reaches it", { does: "work", text: "Steered." }, async (it) => {
		await it.fixture.asked();
		it.run.steer("mind the docs");
		it.fixture.release();
		await it.run.settled;
		deepStrictEqual(it.fixture.heard(), [it.fixture.spec.task, "mind the docs"]);
	}),
	conform("a child that is told to wrap up answers as one that was", { does: "work", text: "So far." }, async (it) => {
		await it.fixture.asked();
		it.run.wrapUp("the user is in a hurry");
		it.run.wrapUp();
		it.fixture.release();
		deepStrictEqual(await it.run.settled, { status: "completed", text: "So far.", wrappedUp: true });
		toldToWrapUp(it, "the user is in a hurry");
	}),
	conform("a request to wrap up before the child exists reaches it", { does: "work", text: "Nothing." }, async (it) => {
		it.run.wrapUp();
		await it.fixture.asked();
		it.fixture.release();
		deepStrictEqual(await it.run.settled, { status: "completed", text: "Nothing.", wrappedUp: true });
		toldToWrapUp(it);
	}),
	conform("a request to wrap up after the end changes nothing", { does: "work", text: "Finished." }, async (it) => {
		it.fixture.release();
		await it.run.settled;
		it.run.wrapUp();
		deepStrictEqual(await it.run.settled, { status: "completed", text: "Finished." });
	}),
	conform(
		"the checkpoint is asked between two turns, and not after the last",
		{ does: "work", text: "Done." },
		async (it) => {
			let asked = 0;
			const requestsWhenAsked: number[] = [];
			void it.atCheckpoint(async () => {
				asked++;
				await Promise.resolve();
				requestsWhenAsked.push(it.fixture.requests());
				return "go";
			});
			it.fixture.release();
			deepStrictEqual(await it.run.settled, { status: "completed", text: "Done." });
			deepStrictEqual([asked, requestsWhenAsked, it.fixture.requests()], [1, [1], 2]);
		},
	),
	conform(
		"a checkpoint can end the run, and nothing is asked after it",
		{ does: "work", text: "Never said." },
		async (it) => {
			void it.atCheckpoint(async () => "end");
			it.run.steer("and then the docs");
			it.fixture.release();
			strictEqual((await it.run.settled).status, "failed");
			strictEqual(it.fixture.requests(), 1);
		},
	),
	conform("a checkpoint that fails lets nothing pass", { does: "work", text: "Never said." }, async (it) => {
		void it.atCheckpoint(() => Promise.reject(new Error("the books are closed")));
		it.fixture.release();
		const { status, ...end } = await it.run.settled;
		// One that runs elsewhere may say who claims it.
		deepStrictEqual([status, "error" in end && end.error], ["failed", "the books are closed"]);
		strictEqual(it.fixture.requests(), 1);
	}),
];

/** Undefined if it throws, which is allowed. */
function startUnknownModel({ runner, spec }: RunnerFixture, events: ChildEvent[]): Run | undefined {
	try {
		return runner.start({ ...spec, model: "nobody/nothing" }, (event) => void events.push(event));
	} catch (error) {
		ok(error instanceof Error);
		return undefined;
	}
}

/** The child's model got its task and one more message, worded by the runner. */
function toldToWrapUp({ fixture }: Started, reason = ""): void {
	const [task, wish, ...more] = fixture.heard();
	deepStrictEqual([task, more], [fixture.spec.task, []]);
	ok(wish?.includes(reason), `the wish says why: ${wish}`);
}
