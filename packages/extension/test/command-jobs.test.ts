/** `/subagent jobs`, with the real schedules behind it. */
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { expect, test } from "vitest";
import { jobsCommand } from "../src/commands/jobs.ts";
import { layout } from "../src/commands/layout.ts";
import { place } from "./schedule-fixture.ts";

type Session = Awaited<ReturnType<Awaited<ReturnType<typeof place>>["session"]>>;

/** Types what follows `/subagent jobs`. */
async function type({ launcher, schedules, manager, ctx }: Session, rest: string): Promise<string> {
	const { run } = jobsCommand({ launcher, schedules, manager, host: {} as never });
	return layout(await run(rest, ctx as ExtensionCommandContext), 120).join("\n");
}

const agents = ({ manager }: Session) => manager.store.snapshot().records.length;

test("jobs are listed with their ids, paused, resumed, run and removed", async () => {
	await using it = await place();
	const session = await it.session();
	expect(await type(session, "")).toMatch(/^No job is scheduled/);
	await session.schedule("30m");
	const { job } = await session.job();
	expect(await type(session, "")).toMatch(new RegExp(`^${job.id}  session  .*look`));
	expect(await type(session, `pause ${job.id}`)).toBe('"look" is paused.');
	expect(await type(session, "")).toContain("paused");
	await type(session, `resume ${job.id}`);
	expect((await session.job()).job.enabled).toBe(true);
	expect(await type(session, `run ${job.id}`)).toMatch(/runs now/);
	await expect.poll(() => agents(session), { timeout: 30_000 }).toBe(1);
	expect(await type(session, `history ${job.id}`)).toContain("at work");
	expect(await type(session, `remove ${job.id}`)).toMatch(/is removed/);
	expect(await session.schedules.list(session.ctx)).toEqual([]);
});

test("what is not understood changes nothing, and says what there is", async () => {
	await using it = await place();
	const session = await it.session();
	await session.schedule("30m");
	const { job } = await session.job();
	await expect(type(session, "remov x")).rejects.toThrow(/Did you mean "remove"\?/);
	await expect(type(session, "remove")).rejects.toThrow(`There is no job "". There are: ${job.id} ("look")`);
	await expect(type(session, `constructor ${job.id}`)).rejects.toThrow(/cannot "constructor"/);
	expect((await session.job()).job).toMatchObject({ enabled: true });
	await it.write("agent/subagents.json", JSON.stringify({ scheduling: false }));
	await expect(type(session, "")).rejects.toThrow(/switched off/);
});
