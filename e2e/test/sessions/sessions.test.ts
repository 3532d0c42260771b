/** What becomes of agents when their session is left: by quitting, /new, /resume, /fork, /tree, /reload, or a kill. */
import { join } from "node:path";
import { gateCases, gatePis, isFullRun, runPrint, startRpc, startTui, until } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { footerSays, jsonOf, linesOf, processesOf, toldIn, zombiesOf } from "../../support/detached.ts";
import { sessionIn } from "../../support/digs.ts";
import {
	completed,
	detached,
	ENDED,
	fileOf,
	inside,
	interrupted,
	isScout,
	leafOf,
	oneScout,
	quiet,
	RUNNING,
	target,
	tells,
	theRun,
} from "../../support/visits.ts";

describe.each(await gatePis())("pi $version: a detached run", (pi) => {
	test("goes on when pi quits, which waits for nothing; the next pi rejoins it and tells of it once", async () => {
		await using it = await oneScout(detached);
		const sessions = join(it.env.root, "sessions");
		const tui = await startTui(target(it, { pi, args: ["--session-dir", sessions] }));
		tui.submit("Please delegate.");
		await tui.waitForText(RUNNING);
		await tui.waitForText("It is on its way.");
		tui.submit("/quit ");
		expect((await tui.exit).exitCode).toBe(0);

		const file = (await sessionIn(sessions)) ?? "";
		const run = await theRun(file);
		expect((await processesOf(run)).length).toBeGreaterThan(0);
		expect(await jsonOf(join(run.artifacts, "result.json"))).toBeUndefined();
		// One that only looks at it ends as well.
		const look = await runPrint(target(it, { pi, args: ["--session", file] }), "Hello");
		expect(look).toMatchObject({ code: 0, stdout: "Hello.\n" });

		await using next = startRpc(target(it, { pi, args: ["--session", file] }));
		await footerSays(next, RUNNING);
		const isQuiet = quiet(next);
		it.gate.open();
		await tells(file, completed);
		isQuiet();
		expect((await next.close()).code).toBe(0);
		await using last = startRpc(target(it, { pi, args: ["--session", file] }));
		await footerSays(last, ENDED);
		await tells(file, completed);
		await run.isGone();
	});

	if (isFullRun)
		test("goes on over /new, unheard; back in its session it is told of once, without a turn", async () => {
			await using it = await oneScout(detached);
			await using rpc = startRpc(target(it, { pi }));
			await rpc.prompt("Please delegate.");
			const file = await fileOf(rpc);
			const run = await theRun(file);
			await rpc.send({ type: "new_session" });
			const elsewhere = await rpc.prompt("Hello");
			it.gate.open();
			await run.hasEnded();
			const isQuiet = quiet(rpc);
			await rpc.send({ type: "switch_session", sessionPath: file });
			await tells(file, completed);
			isQuiet();
			expect(JSON.stringify(elsewhere)).not.toContain("heliotrope");
			expect(await toldIn(file)).toHaveLength(1);
			await run.isGone();
			await until("pi looks after what it started", async () => (await zombiesOf(rpc.pid)).length === 0 || undefined);
		});

	test("is rejoined at once by the /reload of its session", async () => {
		await using it = await oneScout(detached);
		await using rpc = startRpc(target(it, { pi }));
		await rpc.prompt("Please delegate.");
		const file = await fileOf(rpc);
		const from = rpc.events.length;
		await rpc.send({ type: "prompt", message: "/again" });
		await footerSays(rpc, RUNNING, { from });
		it.gate.open();
		await footerSays(rpc, ENDED, { from });
		await tells(file, completed);
		await (await theRun(file)).isGone();
		await until("pi looks after what it started", async () => (await zombiesOf(rpc.pid)).length === 0 || undefined);
	});

	test("belongs to a fork that holds its launch as well: both sessions are told of it once", async () => {
		await using it = await oneScout(detached);
		await using rpc = startRpc(target(it, { pi }));
		await rpc.prompt("Please delegate.");
		await rpc.prompt("Hello");
		const file = await fileOf(rpc);
		const from = rpc.events.length;
		await rpc.send({ type: "fork", entryId: await userEntry(file, "Hello") });
		const fork = await fileOf(rpc);
		expect(fork).not.toBe(file);
		await footerSays(rpc, RUNNING, { from });
		it.gate.open();
		await footerSays(rpc, ENDED, { from });
		await tells(fork, completed);
		expect(await toldIn(file)).toEqual([]);
		await rpc.send({ type: "switch_session", sessionPath: file });
		await tells(file, completed);
		await tells(fork, completed);
	});

	if (isFullRun)
		test("is no concern of a fork from before its launch", async () => {
			await using it = await oneScout(detached);
			await using rpc = startRpc(target(it, { pi }));
			await rpc.prompt("Hello");
			await rpc.prompt("Please delegate.");
			const file = await fileOf(rpc);
			const run = await theRun(file);
			await rpc.send({ type: "fork", entryId: await userEntry(file, "Please delegate.") });
			const fork = await fileOf(rpc);
			it.gate.open();
			await run.hasEnded();
			const answer = await rpc.prompt("Hello");
			expect(JSON.stringify(answer)).not.toContain("heliotrope");
			await rpc.send({ type: "switch_session", sessionPath: file });
			await tells(file, completed);
			expect(await toldIn(fork)).toEqual([]);
		});

	test("is watched on another branch of the tree, and told of on the one that launched it", async () => {
		await using it = await oneScout(detached);
		await using rpc = startRpc(target(it, { pi }));
		await rpc.prompt("Hello");
		const before = await leafOf(rpc);
		await rpc.prompt("Please delegate.");
		const launched = await leafOf(rpc);
		const file = await fileOf(rpc);
		await rpc.send({ type: "prompt", message: `/walk ${before}` });
		it.gate.open();
		await until("its end is in the session", async () =>
			(await linesOf(file)).find(({ customType }) => customType === "pi-subagents:bg-update"),
		);
		// A later pi also says what is kept, and may say it only now.
		const answer = (await rpc.prompt("Hello")).filter(({ type }) => String(type) !== "entry_appended");
		expect(JSON.stringify(answer)).not.toContain("heliotrope");
		expect(await toldIn(file)).toEqual([]);
		await rpc.send({ type: "prompt", message: `/walk ${launched}` });
		await tells(file, completed);
	});
});

