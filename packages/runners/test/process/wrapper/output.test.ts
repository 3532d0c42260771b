import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool, gatePis, httpError, isFullRun, type Rule, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { INHERITED } from "../../../../core/src/index.ts";
import { spec as anySpec } from "../../../../core/test/fixtures/events.ts";
import { RUN_FILES } from "../../../../runs/src/format/layout.ts";
import { inheritConversation, inheritedEntries } from "../../../src/session/history/inherited.ts";
import { sessionText } from "../../../src/session/history/session-text.ts";
import { fakeWorld } from "./fixture.ts";
import { piWorld, processesOf } from "./pi-fixture.ts";

const schema = { type: "object", properties: { files: { type: "number" } }, required: ["files"] };
const output = { schema, repairs: 1 };
const BAD = 'I counted. {"files": "two"}';

const inTurn =
	(...answers: string[]): Rule =>
	({ number }) =>
		say(answers[Math.min(number, answers.length) - 1] ?? "");

/** What is left to the full run is shown for sessions too, which have the same conversation loop. */
describe.each(await gatePis())("an answer of pi $version that must match a schema", (pi) => {
	test("is asked for with the task, mended once, and kept as data", async () => {
		await using world = await piWorld(pi, inTurn(BAD, 'So: {"files": 2}'), { spec: { output } });
		const { result, stderr } = await world.run();
		expect(stderr).toBe("");
		expect(result?.outcome).toEqual({
			status: "completed",
			text: 'So: {"files": 2}',
			structured: { ok: true, data: { files: 2 }, preview: '{"files": 2}' },
		});
		const { requests } = world.server;
		expect(requests[0]?.lastUserText).toContain(JSON.stringify(schema));
		expect(requests[1]?.lastUserText).toMatch(/- \/files must be number/);
		expect(requests).toHaveLength(2);
		expect(await processesOf(world.runDir)).toEqual([]);
	});

	if (isFullRun)
		test("is a failure when it never does", async () => {
			await using world = await piWorld(pi, inTurn(BAD), { spec: { output } });
			const { result } = await world.run();
			expect(result?.outcome).toMatchObject({
				status: "failed",
				error: "The answer does not match its schema: /files must be number.",
				partialText: BAD,
				structured: { ok: false, validationErrors: [{ path: "/files", message: "must be number" }] },
			});
			expect(world.server.requests).toHaveLength(2);
		});

	if (isFullRun)
		test("is not mended beyond the turns it has", async () => {
			const spec = { output, limits: { maxTurns: 1, graceTurns: 0 } };
			await using world = await piWorld(pi, inTurn(BAD, '{"files": 2}'), { spec });
			expect((await world.run()).result?.outcome).toMatchObject({ status: "failed", structured: { ok: false } });
			expect(world.server.requests).toHaveLength(1);
		});

	if (isFullRun)
		test("is not mended when whoever pays says no", async () => {
			await using world = await piWorld(pi, inTurn(BAD, '{"files": 2}'), { spec: { output } });
			await world.watch();
			const { ended } = world.start();
			const { id } = await world.saw("checkpoint");
			await world.tell({ type: "pass", id, word: "end" });
			expect((await ended).result?.outcome).toMatchObject({ status: "failed", structured: { ok: false } });
			expect(world.server.requests).toHaveLength(1);
		});
});

