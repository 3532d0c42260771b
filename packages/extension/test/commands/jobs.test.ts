/** `/subagent jobs`, with the real schedules behind it. */
import { expect, test } from "vitest";
import { typeJobs } from "../../../commands/test/subagent/jobs-fixture.ts";
import { place } from "../schedule/fixture.ts";

type Session = Awaited<ReturnType<Awaited<ReturnType<typeof place>>["session"]>>;

const type = ({ launcher, schedules, manager, ctx }: Session, rest: string) =>
	typeJobs({ launcher, schedules, manager }, rest, ctx);

const agents = ({ manager }: Session) => manager.store.snapshot().records.length;

test("jobs are listed with their ids, paused, resumed, run and removed", async () => {
	await using it = await place();
	const session = await it.session();
	expect(await type(session, "")).toMatch(/^No jobs are scheduled/);
	await session.schedule("30m");
	const { job } = await session.job();
	expect(await type(session, "")).toMatch(new RegExp(`^${job.id}  session  .*look`));
	expect(await type(session, `pause ${job.id}`)).toBe('"look" is paused.');
	expect(await type(session, "")).toContain("paused");
	await type(session, `resume ${job.id}`);
	expect((await session.job()).job.enabled).toBe(true);
	expect(await type(session, `run ${job.id}`)).toMatch(/is running now/);
	await expect.poll(() => agents(session)).toBe(1);
	expect(await type(session, `history ${job.id}`)).toContain("running");
	expect(await type(session, `remove ${job.id}`)).toMatch(/is removed/);
	expect(await session.schedules.list(session.ctx)).toEqual([]);
});

test("what is not understood changes nothing, and says what there is", async () => {
	await using it = await place();
	const session = await it.session();
	await session.schedule("30m");
	const { job } = await session.job();
	await expect(type(session, "remov x")).rejects.toThrow(/Did you mean "remove"\?/);
	await expect(type(session, "remove")).rejects.toThrow(`There is no job "". Jobs: ${job.id} ("look")`);
	await expect(type(session, `constructor ${job.id}`)).rejects.toThrow(/Unknown action "constructor"/);
	expect((await session.job()).job).toMatchObject({ enabled: true });
	await it.write("agent/subagents.json", JSON.stringify({ scheduling: false }));
	await expect(type(session, "")).rejects.toThrow(/switched off/);
});
