/** Scheduled agents in real pi: they run, tell, can be managed, survive restarts, and fire once in all pis of a project. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	callTool,
	gatePis,
	isFullRun,
	otherwise,
	type PiRpc,
	runJson,
	runPrint,
	say,
	startRpc,
	startTui,
	type Terminal,
	until,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { linesOf, toldIn } from "../../support/detached.ts";
import { moveTo, openMenu } from "../../support/keys.ts";
import { type Scene, scene } from "../../support/scene.ts";
import { completed, fileOf, isScout, oneScout, target } from "../../support/visits.ts";

const later = (schedule: string, more: object = {}) =>
	callTool("Agent", {
		prompt: "Find the code.",
		description: "find it",
		subagent_type: "repo-scout",
		schedule,
		...more,
	});

/** A parent that schedules a scout, which answers at once. */
async function scheduled(schedule: string, more: object = {}) {
	const it = await oneScout(later(schedule, more));
	it.gate.open();
	return it;
}

const scouts = ({ server }: Scene) => server.requests.filter(isScout).length;

const scoutsAre = (it: Scene, count: number) =>
	until(`${count} scouts have run`, async () => scouts(it) >= count || undefined);

const trust = ({ env }: Scene) => writeFile(join(env.agentDir, "trust.json"), JSON.stringify({ [env.cwd]: true }));

/** What the model was told about its call. */
async function answerIn(file: string): Promise<string> {
	const result = (await linesOf(file)).find(({ message }) => Object(message).role === "toolResult");
	return JSON.stringify(result);
}

/** Goes down the levels of the menu as a client of pi does, and up again; resolves with what the last one offered. */
async function menu(rpc: PiRpc, ...choices: readonly string[]): Promise<string[]> {
	let from = rpc.events.length;
	const sent = rpc.send({ type: "prompt", message: "/agents" });
	const offered: string[][] = [];
	const steps = [...choices, ...Array<undefined>(choices.length + 1).fill(undefined)];
	for (const choice of steps) {
		const event = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "select", {
			from,
		});
		const { id, options } = event as unknown as { id: string; options: string[] };
		from = rpc.events.indexOf(event) + 1;
		offered.push(options);
		const value = options.find((option) => choice !== undefined && option.includes(choice));
		const type = "extension_ui_response" as const;
		rpc.answer(value === undefined ? { type, id, cancelled: true } : { type, id, value });
	}
	await sent;
	return offered[choices.length] ?? [];
}

async function openJobs(tui: Terminal, count: number): Promise<void> {
	await openMenu(tui);
	await moveTo(tui, `Scheduled jobs (${count})`);
	await tui.waitForText("Agents › Scheduled jobs");
}

/** From the level of one job. */
async function leaveMenu(tui: Terminal): Promise<void> {
	tui.press("escape");
	await tui.waitForText(/→ . find it/);
	tui.press("escape");
	await tui.waitForText("→ Scheduled jobs (1)");
	tui.press("escape");
	await tui.waitFor((lines) => !lines.some((line) => line.includes("→ Scheduled jobs")));
}

