import { join } from "node:path";
import { createGate, otherwise, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { sessionWorld } from "../fixtures/session.ts";
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
