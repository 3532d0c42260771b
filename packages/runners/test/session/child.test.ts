import { join } from "node:path";
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import { createGate, otherwise, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { createChildSession } from "../../src/session/create-child-session.ts";
import { openConversation } from "../../src/session/history/conversation.ts";
import { SharedResources } from "../../src/session/resources/resources.ts";
import { hookTurns } from "../../src/session/turn-hooks.ts";
import { person } from "../fixtures/person.ts";
import { type SessionWorld, sessionWorld } from "../fixtures/session.ts";
import { put, runToEnd, start, userWorld } from "./user-fixture.ts";

describe("skills of a child", () => {
	const skill = (name: string) => `---\nname: ${name}\ndescription: How to ${name}.\n---\nDo it.\n`;

	async function skilledWorld() {
		const world = await userWorld();
		for (const name of ["bake", "sew"]) await put(join(world.host.agentDir, "skills", name, "SKILL.md"), skill(name));
		const known = () => (world.model.requests.at(-1)?.systemPrompt.match(/How to (\w+)/g) ?? []).sort();
		return { ...world, known };
	}

	test.each([{ extensions: false }, { extensions: ["linter"] }])("are all, none, or those named (%j)", async (spec) => {
		await using world = await skilledWorld();
		await runToEnd(world, { spec });
		expect(world.known()).toEqual(["How to bake", "How to sew"]);
		await runToEnd(world, { spec: { ...spec, skills: false } });
		expect(world.known()).toEqual([]);
		await runToEnd(world, { spec: { ...spec, skills: ["sew"] } });
		expect(world.known()).toEqual(["How to sew"]);
	});

	test.each([{ extensions: false }, { extensions: ["linter"] }])("that are missing fail the run (%j)", async (spec) => {
		await using world = await skilledWorld();
		expect(await runToEnd(world, { spec: { ...spec, skills: ["sew", "fly"] } })).toEqual({
			status: "failed",
			error: 'The agent\'s preset asks for the skill "fly", but there is bake, sew.',
		});
		expect(world.model.requests).toEqual([]);
	});
});

describe("the parent's bus", () => {
	function bus() {
		const heard: { channel: string; data: Record<string, unknown> }[] = [];
		const events = {
			emit: (channel: string, data: unknown) => void heard.push({ channel, data: data as Record<string, unknown> }),
		};
		return { heard, events };
	}

	test("hears of a child's session before anything runs in it, and when it is gone", async () => {
		await using world = await userWorld();
		const { heard, events } = bus();
		const noted: string[][] = [];
		const spy = {
			emit: (channel: string, data: unknown) => {
				events.emit(channel, data);
				noted.push([channel]);
			},
		};
		await runToEnd(world, { spec: { extensions: ["linter"] }, host: { events: spy, parentSessionId: () => "parent" } });
		const sessionId = heard[0]?.data.sessionId;
		expect(sessionId).toEqual(expect.any(String));
		expect(heard).toEqual([
			{ channel: "subagents:child:session-created", data: { sessionId, parentSessionId: "parent" } },
			{ channel: "subagents:child:bound", data: { sessionId } },
			{ channel: "subagents:child:disposed", data: { sessionId } },
		]);
	});

	test("names no parent to a permission system where no one can answer: it would wait for one", async () => {
		await using world = await userWorld();
		const { heard, events } = bus();
		const { ui } = person({ canAnswer: false });
		await runToEnd(world, { host: { events, ui, parentSessionId: () => "parent" } });
		expect(heard[0]).toEqual({
			channel: "subagents:child:session-created",
			data: { sessionId: expect.any(String) },
		});
	});

	test("hears that it is gone also when it failed or was stopped, and no failure of its own ends a run", async () => {
		await using world = await sessionWorld(otherwise(say("never", { gate: createGate() })));
		const { heard, events } = bus();
		const run = start(world, { host: { events } });
		await world.model.nextRequest();
		run.abort({ by: "user" });
		await run.settled;
		expect(heard.map(({ channel }) => channel)).toEqual([
			"subagents:child:session-created",
			"subagents:child:disposed",
		]);
	});

	test("may fail without harm", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		const reports: string[] = [];
		const broken = {
			emit: () => {
				throw new Error("bus is down");
			},
		};
		const host = { events: broken, report: (message: string) => void reports.push(message) };
		expect(await runToEnd(world, { host })).toEqual({ status: "completed", text: "ok" });
		expect(new Set(reports)).toEqual(new Set(["announcing an agent's session: bus is down"]));
	});
});

async function openChild({ host, spec }: SessionWorld, extensions: string[] | false): Promise<AgentSession> {
	const asked = { ...spec, extensions };
	const child = await createChildSession(
		{
			host,
			resources: new SharedResources(),
			conversation: openConversation(host, asked),
			askedAt: performance.now(),
			signal: new AbortController().signal,
			onGuardFailure: (why) => {
				throw new Error(why);
			},
		},
		asked,
	);
	if (!child) throw new Error("it was not opened");
	return child.session;
}

describe("events that no extension handles", () => {
	test("cost a child nothing: no context is made for them, and no request copies the conversation", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		const { extensionRunner: runner } = await openChild(world, false);
		let contexts = 0;
		const { createContext } = runner;
		runner.createContext = () => {
			contexts++;
			return createContext.call(runner);
		};
		const messages = [{ role: "user" as const, content: "hello", timestamp: 0 }];
		expect(await runner.emitContext(messages)).toBe(messages);
		expect(await runner.emit({ type: "turn_start", turnIndex: 0, timestamp: 0 })).toBeUndefined();
		expect(contexts).toBe(0);
	});

	test.each(["context", "context_with_system"])(
		"are no others: a handler of %s changes what the model reads",
		async (type) => {
			await using world = await userWorld();
			const code = `export default (pi) => {
			pi.on("${type}", ({ messages }) => ({ messages: [...messages, { role: "user", content: "Be brief.", timestamp: 0 }] }));
		};`;
			await put(join(world.host.agentDir, "extensions", "brief.ts"), code);
			await runToEnd(world, { spec: { extensions: ["brief"] } });
			expect(world.model.requests.map(({ lastUserText }) => lastUserText)).toEqual(["Be brief."]);
		},
	);
});

test("a pi that is too old to be made to wait between turns is refused, since limits would not hold", async () => {
	await using world = await sessionWorld(otherwise(say("ok")));
	const session = await openChild(world, false);
	Reflect.set(session.agent, "finishTurn", undefined);
	const rules = {
		count: () => undefined,
		afterTurn: async () => "go" as const,
		beforeRetry: async () => undefined,
		isOver: () => false,
		whileAsking: <T>(_request: unknown, ask: (options: object) => T) => ask({}),
		onResponse: () => undefined,
	};
	expect(() => hookTurns(session, rules)).toThrow("Agents need pi 0.87 or newer");
});
