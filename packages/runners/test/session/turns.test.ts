import { callTool, createGate, httpError, onTurn, otherwise, type Rule, say, when } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import type { ChildEvent, Outcome } from "../../../core/src/index.ts";
import type { Checkpoint } from "../../../core/src/model/runner.ts";
import { sessionRunner } from "../../src/session/index.ts";
import { lastTool, type SessionWorld, sessionWorld } from "../fixtures/session.ts";

const look = callTool("ls", { path: "." });
const FAST_RETRY = { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 } };

interface Options {
	checkpoint?: Checkpoint;
	onEvent?: (event: ChildEvent) => void;
}

function start(world: SessionWorld, limits: SessionWorld["spec"]["limits"], { checkpoint, onEvent }: Options = {}) {
	return sessionRunner(world.host).start({ ...world.spec, limits }, (event) => onEvent?.(event), checkpoint);
}

function runToEnd(world: SessionWorld, limits: SessionWorld["spec"]["limits"], options?: Options): Promise<Outcome> {
	return start(world, limits, options).settled;
}

/** Which tools each request offered. */
function offered({ model }: SessionWorld): string[][] {
	return model.requests.map(({ tools }) => tools.map(({ name }) => name).sort());
}

/** Looks around until it is told to finish, and then for so many turns more. */
function curious({ stubborn = 0 } = {}): Rule {
	return (request) => {
		const isTold = request.lastUserText.startsWith("Finish now");
		return isTold && request.turn > stubborn ? say("What I have.") : { ...look, text: `Turn ${request.number}.` };
	};
}

describe("a turn limit", () => {
	test("takes the tools and asks for the answer, which then counts as wrapped up", async () => {
		await using world = await sessionWorld(curious());
		expect(await runToEnd(world, { maxTurns: 2 })).toEqual({
			status: "completed",
			text: "What I have.",
			wrappedUp: true,
		});
		expect(offered(world)).toEqual([["ls", "read"], ["ls", "read"], []]);
		expect(world.model.requests.at(-1)?.lastUserText).toMatch(
			/^Finish now: the turn limit is reached\. .*tools are gone/,
		);
	});

	test("is no limit for who answers in the last turn allowed", async () => {
		await using world = await sessionWorld([when(onTurn(1), look), otherwise(say("Seen."))]);
		expect(await runToEnd(world, { maxTurns: 2 })).toEqual({ status: "completed", text: "Seen." });
		expect(world.model.requests).toHaveLength(2);
	});

	test("is no limit for who ends with a tool that needs no answer", async () => {
		await using world = await sessionWorld(otherwise({ ...callTool("submit"), text: "Submitted." }));
		const host = { ...world.host, childTools: () => [lastTool] };
		await sessionRunner(host).start({ ...world.spec, limits: { maxTurns: 1 } }, () => undefined).settled;
		expect(world.model.requests).toHaveLength(1);
	});

	test("ends who does not listen after the turns of grace, with what was said", async () => {
		await using world = await sessionWorld(curious({ stubborn: 99 }));
		expect(await runToEnd(world, { maxTurns: 1, graceTurns: 2 })).toEqual({
			status: "aborted",
			by: "turns",
			reason: "no answer after 3 turns",
			partialText: "Turn 3.",
		});
		expect(world.model.requests).toHaveLength(3);
	});

	test("gives five turns of grace when nothing else is said, and none when that is said", async () => {
		for (const [grace, turns] of [
			[{}, 6],
			[{ graceTurns: 0 }, 1],
		] as const) {
			await using world = await sessionWorld(curious({ stubborn: 99 }));
			expect(await runToEnd(world, { maxTurns: 1, ...grace })).toMatchObject({ status: "aborted", by: "turns" });
			expect(world.model.requests).toHaveLength(turns);
		}
	});

	test("counts no request that failed and was made again", async () => {
		await using world = await sessionWorld(
			[
				({ number }) => (number === 1 || number === 3 ? httpError(503, "overloaded") : undefined),
				when(onTurn(1), look),
				otherwise(say("Seen.")),
			],
			{ settings: FAST_RETRY },
		);
		expect(await runToEnd(world, { maxTurns: 2, graceTurns: 0 })).toEqual({ status: "completed", text: "Seen." });
	});

	test("does not stop for messages that wait", async () => {
		await using world = await sessionWorld(curious({ stubborn: 99 }));
		const run = start(
			world,
			{ maxTurns: 1, graceTurns: 1 },
			{
				onEvent: ({ type }) => type === "turn" && run.steer("one more thing"),
			},
		);
		expect(await run.settled).toMatchObject({ status: "aborted", by: "turns" });
		expect(world.model.requests).toHaveLength(2);
	});
});

