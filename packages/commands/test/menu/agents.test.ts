/** `/agents`: what a person does with agents there. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { spec } from "../fixture.ts";
import { type World, world } from "./fixture.ts";

let it: World;
beforeAll(async () => {
	it = await world();
});
afterAll(() => it[Symbol.asyncDispose]());

const launch = (task = "Look around.") =>
	it.manager.spawn({ ...spec, task, description: task }, { isBackground: true });
const record = (id: string) => it.manager.store.record(id);

test("the first level counts, and Escape leaves each level", async () => {
	const { id } = launch();
	it.manager.abort(id, { by: "user" });
	launch();
	const top = "Agents\nThis session | Presets (7) | Scheduled jobs (0) | Worktrees | Everywhere | Settings";
	expect(await it.runMenu({ choose: "session" }, "back")).toEqual([
		top,
		"Agents › This session\n⠋ scout agent2 | ■ scout agent1",
		top,
	]);
});

test("an agent is stopped only after a yes, with all that it launched", async () => {
	const { id } = launch();
	const child = it.manager.spawn(spec, { parentAgentId: id });
	const way = [{ choose: "session" }, { choose: id }, { choose: "Stop" }] as const;
	const shown = await it.runMenu(...way, { say: "no" });
	expect(shown).toContain(`Stop scout ${id}?\nLook around.\n1 sub-agent will stop with it. Its output so far is kept.`);
	expect(record(id)?.outcome).toBeUndefined();
	await it.runMenu(...way, { say: "yes" });
	expect([record(id)?.outcome, record(child.id)?.outcome]).toEqual([
		expect.objectContaining({ status: "aborted", by: "user" }),
		expect.objectContaining({ status: "aborted" }),
	]);
});

test("one that ends while the question is open is not stopped twice", async () => {
	const { id } = launch();
	const run = it.runner.runs.at(-1);
	const shown = await it.runMenu(
		{ choose: "session" },
		{ choose: id },
		{ choose: "Stop" },
		async () => {
			run?.answer("done");
			await it.manager.wait(id);
		},
		{ say: "yes" },
	);
	expect(shown).toContain(`info: scout ${id} had already ended.`);
	expect(record(id)?.outcome).toMatchObject({ status: "completed" });
});

test("steering wants words", async () => {
	const { id } = launch();
	await it.runMenu(
		{ choose: "session" },
		{ choose: id },
		{ choose: "Steer" },
		{ type: "  " },
		{ choose: "Steer" },
		{ type: "Left!" },
	);
	expect(it.runner.runs.at(-1)?.steers).toEqual(["Left!"]);
});

test("a settled agent goes on in the background, with its own preset", async () => {
	const { id } = it.manager.spawn({ ...spec, type: "Explore" });
	it.manager.abort(id, { by: "user" });
	const shown = await it.runMenu({ choose: "session" }, { choose: id }, { choose: "Resume" }, { type: "Look again." });
	expect(shown).toContain(`info: Explore ${id} is running again (run ${id}-2); the result will appear here.`);
	expect(record(id)).toMatchObject({ status: "running", run: 2, isBackground: true, task: "Look again." });
	expect(it.runner.runs.at(-1)?.spec).toMatchObject({ type: "Explore", tools: ["read", "grep", "find", "ls"] });
});

test("an answer reaches the question that was shown, and no other", async () => {
	const { id } = launch();
	const first = it.manager.ask(id, { question: "Which door?", context: "There are two." });
	const way = [{ choose: "session" }, { choose: id }, { choose: "Answer" }] as const;
	expect(await it.runMenu(...way, { type: "the left one" })).toContainEqual(
		expect.stringMatching(
			new RegExp(`^scout ${id} asks\\nWhich door\\?\\n\\n.*There are two\\.\\nesc: it keeps waiting$`),
		),
	);
	expect(await first).toEqual({ by: "user", text: "the left one" });

	const second = it.manager.ask(id, { question: "Which key?" });
	let third: Promise<unknown> | undefined;
	const shown = await it.runMenu(
		...way,
		async () => {
			it.manager.answer(id, "the small one", "session");
			await second;
			third = it.manager.ask(id, { question: "Burn the house down?" });
		},
		{ type: "yes" },
	);
	expect(shown).toContain(`error: scout ${id} is no longer waiting for this answer.`);
	expect(record(id)?.question).toBe("Burn the house down?");
	it.manager.decline(id);
	await third;
});

test("what an agent did can be read, and the path of its files copied", async () => {
	const { id } = it.manager.spawn({ ...spec, runsDir: "/project/.pi/subagents/runs" });
	const shown = await it.runMenu(
		{ choose: "session" },
		{ choose: id },
		{ choose: "Details" },
		{ choose: "Copy the path of its files" },
	);
	expect(shown).toContainEqual(expect.stringMatching(new RegExp(`^scout ${id}\nscout ${id}: Find the launch code`)));
	expect(shown).toContain(`copied /project/.pi/subagents/runs/${id}`);
});

test("on the screen, Enter opens the conversation, and each key acts on the agent it is pressed on", async () => {
	await using screen = await world({ isOnScreen: true });
	const { manager, runner } = screen;
	const { id } = manager.spawn(spec, { isBackground: true });
	const child = manager.spawn({ ...spec, type: "Explore" }, { parentAgentId: id });
	const list = `Agents › This session\n⠋ scout ${id} | └ ⠋ Explore ${child.id}`;
	const shown = await screen.runMenu(
		{ choose: "session" },
		{ choose: id },
		{ choose: child.id, press: "s" },
		{ type: "Left!" },
		{ choose: child.id, press: "x" },
		{ say: "yes" },
		{ choose: child.id, press: "r" },
		{ type: "Again." },
	);
	expect(shown.filter((each) => each.startsWith("Agents › This"))[0]).toBe(list);
	expect(shown).toContain(`the conversation of ${id}`);
	expect(runner.runs[1]?.steers).toEqual(["Left!"]);
	expect(manager.store.record(child.id)).toMatchObject({ status: "running", run: 2, task: "Again." });
	for (const press of ["r", "d"])
		expect(await screen.runMenu({ choose: "session" }, { choose: id, press })).toContainEqual(
			expect.stringContaining(`"${press}" does nothing`),
		);
});
