/**
 * What every runner must do, as cases that any test framework can run.
 * A fixture gives a real child of the runner under test that behaves as its script says.
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { ChildEvent, Outcome } from "@pi-subagents/progress";
import type { Run, RunIdentity, Runner, RunSpec } from "../runner.ts";

/** How the child of a fixture behaves. */
export type ChildScript =
	/** Waits for `release`, uses one tool, then says `text` and ends. */
	| { does: "work"; text: string }
	/** Its model fails with this message. */
	| { does: "fail"; error: string }
	/** Its model never answers. */
	| { does: "hang" };

export interface RunnerFixture {
	runner: Runner;
	spec: RunSpec & RunIdentity;
	/** Resolves when the child's model has been asked for the first time. */
	asked(): Promise<void>;
	/** Lets a child that works go on. */
	release(): void;
	/** Everything the child's model was told by its parent: the task, then the steers. */
	heard(): string[];
	cleanup(): Promise<void>;
}

export type CreateFixture = (script: ChildScript) => Promise<RunnerFixture>;

export interface ConformanceCase {
	name: string;
	run(create: CreateFixture): Promise<void>;
}

/**
 * @example
 * ```ts
 * describe("my runner", () => {
 * 	test.each(runnerConformance)("$name", ({ run }) => run(createMyFixture));
 * });
 * ```
 */
export const runnerConformance: readonly ConformanceCase[] = [
	conform(
		"a child that works settles as completed with its last words",
		{ does: "work", text: "All done." },
		async (it) => {
			await it.fixture.asked();
			it.fixture.release();
			deepStrictEqual(await it.run.settled, { status: "completed", text: "All done." });
			deepStrictEqual(it.fixture.heard(), [it.fixture.spec.task]);
			const kinds = it.events.map((event) => event.type);
			ok(kinds.indexOf("tool_call") < kinds.indexOf("tool_result"), `a tool call comes before its result: ${kinds}`);
			ok(it.events.some((event) => event.type === "assistant_text" && event.text === "All done."));
			strictEqual(kinds.at(-1), "idle");
		},
	),
	conform(
		"a model that fails is a failed outcome, not a rejection",
		{ does: "fail", error: "out of credit" },
		async (it) => {
			const outcome = await it.run.settled;
			strictEqual(outcome.status, "failed");
			ok(outcome.status === "failed" && outcome.error.includes("out of credit"), JSON.stringify(outcome));
		},
	),
	conform("a spec that cannot run throws before the first event, or fails", { does: "hang" }, async ({ fixture }) => {
		const events: ChildEvent[] = [];
		const spec = { ...fixture.spec, model: "nobody/nothing" };
		try {
			strictEqual((await fixture.runner.start(spec, (event) => events.push(event)).settled).status, "failed");
		} catch (error) {
			ok(error instanceof Error);
		}
		deepStrictEqual(events, []);
	}),
	conform("a stop before the child exists lets it ask nothing", { does: "hang" }, async (it) => {
		it.run.abort({ by: "parent", reason: "not needed" });
		deepStrictEqual(await it.run.settled, { status: "aborted", by: "parent", reason: "not needed" });
		deepStrictEqual([it.events, it.fixture.heard()], [[], []]);
	}),
	conform("a stop while the model is silent settles, once, as the first stop said", { does: "hang" }, async (it) => {
		await it.fixture.asked();
		it.run.abort({ by: "user" });
		it.run.abort({ by: "timeout" });
		deepStrictEqual(await it.run.settled, { status: "aborted", by: "user" });
		it.run.abort({ by: "idle" });
		deepStrictEqual(await it.run.settled, { status: "aborted", by: "user" });
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
];

interface Started {
	fixture: RunnerFixture;
	run: Run;
	/** What was emitted so far. Each case ends with a check that nothing came after the run had settled. */
	events: ChildEvent[];
}

function conform(name: string, script: ChildScript, check: (started: Started) => Promise<void>): ConformanceCase {
	return {
		name,
		async run(create) {
			const fixture = await create(script);
			const events: ChildEvent[] = [];
			let outcome: Outcome | undefined;
			const late: ChildEvent[] = [];
			const run = fixture.runner.start(fixture.spec, (event) => void (outcome ? late : events).push(event));
			void run.settled.then((settled) => {
				outcome = settled;
			});
			try {
				await check({ fixture, run, events });
				run.abort({ by: "shutdown" });
				await run.settled;
			} finally {
				await fixture.cleanup();
			}
			deepStrictEqual(late, [], "nothing is emitted after the run has settled");
		},
	};
}
