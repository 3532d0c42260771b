import { join } from "node:path";
import { callTool, createGate, fail, httpError, type Rule, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { type ChildEvent, INHERITED, type Outcome } from "../../../core/src/index.ts";
import type { Checkpoint, Run } from "../../../core/src/model/runner.ts";
import { inheritConversation, sessionRunner } from "../../src/session/index.ts";
import { lastTool, type SessionWorld, sessionWorld } from "../fixtures/session.ts";

const schema = { type: "object", properties: { files: { type: "number" } }, required: ["files"] };
const GOOD = 'I counted.\n```json\n{"files": 2}\n```';
const BAD = 'I counted. {"files": "two"}';

interface Options {
	checkpoint?: Checkpoint;
	limits?: SessionWorld["spec"]["limits"];
	repairs?: number;
	onEvent?: (event: ChildEvent, run: () => Run) => void;
}

function start(world: SessionWorld, { checkpoint, limits = {}, repairs = 1, onEvent }: Options = {}): Run {
	const spec = { ...world.spec, limits, output: { schema, repairs } };
	const run: Run = sessionRunner(world.host).start(spec, (event) => onEvent?.(event, () => run), checkpoint);
	return run;
}

/** Answers one after the other, the last one for ever. */
const inTurn =
	(...answers: string[]): Rule =>
	({ number }) =>
		say(answers[Math.min(number, answers.length) - 1] ?? "");

describe("an answer that must match a schema", () => {
	test("is asked for with the task and is data when it does", async () => {
		await using world = await sessionWorld(inTurn(GOOD));
		expect(await start(world).settled).toEqual({
			status: "completed",
			text: GOOD,
			structured: { ok: true, data: { files: 2 }, preview: '{"files": 2}' },
		});
		const [task] = world.model.requests[0]?.messages ?? [];
		expect(task?.text).toMatch(/^Look around and report\.\n\n.*JSON Schema/s);
		expect(task?.text).toContain(JSON.stringify(schema));
		expect(world.model.requests).toHaveLength(1);
	});

	test("is asked for once more when it does not", async () => {
		await using world = await sessionWorld(inTurn(BAD, '{"files": 2}'));
		expect(await start(world).settled).toMatchObject({ status: "completed", structured: { data: { files: 2 } } });
		expect(world.model.requests[1]?.lastUserText).toMatch(/cannot be used\.\n- \/files must be number\n/);
	});

	test("is asked for once more when nothing was answered", async () => {
		await using world = await sessionWorld(inTurn(" ", '{"files": 2}'));
		expect(await start(world).settled).toMatchObject({ status: "completed", structured: { data: { files: 2 } } });
		expect(world.model.requests[1]?.lastUserText).toMatch(/cannot be used\.\n- .* was empty\.\n/);
		await using silent = await sessionWorld(inTurn(" "));
		expect(await start(silent).settled).toEqual({ status: "failed", error: "The agent's answer was empty." });
		expect(silent.model.requests).toHaveLength(2);
	});

	test("is a failure when it still does not, with what is wrong and what was said", async () => {
		await using world = await sessionWorld(inTurn(BAD));
		expect(await start(world).settled).toEqual({
			status: "failed",
			error: "The answer does not match its schema: /files must be number.",
			partialText: BAD,
			structured: {
				ok: false,
				error: "The answer does not match its schema: /files must be number.",
				validationErrors: [{ path: "/files", message: "must be number" }],
				rawPreview: BAD,
			},
		});
		expect(world.model.requests).toHaveLength(2);
	});

	test("is not asked for again where no repairs are allowed", async () => {
		await using world = await sessionWorld(inTurn(BAD, GOOD));
		expect(await start(world, { repairs: 0 }).settled).toMatchObject({ status: "failed", structured: { ok: false } });
		expect(world.model.requests).toHaveLength(1);
	});

	test("is judged after it was wrapped up, and mended within the turns of grace only", async () => {
		const look: Rule = ({ number }) => (number === 1 ? callTool("ls", { path: "." }) : say(BAD));
		for (const [graceTurns, requests] of [
			[1, 2],
			[2, 3],
		] as const) {
			await using world = await sessionWorld(look);
			const outcome = await start(world, { limits: { maxTurns: 1, graceTurns } }).settled;
			expect(outcome).toMatchObject({ status: "failed", structured: { ok: false } });
			expect(world.model.requests).toHaveLength(requests);
		}
	});

	test("is not asked for again when whoever pays says no", async () => {
		await using world = await sessionWorld(inTurn(BAD, GOOD));
		const outcome = await start(world, { checkpoint: async () => "end" }).settled;
		expect(outcome).toMatchObject({ status: "failed", structured: { ok: false } });
		expect(world.model.requests).toHaveLength(1);
	});

	test("is not judged of a run that was stopped or failed", async () => {
		await using stopped = await sessionWorld(inTurn(GOOD));
		const stop = (event: ChildEvent, run: () => Run) => event.type === "idle" && run().abort({ by: "user" });
		expect(await start(stopped, { onEvent: stop }).settled).toEqual({
			status: "aborted",
			by: "user",
			partialText: GOOD,
		});
		await using failed = await sessionWorld(() => fail("out of credit"));
		expect(await start(failed).settled).toEqual({ status: "failed", error: "out of credit" });
	});

	test("can be stopped while it is mended", async () => {
		const gate = createGate();
		await using world = await sessionWorld(({ number }) => (number === 1 ? say(BAD) : say(GOOD, { gate })));
		const run = start(world);
		await world.model.nextRequest(({ number }) => number === 2);
		run.abort({ by: "parent" });
		expect(await run.settled).toEqual({ status: "aborted", by: "parent", partialText: BAD });
		gate.open();
	});

	test("is judged after what the child was told while the answer was looked at", async () => {
		await using world = await sessionWorld(inTurn(BAD, '{"files": 3}', '{"files": 4}'));
		let isTold = false;
		const tell = (event: ChildEvent, run: () => Run) => {
			if (event.type !== "idle" || isTold) return;
			isTold = true;
			run().steer("count again");
		};
		const outcome = await start(world, { onEvent: tell }).settled;
		expect(outcome).toMatchObject({ status: "completed", structured: { data: { files: 3 } } });
		expect(world.model.requests[1]?.lastUserText).toBe("count again");
	});
});

test("a run that ends with a tool that needs no answer has completed with what was said with it", async () => {
	await using world = await sessionWorld(() => ({ ...callTool("submit"), text: GOOD }));
	const host = { ...world.host, childTools: () => [lastTool] };
	const spec = { ...world.spec, output: { schema, repairs: 1 } };
	expect(await sessionRunner(host).start(spec, () => undefined).settled).toMatchObject({
		status: "completed",
		text: GOOD,
		structured: { data: { files: 2 } },
	});
	expect(world.model.requests).toHaveLength(1);
});

describe("fallback models", () => {
	const models = { models: [{ id: "one" }, { id: "two" }, { id: "three" }] };

	interface Around {
		settings?: object;
		steer?: string;
		model?: string;
		checkpoint?: Checkpoint;
	}

	async function runWith(script: Rule, { settings = {}, steer, model = "one", checkpoint }: Around = {}) {
		const world = await sessionWorld(script, { settings: { retry: { enabled: false }, ...settings }, model: models });
		const { provider } = world.model.model;
		const events: ChildEvent[] = [];
		const spec = {
			...world.spec,
			model: `${provider}/${model}`,
			fallbackModels: [`${provider}/two`, `${provider}/three`],
		};
		const run = sessionRunner(world.host).start(spec, (event) => events.push(event), checkpoint);
		if (steer !== undefined) run.steer(steer);
		const outcome: Outcome = await run.settled;
		await world[Symbol.asyncDispose]();
		const steps = events.filter((event) => event.type === "falling_back");
		return { outcome, steps, requests: world.model.requests, provider };
	}

	test("take over when the provider fails before anything was done, and read the task once", async () => {
		const { outcome, steps, requests, provider } = await runWith(
			({ model }) => (model === "one" ? fail("401 invalid key") : say("Done.")),
			{ steer: "mind the tests" },
		);
		expect(outcome).toEqual({ status: "completed", text: "Done." });
		expect(steps).toEqual([
			{ type: "falling_back", from: `${provider}/one`, to: `${provider}/two`, error: "401 invalid key" },
		]);
		expect(requests.map(({ model }) => model)).toEqual(["one", "two"]);
		expect(requests[1]?.messages.map(({ role, text }) => [role, text])).toEqual([
			["user", "Look around and report."],
			["user", "mind the tests"],
		]);
		expect(requests[1]?.tools.map(({ name }) => name)).toEqual(requests[0]?.tools.map(({ name }) => name));
	});

	test("are tried in their order, and the last failure is the outcome", async () => {
		const { outcome, steps, requests } = await runWith(({ model }) => fail(`${model} is down`));
		expect(outcome).toEqual({ status: "failed", error: "three is down" });
		expect(steps.map(({ error }) => error)).toEqual(["one is down", "two is down"]);
		expect(requests).toHaveLength(3);
	});

	test("come after pi's own retries", async () => {
		const { outcome, requests } = await runWith(
			({ model }) => (model === "one" ? httpError(503, "overloaded") : say("Done.")),
			{ settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 } } },
		);
		expect(outcome).toMatchObject({ status: "completed" });
		expect(requests.map(({ model }) => model)).toEqual(["one", "one", "one", "two"]);
	});

	test("are not asked when whoever pays says no", async () => {
		const { outcome, requests } = await runWith(() => fail("401 invalid key"), { checkpoint: async () => "end" });
		expect(outcome).toEqual({ status: "failed", error: "401 invalid key" });
		expect(requests.map(({ model }) => model)).toEqual(["one"]);
	});

	test("know what the first one was given, also in a later run", async () => {
		const rule: Rule = ({ model }) => (model === "one" ? fail("401 invalid key") : say("Done."));
		await using world = await sessionWorld(rule, { settings: { retry: { enabled: false } }, model: models });
		const { provider } = world.model.model;
		const word = { role: "user", content: "The word is heliotrope.", timestamp: 1 } as const;
		const spec = {
			...world.spec,
			model: `${provider}/one`,
			fallbackModels: [`${provider}/two`],
			inheritsContext: true,
			[INHERITED]: inheritConversation([word], { contextWindow: 100_000 }),
		};
		const runner = sessionRunner({ ...world.host, sessionDir: () => join(world.dir, "sessions") });
		await runner.start(spec, () => undefined).settled;
		await runner.start({ ...spec, run: 2, task: "And now?" }, () => undefined).settled;
		const texts = world.model.requests.map(({ messages }) => messages.map(({ text }) => text));
		const begun = [
			"The word is heliotrope.",
			expect.stringContaining("So far you have read"),
			"Look around and report.",
		];
		expect(texts).toEqual([begun, begun, [...begun, "Done.", "And now?"], [...begun, "Done.", "And now?"]]);
	});

	test("are not used once a tool has run", async () => {
		const { outcome, steps } = await runWith(({ turn }) => (turn === 1 ? callTool("ls", { path: "." }) : fail("gone")));
		expect(outcome).toMatchObject({ status: "failed", error: "gone" });
		expect(steps).toEqual([]);
	});

	test.each(["prompt is too long: 300000 tokens > 200000 maximum", "This operation was aborted"])(
		"do not help against %j",
		async (error) => {
			const { outcome, steps } = await runWith(() => fail(error));
			expect(outcome).toMatchObject({ status: "failed" });
			expect(steps).toEqual([]);
		},
	);

	test("take the place of a model that is not there any more", async () => {
		const { outcome, steps } = await runWith(() => say("Done."), { model: "nowhere" });
		expect(outcome).toEqual({ status: "completed", text: "Done." });
		expect(steps).toMatchObject([{ error: expect.stringContaining("nowhere is not available") }]);
	});
});