describe.each(await gatePis())("the fallback models of pi $version", (pi) => {
	const bench = { models: [{ id: "one" }, { id: "two" }, { id: "three" }] };
	const spec = { model: "fake/one", fallbackModels: ["fake/gone", "fake/two", "fake/three"] };

	test("take over when the provider fails before anything was done, and read the task once", async () => {
		const rule: Rule = ({ model }) => (model === "one" ? httpError(401, "invalid key") : say("Done."));
		await using world = await piWorld(pi, rule, { bench, spec });
		await world.tell({ type: "steer", message: "mind the tests" });
		const { result } = await world.run();
		expect(result).toMatchObject({ outcome: { status: "completed", text: "Done." }, resolvedModel: "fake/two" });
		const { requests } = world.server;
		expect(requests.map(({ model }) => model)).toEqual(["one", "two"]);
		expect(requests[1]?.messages.map(({ text }) => text)).toEqual(["Look around and report.", "mind the tests"]);
		expect(requests[1]?.tools.map(({ name }) => name)).toEqual(["ls", "ask_main_session"]);
		const steps = (await world.events()).filter(({ type }) => type === "falling_back");
		expect(steps).toMatchObject([
			{ from: "fake/one", to: "fake/gone", error: expect.stringContaining("401") },
			{ from: "fake/gone", to: "fake/two", error: expect.stringContaining("gone") },
		]);
	});

	test("take over from one that broke off, and neither read nor repeat what it had begun", async () => {
		const cut = { kind: "cut", afterChunks: 3 } as const;
		const half = { text: "I will ".repeat(100), toolCalls: [{ name: "ls", args: { path: "." } }], fault: cut };
		const rule: Rule = ({ model }) => (model === "one" ? half : say("Done."));
		await using world = await piWorld(pi, rule, { bench, spec: { ...spec, fallbackModels: ["fake/two"] } });
		const { result } = await world.run();
		expect(result).toMatchObject({ outcome: { status: "completed", text: "Done." }, toolUses: 0 });
		const last = world.server.requests.at(-1);
		expect(last?.model).toBe("two");
		expect(last?.messages.map(({ text }) => text)).toEqual(["Look around and report."]);
	});

	test("take the place of a model that pi itself does not know", async () => {
		const unknown = { model: "nowhere/one", fallbackModels: ["elsewhere/one", "fake/two"] };
		await using world = await piWorld(pi, () => say("Done."), { bench, spec: unknown });
		await world.tell({ type: "steer", message: "mind the tests" });
		const { result } = await world.run();
		expect(result).toMatchObject({ outcome: { status: "completed", text: "Done." }, resolvedModel: "fake/two" });
		const { requests } = world.server;
		expect(requests.map(({ model }) => model)).toEqual(["two"]);
		expect(requests[0]?.messages.map(({ text }) => text)).toEqual(["Look around and report.", "mind the tests"]);
		const steps = (await world.events()).filter(({ type }) => type === "falling_back");
		expect(steps).toMatchObject([
			{ from: "nowhere/one", to: "elsewhere/one", error: 'Model "nowhere/one" not found' },
			{ from: "elsewhere/one", to: "fake/two", error: 'Model "elsewhere/one" not found' },
		]);
		expect(await processesOf(world.runDir)).toEqual([]);
	});

	if (isFullRun)
		test("are not asked when whoever pays says no", async () => {
			const rule: Rule = ({ model }) => (model === "one" ? httpError(401, "invalid key") : say("Done."));
			await using world = await piWorld(pi, rule, { bench, spec: { ...spec, fallbackModels: ["fake/two"] } });
			await world.watch();
			const { ended } = world.start();
			const { id } = await world.saw("checkpoint");
			await world.tell({ type: "pass", id, word: "end" });
			expect((await ended).result?.outcome).toMatchObject({ status: "failed", error: expect.stringContaining("401") });
			expect(world.server.requests.map(({ model }) => model)).toEqual(["one"]);
		});

	if (isFullRun)
		test("begin with the conversation that the first one was given", async () => {
			const rule: Rule = ({ model }) => (model === "one" ? httpError(401, "invalid key") : say("Done."));
			await using world = await piWorld(pi, rule, { bench, spec });
			const word = { role: "user", content: "The word is heliotrope.", timestamp: 1 } as const;
			const begun = {
				...anySpec,
				cwd: world.env.cwd,
				[INHERITED]: inheritConversation([word], { contextWindow: 100_000 }),
			};
			const entries = inheritedEntries(begun, { id: crypto.randomUUID(), at: 1 });
			await writeFile(join(world.runDir, RUN_FILES.session), sessionText(entries));
			expect((await world.run()).result?.outcome).toMatchObject({ status: "completed" });
			const [first, second] = world.server.requests;
			expect(second?.messages).toEqual(first?.messages);
			expect(second?.messages.map(({ text }) => text)).toEqual([
				"The word is heliotrope.",
				expect.stringContaining("So far you have read"),
				"Look around and report.",
			]);
		});

	if (isFullRun)
		test("are not used once a tool has run", async () => {
			const rule: Rule = ({ turn }) => (turn === 1 ? callTool("ls", { path: "." }) : httpError(401, "invalid key"));
			await using world = await piWorld(pi, rule, { bench, spec });
			expect((await world.run()).result?.outcome).toMatchObject({
				status: "failed",
				error: expect.stringContaining("401"),
			});
			expect((await world.events()).some(({ type }) => type === "falling_back")).toBe(false);
		});
});

test("a pi that refuses the task is asked with the next model", async () => {
	await using world = await fakeWorld("refuses", { spec: { fallbackModels: ["other/two"] } });
	const { result } = await world.run();
	expect(result?.outcome).toEqual({ status: "failed", error: "No API key found for fake." });
	expect((await world.events()).filter(({ type }) => type === "falling_back")).toMatchObject([
		{ from: "fake/one", to: "other/two", error: "No API key found for fake." },
	]);
	expect(await world.heard()).toEqual(["Look around and report.", "/subagent-anew", "Look around and report."]);
});
