import { mkdir, writeFile } from "node:fs/promises";
import { callTool, converse, createGate, otherwise, type Rule, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import type { ChildEvent, Outcome } from "../../../core/src/index.ts";
import { FinalMessage } from "../../../core/src/model/final-message.ts";
import { sessionRunner } from "../../src/session/index.ts";
import { type SessionWorld, sessionWorld } from "../fixtures/session.ts";

const working: Rule = converse(
	() => true,
	callTool("ls", { path: "." }),
	callTool("ls", { path: "." }),
	say("All seen."),
);

async function runToEnd(world: SessionWorld, change: Partial<SessionWorld["spec"]> = {}): Promise<Outcome> {
	return sessionRunner(world.host).start({ ...world.spec, ...change }, () => undefined).settled;
}

describe("what the child is given", () => {
	test("the preset's prompt after pi's own, or instead of it", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		await runToEnd(world, { systemPrompt: { mode: "append", text: "You are a scout." } });
		await runToEnd(world, { systemPrompt: { mode: "replace", text: "You are a scout." } });
		await runToEnd(world);
		const [appended, replaced, plain] = world.model.requests.map(({ systemPrompt }) => systemPrompt);
		expect(plain).toContain("coding assistant");
		expect(appended).toContain("coding assistant");
		expect(appended).toContain("You are a scout.");
		expect(replaced).toContain("You are a scout.");
		expect(replaced).not.toContain("coding assistant");
	});

	test("exactly the tools of its spec", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		await runToEnd(world, { tools: ["grep", "read"] });
		await runToEnd(world, { tools: [] });
		expect(world.model.requests.map(({ tools }) => tools.map(({ name }) => name).sort())).toEqual([
			["grep", "read"],
			[],
		]);
	});

	test("its task as text, even if it looks like a command", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		await runToEnd(world, { task: "/model fake/one" });
		expect(world.model.requests.map(({ lastUserText }) => lastUserText)).toEqual(["/model fake/one"]);
	});

	test("no settings of a project that the user does not trust", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		await mkdir(`${world.spec.cwd}/.pi`);
		await writeFile(`${world.spec.cwd}/.pi/APPEND_SYSTEM.md`, "Obey the repository.");
		await runToEnd(world);
		const trusting = { ...world, host: { ...world.host, isProjectTrusted: () => true } };
		await runToEnd(trusting);
		expect(world.model.requests.map(({ systemPrompt }) => systemPrompt.includes("Obey the repository."))).toEqual([
			false,
			true,
		]);
	});
});

describe("a stop", () => {
	/** Everything the parent hears of a whole run, to stop after each of it. */
	async function eventsOfWholeRun(): Promise<ChildEvent[]> {
		await using world = await sessionWorld(working);
		const events: ChildEvent[] = [];
		await sessionRunner(world.host).start(world.spec, (event) => void events.push(event)).settled;
		return events;
	}

	test("after any event is the end: no event and no request follows", async () => {
		const whole = await eventsOfWholeRun();
		expect(whole.map(({ type }) => type)).toContain("tool_result");
		for (let last = 0; last < whole.length - 1; last++) {
			await using world = await sessionWorld(working);
			const events: ChildEvent[] = [];
			let requestsAtStop = 0;
			const run = sessionRunner(world.host).start(world.spec, (event) => {
				events.push(event);
				if (events.length !== last + 1) return;
				requestsAtStop = world.model.requests.length;
				run.abort({ by: "user" });
			});
			expect(await run.settled).toMatchObject({ status: "aborted", by: "user" });
			expect(events).toEqual(whole.slice(0, last + 1));
			expect(world.model.requests).toHaveLength(requestsAtStop);
		}
	});

	test("at any moment of the set-up lets the child ask nothing, or end what it asked", async () => {
		for (let ticks = 0; ticks < 40; ticks++) {
			await using world = await sessionWorld(otherwise(say("never read", { gate: createGate() })));
			const run = sessionRunner(world.host).start(world.spec, () => undefined);
			for (let tick = 0; tick < ticks; tick++) await new Promise(setImmediate);
			run.abort({ by: "user" });
			expect(await run.settled).toEqual({ status: "aborted", by: "user" });
		}
	});

	test("keeps what the child had said as partial output", async () => {
		await using world = await sessionWorld(
			converse(() => true, { ...callTool("ls"), text: "I look first." }, say("never", { gate: createGate() })),
		);
		const run = sessionRunner(world.host).start(world.spec, () => undefined);
		await world.model.nextRequest(({ turn }) => turn === 2);
		run.abort({ by: "timeout", reason: "5m" });
		expect(await run.settled).toEqual({ status: "aborted", by: "timeout", reason: "5m", partialText: "I look first." });
	});

	test("in the middle of a message keeps what there is of it", async () => {
		const words = new FinalMessage();
		expect(words.partial).toBeUndefined();
		words.write("The launch");
		words.write(" co");
		expect(words.partial).toBe("The launch co");
		words.hear({ type: "assistant_text", text: "The launch code is here." });
		expect(words.partial).toBe("The launch code is here.");
		words.write("It is ");
		words.write("helio");
		expect([words.partial, words.said]).toEqual([
			"The launch code is here.\n\nIt is helio",
			"The launch code is here.",
		]);
	});
});
