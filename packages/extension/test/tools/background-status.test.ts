/** What programs read of background runs that have ended: the fields of their results, bounded. */
import type { ToolDefinition } from "@earendil-works/pi-coding-agent";
import { backgroundRecords } from "@pi-subagents/delivery";
import { createBackgroundStatusTool } from "@pi-subagents/tools";
import { expect, test } from "vitest";
import { open, spec } from "../fixtures/fake-session.ts";

async function background() {
	const it = await open();
	const tool = createBackgroundStatusTool({
		runs: () => backgroundRecords(it.manager.store, it.journal),
	}) as unknown as ToolDefinition;
	const launch = () =>
		it.manager.spawn({ ...spec, runner: "process", outlives: true, runsDir: "/nowhere" }, { isBackground: true }).id;
	const look = async (params: object) => {
		const { details } = await tool.execute("c1", params as never, undefined, undefined, {} as never);
		return (details as { runs: { runId: string; result?: object }[] }).runs;
	};
	return { ...it, launch, look };
}

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

test("a run that goes on has no result; one that failed or was stopped says why", async () => {
	const { launch, look, run, manager } = await background();
	const [running, failed, stopped] = [launch(), launch(), launch()];
	run(failed)?.settle({ status: "failed", error: `Bad\u001b[31m key${"!".repeat(1_000)}`, partialText: "I began." });
	await manager.wait(failed);
	manager.abort(stopped, { by: "user" });
	expect(await look({})).toEqual([expect.not.objectContaining({ result: expect.anything() })]);
	const results = (await look({ includeCompleted: true })).map(({ runId, result }) => [runId, result]);
	const error = `Bad key${"!".repeat(493)}`;
	expect(results).toEqual([
		[running, undefined],
		[failed, { text: "I began.", error, model: "fake/one", usage }],
		[stopped, { abortedBy: "user", model: "fake/one", usage }],
	]);
});

test("a long answer is cut: more of one run than of each in a list", async () => {
	const { launch, look, answer } = await background();
	const id = launch();
	await answer(id, "x".repeat(20_000));
	const cut = (length: number) => [
		expect.objectContaining({ result: expect.objectContaining({ text: "x".repeat(length) }) }),
	];
	expect(await look({ includeCompleted: true })).toEqual(cut(500));
	expect(await look({ runId: id })).toEqual(cut(8_000));
});