describe("a wish to wrap up", () => {
	test("does not disturb a child that is giving its answer", async () => {
		const gate = createGate();
		await using world = await sessionWorld(otherwise(say("The answer.", { gate })));
		const run = start(world, {});
		await world.model.nextRequest();
		run.wrapUp();
		gate.open();
		expect(await run.settled).toEqual({ status: "completed", text: "The answer." });
		expect(world.model.requests).toHaveLength(1);
	});

	test("before the child exists leaves it without tools from the start", async () => {
		await using world = await sessionWorld(curious());
		const run = start(world, {});
		run.wrapUp("nobody needs it any more.");
		expect(await run.settled).toEqual({ status: "completed", text: "What I have.", wrappedUp: true });
		expect(offered(world)).toEqual([[]]);
		expect(world.model.requests[0]?.lastUserText).toMatch(/^Finish now: nobody needs it any more\. Your/);
	});

	test("comes through at once, however many other messages wait", async () => {
		const gate = createGate();
		await using world = await sessionWorld(({ number }) => (number === 1 ? { ...look, gate } : say("ok")));
		const run = start(world, {});
		await world.model.nextRequest();
		for (const message of ["one", "two", "three"]) run.steer(message);
		run.wrapUp();
		gate.open();
		expect(await run.settled).toMatchObject({ wrappedUp: true });
		expect(world.model.requests).toHaveLength(2);
	});

	test("given at a checkpoint counts before the next request", async () => {
		await using world = await sessionWorld(curious());
		const run = start(
			world,
			{},
			{
				checkpoint: async () => {
					run.wrapUp("the budget is used up");
					return "go";
				},
			},
		);
		expect(await run.settled).toMatchObject({ text: "What I have.", wrappedUp: true });
		expect(world.model.requests).toHaveLength(2);
	});
});

describe("a checkpoint", () => {
	test("is passed before a failed request is made again", async () => {
		const seen: string[] = [];
		await using world = await sessionWorld(
			(request) => (request.number === 1 ? httpError(503, "overloaded") : say("At last.")),
			{ settings: FAST_RETRY },
		);
		const outcome = await runToEnd(
			world,
			{},
			{
				onEvent: ({ type }) => seen.push(type),
				checkpoint: async () => {
					seen.push(`checkpoint after ${world.model.requests.length}`);
					return "go";
				},
			},
		);
		expect(outcome).toEqual({ status: "completed", text: "At last." });
		expect(seen.slice(seen.indexOf("retrying"))).toEqual([
			"retrying",
			"checkpoint after 1",
			"assistant_text",
			"usage",
			"turn",
			"idle",
		]);
	});

	test("that ends the run there leaves the failure as its outcome", async () => {
		await using world = await sessionWorld(otherwise(httpError(503, "overloaded")), { settings: FAST_RETRY });
		const outcome = await runToEnd(world, {}, { checkpoint: async () => "end" });
		expect(outcome).toEqual({ status: "failed", error: "503 overloaded" });
		expect(world.model.requests).toHaveLength(1);
	});

	test("at which it is stopped lets no request pass", async () => {
		await using world = await sessionWorld(otherwise(httpError(503, "overloaded")), { settings: FAST_RETRY });
		const run = start(
			world,
			{},
			{
				checkpoint: () => {
					run.abort({ by: "user" });
					return new Promise(() => {});
				},
			},
		);
		expect(await run.settled).toEqual({ status: "aborted", by: "user" });
		expect(world.model.requests).toHaveLength(1);
	});

	test("that ends the run keeps what was said as partial, and asks for no summary of it", async () => {
		await using world = await sessionWorld(
			otherwise({ ...look, text: "I look first.", usage: { input: 19_900, output: 10 } }),
			{
				settings: { compaction: { enabled: true, reserveTokens: 1_000, keepRecentTokens: 1 } },
				model: { models: [{ id: "small", contextWindow: 20_000 }] },
			},
		);
		const seen: string[] = [];
		const run = start(world, {}, { checkpoint: async () => "end", onEvent: ({ type }) => void seen.push(type) });
		run.steer("and then the docs");
		expect(await run.settled).toEqual({
			status: "failed",
			error: "The agent ended while it was still using tools.",
			partialText: "I look first.",
		});
		expect(world.model.requests).toHaveLength(1);
		expect(seen.slice(seen.indexOf("tool_result"))).toEqual(["tool_result", "turn", "idle"]);
	});
});

test("a message that comes when the child has just finished is one more thing to do", async () => {
	await using world = await sessionWorld((request) => say(`Re: ${request.lastUserText}`));
	let isSteered = false;
	const run = start(
		world,
		{},
		{
			onEvent: ({ type }) => {
				if (type === "idle" && !isSteered) run.steer("one more thing");
				if (type === "idle") isSteered = true;
			},
		},
	);
	expect(await run.settled).toEqual({ status: "completed", text: "Re: one more thing" });
});
