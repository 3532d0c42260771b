/** Jobs of a session and of a project: kept, fired, told and gone. */
import { existsSync } from "node:fs";
import { readdir, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { workflowJob } from "@pi-subagents/launch";
import { expect, test } from "vitest";
import { place } from "./fixture.ts";

type Session = Awaited<ReturnType<Awaited<ReturnType<typeof place>>["session"]>>;

/** Stores and presets are read meanwhile: a timer that is set only then fires, too. */
const until = (session: Session, look: () => boolean | Promise<boolean>) =>
	expect
		.poll(
			() => {
				session.clock.advance(0);
				return look();
			},
			{ interval: 5 },
		)
		.toBe(true);

/** The agents that were launched so far. */
const agents = ({ manager }: Session) => manager.store.snapshot().records;

/** Time passes until the job has launched its agent. */
async function fires(session: Session, ms: number, count = 1) {
	session.clock.advance(ms);
	await until(session, () => agents(session).length >= count);
	return agents(session)[count - 1]?.id ?? "";
}

test("a call with a schedule launches nothing, and says when it will, and how it is managed", async () => {
	await using it = await place();
	const session = await it.session();
	const text = await session.schedule("0 9 * * 1; zone=UTC");
	const { job } = await session.job();
	expect(agents(session)).toEqual([]);
	expect(text).toContain(`Job ${job.id} "look" is scheduled`);
	expect(text).toContain("Next: Mon 1970-01-05 09:00, Mon 1970-01-12 09:00, Mon 1970-01-19 09:00.");
	expect(text).toContain("Nothing was launched now. It belongs to this session");
	expect(text).toContain("/agents, under Scheduled jobs");
});

test.each([
	["soon", {}, /soon/],
	["5m", { preset: "nobody" }, /There is no preset "nobody"/],
	["5m", { model: "gigantic" }, /gigantic/],
	["5m", { name: "n".repeat(101) }, /name is too long/],
	["5m; project", {}, /only if you trust the project/],
])("%s with %o fails at once, and keeps nothing", async (when, more, message) => {
	await using it = await place();
	const session = await it.session();
	await expect(session.schedule(when, more)).rejects.toThrow(message);
	expect(await session.schedules.list(session.ctx)).toEqual([]);
});

test("an agent that inherits a conversation cannot be scheduled", async () => {
	await using it = await place();
	await it.write("project/.pi/agents/heir.md", "---\ndescription: heir\ninherit_context: true\n---\nGo on.\n");
	const session = await it.session();
	await expect(session.schedule("5m", { preset: "heir" })).rejects.toThrow(/cannot inherit a conversation/);
});

test.each([
	[{ resume: "a1" }, /`schedule` cannot go with `resume`/],
	[{ run_in_background: false }, /`schedule` cannot go with `run_in_background: false`/],
	[{ thinking: "deeply" }, /no thinking level/],
])("the tool refuses a schedule with %o", async (more, message) => {
	await using it = await place();
	const session = await it.session();
	await expect(session.call({ schedule: "5m", ...more })).rejects.toThrow(message);
	expect(await session.schedules.list(session.ctx)).toEqual([]);
});

test("the tool takes a blank schedule for none", async () => {
	await using it = await place();
	const session = await it.session();
	await session.call({ schedule: " " });
	expect(agents(session)).toMatchObject([{ status: "running", description: "look" }]);
});

test("what the answer must look like is kept with the call", async () => {
	await using it = await place();
	const session = await it.session();
	const outputSchema = { type: "object", properties: { doors: { type: "integer" } } };
	await session.schedule("+10m", { outputSchema, thinking: "low", maxTurns: 3 });
	const id = await fires(session, 600_000);
	expect(session.manager.specOf(id)).toMatchObject({
		output: { schema: outputSchema },
		thinking: "low",
		limits: { maxTurns: 3 },
	});
});

test("a job that is due launches its agent in the background, with a name for lists, and its result is told", async () => {
	await using it = await place();
	const session = await it.session();
	await session.schedule("+10m", { name: "watch" });
	const id = await fires(session, 600_000);
	const launched = { isBackground: true, launchedBy: "schedule", task: "Look around." };
	expect(agents(session)).toMatchObject([
		{ id, name: "watch", type: "Explore", description: "look (scheduled)", ...launched },
	]);
	await session.answer(id, "Two doors.");
	await until(session, () => session.sent.length > 0);
	expect(session.sent).toMatchObject([{ startsTurn: true, content: expect.stringContaining("Two doors.") }]);
	await until(session, async () => (await session.job()).job.history[0]?.result === "done");
	expect((await session.job()).job.history[0]?.note).toContain(`agent ${id}`);
	const { job } = await session.job();
	expect(session.events()).toMatchObject([
		{ type: "added", job: { id: job.id, scope: "session" } },
		{ type: "fired", jobId: job.id, agentId: id, name: "watch" },
	]);
});

test("a quiet job announces no success, but a failure", async () => {
	await using it = await place();
	const session = await it.session();
	await session.schedule("10m; quiet");
	await session.answer(await fires(session, 600_000), "All is well.");
	await until(session, async () => (await session.job()).job.history[0]?.result === "done");
	session.clock.advance(60_000);
	expect(session.sent).toEqual([]);
	const id = await fires(session, 600_000, 2);
	session.run(id)?.settle({ status: "failed", error: "The house burns." });
	await until(session, () => session.sent.length > 0);
	expect(session.sent[0]?.content).toContain("<status>failed</status>");
	await until(session, async () => (await session.job()).job.history[1]?.result === "failed");
	expect(session.events().at(-1)).toMatchObject({ type: "error", error: expect.stringContaining("The house burns.") });
});

test("what it tells does not wait for agents that a turn has launched", async () => {
	await using it = await place();
	const session = await it.session();
	await session.schedule("+10m");
	await session.turn(() => void session.launch("Take your time."));
	const id = await fires(session, 600_000, 2);
	await session.answer(id, "Two doors.");
	expect(session.sent).toMatchObject([{ content: expect.stringContaining("Two doors.") }]);
});

test("a preset that is gone is a failed run with a notice, and the job is still there", async () => {
	await using it = await place();
	await it.write("project/.pi/agents/guest.md", "---\ndescription: guest\n---\nStay.\n");
	const session = await it.session();
	await session.schedule("10m", { preset: "guest" });
	await it.remove("project/.pi/agents/guest.md");
	session.clock.advance(600_000);
	await until(session, async () => (await session.job()).job.history[0]?.result === "failed");
	expect(session.told.at(-1)).toMatch(/The scheduled job "look" \(.+\) could not launch its agent: There is no preset/);
	expect(agents(session)).toEqual([]);
	expect((await session.job()).job.nextAt).toBeGreaterThan(session.clock.now());
});

test("the model's command is not run once the setting is off, and scheduling that is off launches nothing", async () => {
	await using it = await place();
	await it.write("agent/subagents.json", '{ "verifyCalls": true }');
	const session = await it.session();
	await session.schedule("10m", { verify: "make" });
	const first = await fires(session, 600_000);
	expect(session.manager.specOf(first)?.verify).toMatchObject({ command: "make" });
	await it.write("agent/subagents.json", '{ "verifyCalls": false }');
	await session.answer(first, "Done.");
	await until(session, async () => (await session.job()).job.history[0]?.result === "done");
	const second = await fires(session, 600_000, 2);
	expect(session.manager.specOf(second)?.verify).toEqual({ skipped: "the setting `verifyCalls` is off" });
	await session.answer(second, "Done again.");
	await until(session, async () => (await session.job()).job.history[1]?.result === "done");
	await it.write("agent/subagents.json", '{ "scheduling": false }');
	session.clock.advance(600_000);
	await until(session, () => session.launcher.latest().scheduling === false); // read by the job that was due
	await until(session, () => session.clock.waiting() === 0);
	expect(agents(session)).toHaveLength(2);
});

test("one whose file was tampered with fails in words", async () => {
	await using it = await place();
	const session = await it.session();
	await session.schedule("10m");
	await session.schedules.update(await session.job(), { payload: { preset: 7 } }, session.ctx);
	session.clock.advance(600_000);
	await until(session, () => session.told.length > 0);
	expect(session.told[0]).toMatch(/cannot be read from its file\. Remove the job/);
});

test("a file can make a job do no more than a call can", async () => {
	await using it = await place();
	const session = await it.session();
	await session.schedule("10m");
	const each = await session.job();
	const payload = { ...Object(each.job.payload), outlives: true, runner: "process", keepsFiles: false };
	await session.schedules.update(each, { payload }, session.ctx);
	await fires(session, 600_000);
	expect(agents(session)).toMatchObject([{ runner: "session", isBackground: true }]);
	expect(agents(session)[0]).not.toHaveProperty("outlives");
});

test("paused it is not due, resumed it is, removed it is gone; run now does not wait", async () => {
	await using it = await place();
	const session = await it.session();
	await session.schedule("10m");
	const { schedules, ctx } = session;
	await schedules.update(await session.job(), { enabled: false }, ctx);
	session.clock.advance(3_600_000);
	await schedules.runNow(await session.job(), ctx);
	await until(session, () => agents(session).length === 1);
	await session.answer(agents(session)[0]?.id ?? "", "Done.");
	await until(session, async () => (await session.job()).job.history.at(-1)?.result === "done");
	await schedules.update(await session.job(), { enabled: true }, ctx);
	await fires(session, 600_000, 2);
	await schedules.remove(await session.job(), ctx);
	session.clock.advance(3_600_000);
	expect(await schedules.list(ctx)).toEqual([]);
	expect(agents(session)).toHaveLength(2);
	expect(session.events()).toMatchObject(
		["added", "updated", "fired", "updated", "fired", "removed"].map((type) => ({ type })),
	);
});

test("a session that is opened again has its jobs, another one does not", async () => {
	await using it = await place();
	const first = await it.session({ isKept: true });
	await first.schedule("10m");
	await first.shutdown();
	expect(first.clock.waiting()).toBe(0);
	const other = await it.session({ isKept: true, sessionId: "s2" });
	expect(await other.schedules.list(other.ctx)).toEqual([]);
	const again = await it.session({ isKept: true });
	again.clock.advance(0);
	await until(again, () => again.heard.length > 0);
	expect(again.heard).toEqual([["subagents:scheduler_ready", { sessionId: "s1", jobCount: 1 }]]);
	await fires(again, 600_000);
});

test("nothing is loaded or made where there are no jobs", async () => {
	await using it = await place();
	const session = await it.session({ isKept: true, trust: "yes" });
	session.clock.advance(0);
	await until(session, () => session.heard.length > 0);
	expect(session.heard).toEqual([["subagents:scheduler_ready", { sessionId: "s1", jobCount: 0 }]]);
	expect(existsSync(join(it.agentDir, "state"))).toBe(false);
	expect(existsSync(join(it.cwd, ".pi"))).toBe(false);
});

test("a project's job is found by a pi that was open before, and only one of them runs it", async () => {
	await using it = await place();
	const [first, second] = [await it.session({ trust: "yes" }), await it.session({ trust: "yes", sessionId: "s2" })];
	second.clock.advance(0);
	await until(second, () => second.heard.length > 0);
	await first.schedule("+10m; project");
	expect(existsSync(join(it.cwd, ".pi", "subagents", "schedules", ".gitignore"))).toBe(true);
	// Their time is the same, as that of all pis on a machine.
	const passes = (ms: number) => [first, second].map(({ clock }) => clock.advance(ms));
	passes(15_000);
	await expect.poll(() => second.schedules.list(second.ctx)).toHaveLength(1);
	passes(600_000);
	const all = () => [...agents(first), ...agents(second)];
	const histories = async () => [(await first.job()).job.history, (await second.job()).job.history];
	await until(first, async () => {
		passes(0);
		for (const { id, outcome } of agents(first)) if (!outcome) await first.answer(id, "Two doors.");
		for (const { id, outcome } of agents(second)) if (!outcome) await second.answer(id, "Two doors.");
		return (await histories()).every(([run]) => run?.result === "done");
	});
	expect(await histories()).toMatchObject([[{ result: "done" }], [{ result: "done" }]]);
	expect(all()).toHaveLength(1);
});

test("a project's jobs do not count without the user's yes, and that is said", async () => {
	await using it = await place();
	const trusting = await it.session({ trust: "yes" });
	await trusting.schedule("+10m; project");
	await trusting.shutdown();
	const session = await it.session();
	session.clock.advance(0);
	await until(session, () => session.told.length > 0);
	expect(session.told[0]).toContain("only if you trust it");
	expect(await session.schedules.list(session.ctx)).toEqual([]);
	session.clock.advance(3_600_000);
	expect(agents(session)).toEqual([]);
});

test.each([".pi", ".pi/subagents", ".pi/subagents/schedules"])(
	"a project whose %s leads out of it keeps no jobs, and none from there count",
	async (name) => {
		await using it = await place();
		const elsewhere = await it.session({ trust: "yes" });
		await elsewhere.schedule("+10m; project");
		await elsewhere.shutdown();
		await rename(join(it.cwd, name), join(it.agentDir, "moved"));
		await symlink(join(it.agentDir, "moved"), join(it.cwd, name));
		const before = await readdir(join(it.agentDir, "moved"), { recursive: true });
		const session = await it.session({ trust: "yes" });
		await expect(session.schedule("+10m; project")).rejects.toThrow("a link in its .pi points outside the project");
		expect(await session.schedules.list(session.ctx)).toEqual([]);
		session.clock.advance(3_600_000);
		expect(agents(session)).toEqual([]);
		expect(await readdir(join(it.agentDir, "moved"), { recursive: true })).toEqual(before);
	},
);

test.each(["print", "json"] as const)(
	"%s mode fires nothing: a session's job is refused, a project's is kept",
	async (mode) => {
		await using it = await place();
		const session = await it.session({ mode, trust: "yes" });
		await expect(session.schedule("+10m")).rejects.toThrow(/pi exits after its last message.*; project/);
		expect(await session.schedule("+10m; project")).toContain("whichever pi is open there runs it");
		session.clock.advance(3_600_000);
		expect(session.clock.waiting()).toBe(0);
		const next = await it.session({ trust: "yes" });
		expect(await next.schedules.list(next.ctx)).toHaveLength(1);
	},
);

test("switched off, it ends; switched on again, the jobs are there", async () => {
	await using it = await place();
	const session = await it.session({ isKept: true });
	await session.schedule("10m");
	await it.write("agent/subagents.json", JSON.stringify({ scheduling: false }));
	await session.settings();
	await until(session, () => session.clock.waiting() === 0);
	await expect(session.schedule("10m")).rejects.toThrow(/switched off/);
	session.clock.advance(3_600_000);
	expect(agents(session)).toEqual([]);
	await it.write("agent/subagents.json", JSON.stringify({ scheduling: true, maxConcurrent: 3 }));
	await session.settings();
	await fires(session, 600_000);
});

test("a job whose agent is about to be launched when its session ends is launched by who opens it next", async () => {
	await using it = await place();
	const session = await it.session({ isKept: true });
	await session.schedule("+10m");
	const { resolve } = session.launcher;
	const gate = Promise.withResolvers<void>();
	let isAsked = false;
	session.launcher.resolve = async (...call) => {
		isAsked = true;
		await gate.promise;
		return resolve(...call);
	};
	session.clock.advance(600_000);
	await until(session, () => isAsked);
	const ending = session.shutdown();
	gate.resolve();
	await ending;
	const again = await it.session({ isKept: true });
	await fires(again, 600_000);
	expect([agents(session), agents(again).length, session.told]).toEqual([[], 1, []]);
	expect(session.events()).toEqual([expect.objectContaining({ type: "added" })]);
});

test("a session that ends while a job's agent works lets go of it at once", async () => {
	await using it = await place();
	const session = await it.session({ isKept: true });
	await session.schedule("+10m");
	await fires(session, 600_000);
	await session.shutdown();
	expect(session.clock.waiting()).toBe(0);
	expect(agents(session)).toMatchObject([{ outcome: { status: "aborted", by: "shutdown" } }]);
	const again = await it.session({ isKept: true });
	expect((await again.job()).job.history).toMatchObject([
		{ result: "failed", note: "The session stopped waiting for it." },
	]);
});

test("a session's jobs say where it is kept", async () => {
	await using it = await place();
	const session = await it.session({ isKept: true });
	await session.schedule("10m");
	const names = await readdir(join(it.agentDir, "state", "subagents", "schedules", "s1"));
	expect(names).toContain(".session");
});

test("a job may run a workflow: it keeps the call, and resolves it again each time", async () => {
	await using where = await place();
	const session = await where.session();
	await expect(session.schedule("5m", workflowJob({ name: "gone" }))).rejects.toThrow('There is no workflow "gone".');
	await session.schedule("5m", workflowJob({ name: "review", args: { base: "main" } }));
	const { job } = await session.job();
	expect(job.payload).toMatchObject({ workflow: { name: "review", args: { base: "main" } }, description: "review" });
	await fires(session, 5 * 60_000);
	expect(agents(session)).toMatchObject([
		{ task: "workflow review", description: "review (scheduled)", launchedBy: "schedule" },
	]);
});