describe.each(await gatePis())("pi $version: an agent inside the session", (pi) => {
	const start = async () => {
		const it = await oneScout(inside);
		const rpc = startRpc(target(it, { pi }));
		await rpc.prompt("Please delegate.");
		await rpc.prompt("Hello");
		await it.server.nextRequest(isScout);
		return { it, rpc, file: await fileOf(rpc) };
	};

	test.each(gateCases(["quit", "kill"], 1))(
		"ends with pi (%s), and is told of once when the session is opened again",
		async (how) => {
			const { it, rpc, file } = await start();
			await using _it = it;
			if (how === "kill" && rpc.pid !== undefined) process.kill(rpc.pid, "SIGKILL");
			expect(await rpc.close()).toEqual(how === "kill" ? { code: null, signal: "SIGKILL" } : { code: 0, signal: null });
			await it.server.nextRequest((request) => isScout(request) && request.aborted);
			for (const _again of [1, 2]) {
				await using next = startRpc(target(it, { pi, args: ["--session", file] }));
				const isQuiet = quiet(next);
				await fileOf(next);
				await tells(file, interrupted);
				isQuiet();
			}
		},
	);

	test.each(gateCases(["/new", "/fork", "/reload"], 0))(
		"ends with its session (%s), which is told of it once",
		async (how) => {
			const { it, rpc, file } = await start();
			await using _it = it;
			await using _rpc = rpc;
			const isQuiet = quiet(rpc);
			if (how === "/new") await rpc.send({ type: "new_session" });
			if (how === "/fork") await rpc.send({ type: "fork", entryId: await userEntry(file, "Hello") });
			if (how === "/reload") await rpc.send({ type: "prompt", message: "/again" });
			await it.server.nextRequest((request) => isScout(request) && request.aborted);
			if (how === "/fork") await tells(await fileOf(rpc), interrupted);
			if (how !== "/reload") await rpc.send({ type: "switch_session", sessionPath: file });
			await tells(file, interrupted);
			await rpc.send({ type: "switch_session", sessionPath: file });
			await fileOf(rpc);
			await tells(file, interrupted);
			isQuiet();
		},
	);

	test("goes on beside /tree, and is told of on the branch that launched it", async () => {
		await using it = await oneScout(inside);
		await using rpc = startRpc(target(it, { pi }));
		await rpc.prompt("Hello");
		const file = await fileOf(rpc);
		const before = await leafOf(rpc);
		await rpc.prompt("Please delegate.");
		const launched = await leafOf(rpc);
		await rpc.send({ type: "prompt", message: `/walk ${before}` });
		it.gate.open();
		await until("its end is in the session", async () => {
			const records = (await linesOf(file)).filter(({ customType }) => customType === "subagents:record");
			return records.length > 1 ? records : undefined;
		});
		// A later pi also says what is kept, and may say it only now.
		const answer = (await rpc.prompt("Hello")).filter(({ type }) => String(type) !== "entry_appended");
		expect(JSON.stringify(answer)).not.toContain("heliotrope");
		expect(await toldIn(file)).toEqual([]);
		await rpc.send({ type: "prompt", message: `/walk ${launched}` });
		await tells(file, completed);
	});
});

function isUser(entry: Record<string, unknown> | undefined, text: string): boolean {
	const { role } = Object(entry?.message);
	return role === "user" && JSON.stringify(entry).includes(text);
}

async function userEntry(file: string, text: string): Promise<string> {
	return String((await linesOf(file)).findLast((entry) => isUser(entry, text))?.id);
}
