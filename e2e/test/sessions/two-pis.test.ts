/** One session that two pis have open: who tells of its agents. */
import { isFullRun, type Reply, runPrint, startRpc, until } from "@pi-subagents-dev/testkit";
import { describe, test } from "vitest";
import { footerSays, toldIn } from "../../support/detached.ts";
import {
	completed,
	detached,
	ENDED,
	fileOf,
	inside,
	interrupted,
	isScout,
	oneScout,
	RUNNING,
	target,
	tells,
} from "../../support/visits.ts";

describe.concurrent("a session that two pis have open", () => {
	/** The first pi has launched a scout; the second has opened the same session. */
	const two = async (launch: Reply) => {
		const it = await oneScout(launch);
		const first = startRpc(target(it));
		await first.prompt("Please delegate.");
		await it.server.nextRequest(isScout);
		const file = await fileOf(first);
		const second = startRpc(target(it, { args: ["--session", file] }));
		await fileOf(second);
		return { it, first, second, file };
	};

	if (isFullRun)
		test("hears of a detached run from the first, and not again from the second when the first has left it", async () => {
			const { it, first, second, file } = await two(detached);
			await using _it = it;
			it.gate.open();
			await footerSays(first, ENDED);
			await tells(file, completed);
			await first.send({ type: "new_session" });
			await footerSays(second, ENDED);
			await second.prompt("Hello");
			await tells(file, completed);
		});

	test("has its detached run rejoined by the second when the first is killed", async () => {
		const { it, first, second, file } = await two(detached);
		await using _it = it;
		if (first.pid !== undefined) process.kill(first.pid, "SIGKILL");
		await footerSays(second, RUNNING);
		it.gate.open();
		await footerSays(second, ENDED);
		await tells(file, completed);
	});

	if (isFullRun)
		test("is not told by the second what the first is too busy to tell", async ({ expect }) => {
			await using it = await oneScout(detached);
			const first = startRpc(target(it));
			await first.prompt("Please delegate.");
			const file = await fileOf(first);
			await first.send({ type: "prompt", message: "Think about it." });
			it.gate.open();
			await footerSays(first, ENDED);
			const second = target(it, { args: ["--session", file] });
			expect(await runPrint(second, "Hello")).toMatchObject({ code: 0, stdout: "Hello.\n" });
			expect(await toldIn(file)).toEqual([]);
			it.thought.open();
			await tells(file, completed);
			await runPrint(second, "Hello");
			await tells(file, completed);
		});

	if (isFullRun)
		test("has an agent inside the first, which the second leaves alone; each tells of its own", async ({ expect }) => {
			const { it, second, file } = await two(inside);
			await using _it = it;
			await second.prompt("Please delegate.");
			expect(await toldIn(file)).toEqual([]);
			it.gate.open();
			const told = await until("both are told", async () => {
				const all = await toldIn(file);
				return all.length > 1 ? all : undefined;
			});
			expect(told).toEqual([expect.objectContaining(completed), expect.objectContaining(completed)]);
			expect(told[0]?.runId).not.toBe(told[1]?.runId);
		});

	if (isFullRun)
		test("may be forked by the second, which tells of the run in the fork when the first has seen it end", async () => {
			await using it = await oneScout(detached);
			const first = startRpc(target(it));
			await first.prompt("Please delegate.");
			const file = await fileOf(first);
			const second = startRpc(target(it, { args: ["--fork", file] }));
			const fork = await fileOf(second);
			it.gate.open();
			await tells(file, completed);
			await tells(fork, completed);
		});

	test("tells once of an agent that was killed together with the first", async () => {
		const { it, first, second, file } = await two(inside);
		await using _it = it;
		if (first.pid !== undefined) process.kill(first.pid, "SIGKILL");
		await tells(file, interrupted);
		await second.prompt("Hello");
		await tells(file, interrupted);
	});
});