describe.each(await gatePis())("pi $version", (pi) => {
	test("a scheduled agent runs again and again, tells of itself each time, and goes on after a restart", async () => {
		await using it = await scheduled("1s");
		const rpc = startRpc(target(it, { pi }));
		await rpc.prompt("Please delegate.");
		const file = await fileOf(rpc);
		expect(await answerIn(file)).toMatch(
			/Job \S+ .*find it.* is scheduled, every second\. Next: .*Nothing was launched now/,
		);
		await scoutsAre(it, 2);
		await until("two are told", async () => (await toldIn(file)).length >= 2 || undefined);
		expect((await toldIn(file))[0]).toMatchObject(completed);
		expect(await rpc.close()).toEqual({ code: 0, signal: null });
		const before = scouts(it);
		await using _again = startRpc(target(it, { pi, args: ["--session", file] }));
		await scoutsAre(it, before + 1);
	});

	test("the menu shows a job, runs it at once, pauses and removes it", async () => {
		await using it = await scheduled("1h");
		await using tui = await startTui(target(it, { pi }), { rows: 44, cols: 120 });
		tui.submit("Please delegate.");
		await tui.waitForText("It is on its way.");
		await openJobs(tui, 1);
		await tui.waitForText(/→ ● find it +session +every hour +in \d+m/);
		tui.press("enter");
		await tui.waitForText(/→ Run now/);
		tui.press("enter");
		await tui.waitForText('"find it" is running now');
		await tui.waitForText("past runs (1)"); // the menu is there again, and takes keys
		await it.server.nextRequest(isScout);
		await leaveMenu(tui);
		await tui.waitForText("Noted.");
		await openJobs(tui, 1);
		await tui.waitForText(/Last: .* done after .*: agent \w+/);
		tui.press("enter");
		await moveTo(tui, "Pause");
		await tui.waitForText('"find it" is paused.');
		await moveTo(tui, "Remove");
		await tui.waitForText(/Remove "find it"\?[\s\S]*→ Keep it/);
		await moveTo(tui, "Remove it");
		await tui.waitForText('"find it" is removed.');
		await tui.waitForText(/→ \+ New job/);
		expect(scouts(it)).toBe(1);
	});

	test("a session's jobs stay with it over /new, /fork and /reload", async () => {
		await using it = await scheduled("1h");
		await using rpc = startRpc(target(it, { pi }));
		await rpc.prompt("Please delegate.");
		await rpc.prompt("Hello");
		const file = await fileOf(rpc);
		const jobs = async () => (await menu(rpc)).find((option) => option.startsWith("Scheduled jobs"))?.split(" · ")[0];
		expect(await jobs()).toBe("Scheduled jobs (1)");
		await rpc.send({ type: "prompt", message: "/again" });
		expect(await jobs()).toBe("Scheduled jobs (1)");
		await rpc.send({ type: "new_session" });
		expect(await jobs()).toBe("Scheduled jobs (0)");
		await rpc.send({ type: "switch_session", sessionPath: file });
		expect(await jobs()).toBe("Scheduled jobs (1)");
		const hello = (await linesOf(file)).findLast((entry) => JSON.stringify(entry).includes('"Hello"'));
		await rpc.send({ type: "fork", entryId: String(hello?.id) });
		expect(await fileOf(rpc)).not.toBe(file);
		expect(await jobs()).toBe("Scheduled jobs (0)");
	});

	test("a project's job fires in one of the pis that are open there, even if print mode created it", async () => {
		await using it = await scheduled("1s; project; runs=3");
		await trust(it);
		await using first = startRpc(target(it, { pi }));
		await using second = startRpc(target(it, { pi }));
		await Promise.all([fileOf(first), fileOf(second)]);
		expect(await runPrint(target(it, { pi }), "Please delegate.")).toMatchObject({
			code: 0,
			stdout: "It is on its way.\n",
		});
		const isOver = async (rpc: PiRpc) => (await menu(rpc, "Scheduled jobs")).some((option) => option.includes("over"));
		await until("all runs are over", async () => ((await isOver(first)) && (await isOver(second))) || undefined, 500);
		expect(scouts(it)).toBe(3);
	});
});

test("a quiet job's success is not told, and its next run is another agent", async () => {
	await using it = await scheduled("1s; quiet");
	await using rpc = startRpc(target(it));
	await rpc.prompt("Please delegate.");
	await scoutsAre(it, 3);
	expect(await toldIn(await fileOf(rpc))).toEqual([]);
});

if (isFullRun)
	test("print mode refuses a session's job, and says what would do", async () => {
		await using it = await scheduled("5m");
		const { events } = await runJson(target(it), "Please delegate.");
		expect(JSON.stringify(events)).toMatch(/In this mode pi exits after its last message.*; project/);
		expect(scouts(it)).toBe(0);
	});

test("an untrusted project keeps no jobs", async () => {
	await using it = await scheduled("5m; project");
	await using rpc = startRpc(target(it));
	await rpc.prompt("Please delegate.");
	expect(await answerIn(await fileOf(rpc))).toContain("only if you trust the project");
});

test.each([true, false])("scheduling: %s decides whether the model and the menu know of it", async (scheduling) => {
	await using it = await scene([otherwise(say("Hello."))], {
		agentFiles: { "subagents.json": JSON.stringify({ scheduling }) },
	});
	await using rpc = startRpc({ env: it.env });
	await rpc.prompt("Hello?");
	const [request] = it.server.requests;
	expect(/schedul/i.test(JSON.stringify(request?.raw))).toBe(scheduling);
	expect((await menu(rpc)).some((option) => option.startsWith("Scheduled jobs"))).toBe(scheduling);
});

if (isFullRun)
	test("a client of pi sees, pauses and removes a job by a command", async () => {
		await using it = await scheduled("1h");
		await using rpc = startRpc({ env: it.env });
		await rpc.prompt("Please delegate.");
		const said = async (command: string) => {
			const from = rpc.events.length;
			await rpc.send({ type: "prompt", message: command });
			const event = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "notify", {
				from,
			});
			return String(Object(event).message);
		};
		const [id = ""] = (await said("/subagent jobs")).split(/\s/);
		expect(await said(`/subagent jobs pause ${id}`)).toBe('"find it" is paused.');
		expect(await said("/subagent jobs")).toMatch(/ session +paused +find it/);
		expect(await said(`/subagent jobs remove ${id}`)).toMatch(/^"find it" is removed/);
		expect(await said("/subagent jobs")).toMatch(/^No jobs are scheduled/);
	});
