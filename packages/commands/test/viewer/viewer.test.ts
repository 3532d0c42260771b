import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { initTheme } from "@earendil-works/pi-coding-agent";
import { beforeAll, describe, expect, test } from "vitest";
import { AgentConversation } from "../../src/viewer/viewer-source.ts";
import { spec } from "../fixture.ts";
import { said, world } from "./fixture.ts";

const ESCAPE = "\u001b";
const ENTER = "\r";

beforeAll(() => initTheme("dark"));

describe("the viewer of an agent", () => {
	test("shows its conversation, what is added, and its place in the tree", async () => {
		await using it = await world();
		const { id } = it.launch();
		await it.writeConversation(id, said("I look around."));
		const closed = it.open(id);
		expect(await it.shows("I look around.")).toMatch(/scout.*● live/s);
		await it.writeConversation(id, said("I have found it."));
		it.runner.runs[0]?.emit({ type: "turn" });
		it.clock.advance(100);
		await it.shows("I have found it.");
		it.press(ESCAPE);
		await closed;
		expect([it.overlays, it.told, it.clock.waiting()]).toEqual([[], [], 0]);
	});

	test("a workflow is paused and continued, and its agents are skipped and retried, with a key", async () => {
		await using it = await world();
		const flow = it.launch({ runner: "workflow", type: "workflow" });
		const child = it.launch({}, flow.id);
		const done: string[] = [];
		let isPaused = false;
		const control = {
			state: () => ({ isPaused }),
			pause() {
				isPaused = true;
				done.push("pause");
			},
			continue() {
				isPaused = false;
				done.push("continue");
			},
			decide: (record: { id: string }, what: string, which: string) => {
				done.push(`${what} ${which} of ${record.id}`);
				return { label: "a.ts" };
			},
		};
		it.deps.workflows = { load: async () => control as never };
		void it.open(flow.id);
		await it.shows("p pause");
		it.press("p");
		await it.shows("It launches no more agents");
		await it.shows("p continue");
		it.press("p");
		await it.shows("It launches agents again");
		await it.shows("p pause");
		it.press(ESCAPE);
		void it.open(child.id);
		await it.shows("S skip");
		it.press("S");
		await it.shows("Skipped: a.ts");
		it.press("r");
		await it.shows("Runs again: a.ts");
		expect(done).toEqual(["pause", "continue", `skip ${child.id} of ${flow.id}`, `retry ${child.id} of ${flow.id}`]);
	});

	test("streams thinking and text while the agent writes, until the message is in its conversation", async () => {
		await using it = await world();
		const { id } = it.launch();
		await it.writeConversation(id, said("I look around."));
		void it.open(id);
		await it.shows("I look around.");
		const [run] = it.runner.runs;
		run?.write({ block: 0, kind: "thinking", offset: 0, text: "The door may " });
		run?.write({ block: 0, kind: "thinking", offset: 13, text: "be locked.", isFinal: true });
		run?.write({ block: 1, kind: "text", offset: 0, text: "It is the left" });
		const live = await it.shows("It is the left");
		expect(live.indexOf("I look around.")).toBeLessThan(live.indexOf("The door may be locked."));
		run?.write({ block: 1, kind: "text", offset: 14, text: " door.", isFinal: true });
		await it.shows("It is the left door.");
		await it.writeConversation(id, said("It is the left door."));
		run?.emit({ type: "assistant_text", text: "It is the left door." });
		it.clock.advance(100);
		await expect.poll(() => it.screen()).not.toContain("The door may be locked.");
		// Its place in the tree above says so, too.
		expect(it.screen().match(/^│ {3}It is the left door\./gm)).toHaveLength(1);
	});

	test("says which models could not be used, on one line", async () => {
		await using it = await world();
		const { id } = it.launch({ model: "x/a" });
		it.runner.runs[0]?.emit({ type: "falling_back", from: "x/a", to: "y/b", error: `no\nkey ${"x".repeat(200)}` });
		void it.open(id);
		const screen = await it.shows("y/b, after x/a failed (no key xxx");
		expect(screen.split("\n").every((line) => line.length <= 80)).toBe(true);
	});

	test("waits for an agent that has not answered, and shows its first words without an event", async () => {
		await using it = await world();
		const { id } = it.launch();
		void it.open(id);
		expect(await it.shows("No answer yet.")).toContain("Task: Find the launch code.");
		await it.writeConversation(id, said("Hello."));
		it.clock.advance(1_000);
		await it.shows("Hello.");
		expect(it.told).toEqual([]);
	});

	test("shows the progress of a run until its conversation is there, then that, and that of a later run", async () => {
		await using it = await world();
		const runsDir = join(it.dir, "runs");
		const write = (run: string, file: string, text: string) => writeFile(join(runsDir, run, file), text, { flag: "a" });
		await mkdir(join(runsDir, "a1"), { recursive: true });
		await write("a1", "transcript.log", "Reading a.ts\nFinished reading a.ts\n");
		const { id } = it.launch({ runner: "process", runsDir });
		void it.open(id);
		await it.shows("· Reading a.ts");
		await write("a1", "transcript.log", "Reading b.ts\n");
		it.clock.advance(1_000);
		await it.shows("· Reading b.ts");
		await write("a1", "child-session.jsonl", said("The answer."));
		it.clock.advance(1_000);
		expect(await it.shows("The answer.")).not.toContain("· Reading");

		it.runner.runs[0]?.answer("The answer.");
		await it.manager.wait(id);
		await mkdir(join(runsDir, "a1-2"));
		await write("a1-2", "child-session.jsonl", said("The answer.") + said("Another answer."));
		it.manager.resume(id, { ...spec, runner: "process", runsDir });
		it.clock.advance(100);
		expect(await it.shows("Another answer.")).toContain("● live");
	});

	test("shows the end of what a failed check printed behind the conversation, until the next run", async () => {
		await using it = await world();
		const { id } = it.launch();
		await it.writeConversation(id, said("Mended."));
		void it.open(id);
		await it.shows("Mended.");
		const verification = { ok: false, command: "npm test", tail: "not ok 3\n1 test failed" };
		const error = "Not verified: npm test exited with code 1 (2s)";
		it.runner.runs[0]?.settle({ status: "failed", error, partialText: "Mended.", verification });
		await it.manager.wait(id);
		it.clock.advance(100);
		expect(await it.shows("1 test failed")).toMatch(
			/Mended\.[\s\S]*✗ Failed: Not verified: npm test exited with code 1[\s\S]*not ok 3/,
		);
		it.manager.resume(id, { ...spec });
		await it.writeConversation(id, said("Once more."));
		it.clock.advance(1_000);
		await it.shows("Once more.");
		await expect.poll(() => it.screen()).not.toContain("1 test failed");
		expect(it.screen()).toContain("Once more.");
		expect(it.told).toEqual([]);
	});

	test("of one that has settled has no timer, and says that its conversation was not kept", async () => {
		await using it = await world();
		const { id } = it.launch();
		it.runner.runs[0]?.answer("Done.");
		await it.manager.wait(id);
		void it.open(id);
		await it.shows("Its conversation was not kept.");
		expect(it.clock.waiting()).toBe(0);
	});

	test("never says that a conversation was not kept while it is being read", async () => {
		await using it = await world();
		const { id } = it.launch();
		await it.writeConversation(id, said("I have found it."));
		it.runner.runs[0]?.answer("I have found it.");
		await it.manager.wait(id);
		void it.open(id);
		const first = await it.shows(/\S/);
		expect(first).toMatch(/Reading the conversation …|I have found it\./);
		await it.shows("I have found it.");
	});

	test("steers, stops and answers as the user", async () => {
		await using it = await world();
		const { id } = it.launch();
		void it.open(id);
		await it.shows("s steer");
		it.press("s", ..."Use pnpm.", ENTER);
		await it.shows("Message sent");
		expect(it.runner.runs[0]?.steers).toEqual(["Use pnpm."]);
		const answer = it.manager.ask(id, { question: "Which colour?" });
		await it.shows("? Which colour?");
		it.press("a", ..."red", ENTER);
		expect(await answer).toEqual({ by: "user", text: "red" });
		await it.shows("Answer sent");
		it.press("x", "x");
		await it.shows("Stopped");
		expect(it.manager.store.record(id)?.outcome).toMatchObject({ status: "aborted", by: "user" });
	});

	test("gives no answer to a question that was not on the screen", async () => {
		await using it = await world();
		const { id } = it.launch();
		void it.open(id);
		const first = it.manager.ask(id, { question: "Which colour?" });
		await it.shows("? Which colour?");
		it.press("a", "r", "e", "d");
		it.manager.answer(id, "blue", "session");
		await first;
		const second = it.manager.ask(id, { question: "Which colour?" });
		it.press(ENTER);
		await it.shows("It is no longer waiting for this answer.");
		expect(it.manager.questions()).toHaveLength(1);
		it.manager.answer(id, "green", "user");
		expect(await second).toEqual({ by: "user", text: "green" });
	});

	test("copies the path of the conversation, or says that there is none yet", async () => {
		await using it = await world();
		const { id } = it.launch();
		void it.open(id);
		await it.shows("? keys");
		it.press("y");
		await it.shows("There is no file yet.");
		const file = await it.writeConversation(id, said("Hello."));
		it.clock.advance(1_000);
		await it.shows("Hello.");
		it.press("y");
		await it.shows("Copied ");
		expect(it.copied).toEqual([file]);
	});

	test("goes to the agents that it launched, and back to the one that launched it", async () => {
		await using it = await world();
		const parent = it.launch({ description: "the whole" });
		const child = it.launch({ description: "a part" }, parent.id);
		await it.writeConversation(child.id, said("I am the child."));
		const closed = it.open(parent.id);
		await it.shows("←→ agent");
		it.press("o");
		await it.shows(/→ ↓ scout a2 running: a part/);
		it.press(ENTER);
		await it.shows("I am the child.");
		expect(it.overlays).toHaveLength(1);
		it.press("o");
		await it.shows(/→ ↑ scout a1 running: the whole/);
		it.press(ENTER);
		await it.shows("No answer yet.");
		it.press(ESCAPE);
		await closed;
	});

	test("lets go of everything when pi has taken it away without a word", async () => {
		await using it = await world();
		const { id } = it.launch();
		await it.writeConversation(id, said("Hello."));
		void it.open(id);
		await it.shows("Hello.");
		it.switchSession();
		it.clock.advance(1_000);
		const renders = it.renders();
		it.runner.runs[0]?.emit({ type: "turn" });
		it.clock.advance(5_000);
		expect([it.renders(), it.clock.waiting()]).toEqual([renders, 0]);
	});

	test("needs pi's own screen, and an agent that exists", async () => {
		await using it = await world();
		const { id } = it.launch();
		Object.assign(it.ctx, { mode: "rpc" });
		await expect(it.open(id)).rejects.toThrow(`Use /subagent view ${id} instead`);
		await expect(it.open("nobody")).rejects.toThrow('There is no agent "nobody"');
	});

	test("reads a few screens of a conversation of 30 MB, at its end, at its start and where something is found", async () => {
		await using it = await world();
		const { id } = it.launch();
		const filler = "some words of an answer that is long, ".repeat(25);
		const batch = 1_000;
		for (let from = 0; from < 30_000; from += batch) {
			const texts = Array.from({ length: batch }, (_, place) => `Entry ${from + place}: ${filler}`);
			await it.writeConversation(id, texts.map(said).join(""));
		}
		let entries = 0;
		const read = AgentConversation.prototype.read;
		AgentConversation.prototype.read = function (from, count) {
			entries += count;
			return read.call(this, from, count);
		};
		try {
			void it.open(id);
			await it.shows("Entry 29999:");
			it.press("g");
			await it.shows("Entry 0:");
			expect(entries).toBeLessThan(200);
			it.press("/", ..."Entry 3000:", ENTER);
			await it.shows("Entry 3000:");
			expect(entries).toBeLessThan(3_500);
		} finally {
			AgentConversation.prototype.read = read;
		}
	});
});
