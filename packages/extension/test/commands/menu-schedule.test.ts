/** `/agents`: what a person does with scheduled jobs there. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Delivery } from "@pi-subagents/delivery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type World, type WorldOptions, world } from "../../../commands/test/menu/fixture.ts";
import type { Host } from "../../src/host/host.ts";
import { createSchedules } from "../../src/schedule/schedules.ts";

const deafDelivery = {
	apart: (launch: () => unknown) => launch(),
	expect: () => () => undefined,
	silence: () => undefined,
} as unknown as Delivery;

const noWorkflows = { load: () => Promise.reject(new Error("No workflow runs here.")) };

/** The schedules of the extension, with as much of pi as they speak to. */
const schedule: WorldOptions["schedule"] = (parts) => {
	const onShutdown: (() => Promise<void>)[] = [];
	const pi = {
		on: (_type: string, handler: () => Promise<void>) => onShutdown.push(handler),
		events: { emit: () => undefined },
	} as unknown as ExtensionAPI;
	const schedules = createSchedules(pi, {
		...parts,
		host: parts.host as Host & typeof parts.host,
		delivery: deafDelivery,
		workflows: noWorkflows,
	});
	const close = async () => {
		for (const handler of onShutdown) await handler();
	};
	return { ...schedules, [Symbol.asyncDispose]: close };
};

let it: World;
beforeEach(async () => {
	it = await world({ trust: "yes", schedule });
});
afterEach(() => it[Symbol.asyncDispose]());

const agents = () => it.manager.store.snapshot().records;

/** Makes a job in the wizard, and comes back to the list. */
const newJob = [
	{ choose: "jobs" },
	{ choose: "New job" },
	{ choose: "Explore" },
	{ type: "Look around." },
	{ type: "30m; zone=UTC" },
	{ choose: "This session" },
	{ choose: "Every result" },
	{ choose: "Save it" },
] as const;

const way = [{ choose: "jobs" }, { choose: "Look around." }] as const;

test("the wizard asks for all that a job needs, and the list shows it", async () => {
	const shown = await it.runMenu(...newJob);
	expect(shown).toContain(
		"Agents › Scheduled jobs › New › Save it?\nExplore: Look around.\nevery 30 minutes, for this session\nSave it | Go back",
	);
	expect(shown).toContainEqual(expect.stringMatching(/It runs every 30 minutes\.\nWhere does it belong\?/));
	expect(shown.find((text) => text.startsWith("info:"))).toMatch(
		/"Look around\." is scheduled, every 30 minutes\. First run: Thu 1970-01-01 00:31/,
	);
	expect(shown).toContain("Agents › Scheduled jobs\n● Look around. session | + New job");
	expect(shown.at(-1)).toContain("Scheduled jobs (1)");
});

test("Escape goes one step back, and what was wrong is said where it can be mended", async () => {
	const shown = await it.runMenu(
		{ choose: "jobs" },
		{ choose: "New job" },
		{ choose: "Explore" },
		{ type: " " },
		{ type: "Look around." },
		{ type: "sometimes" },
		{ type: "10m" },
		"back",
		{ type: "0 9 * * 1; zone=Europe/Berlin" },
		{ choose: "This project" },
		{ choose: "Failures only" },
		{ choose: "Save it" },
	);
	expect(shown.some((text) => text.includes("! A task is required."))).toBe(true);
	expect(shown.some((text) => /! .*sometimes/.test(text))).toBe(true);
	expect(shown).toContain("Agents › Scheduled jobs\n● Look around. project | + New job");
	expect(
		shown.some((text) => text.includes("every Monday at 09:00 (Europe/Berlin), for this project, failures only")),
	).toBe(true);
});

test("a job is paused, resumed and run, and its runs and history can be read", async () => {
	await it.runMenu(...newJob);
	const shown = await it.runMenu(
		...way,
		{ choose: "Pause" },
		{ choose: "Next runs" },
		{ choose: "Resume" },
		{ choose: "Next runs" },
		{ choose: "History" },
		{ choose: "Run now" },
		async () => void (await expect.poll(() => agents().length).toBe(1)),
		{ choose: "History" },
		{ choose: "Be quiet" },
		{ choose: "Announce successes" },
	);
	const text = shown.join("\n");
	expect(text).toContain('info: "Look around." is paused.');
	expect(text).toContain("It is paused.");
	expect(text).toContain('info: "Look around." is resumed.');
	expect(text).toMatch(/Thu 1970-01-01 00:31 +in 30m[\s\S]*Thu 1970-01-01 01:01 +in 1h/);
	expect(text).toContain("It has not run yet.");
	expect(text).toContain("running");
	expect(text).toContain("info: Only failures are announced.");
	expect(text).toContain("info: Successes are announced too.");
	expect(agents()).toMatchObject([{ type: "Explore", description: "Look around. (scheduled)" }]);
});

test("a job is removed only after a yes", async () => {
	await it.runMenu(...newJob);
	await it.runMenu(...way, { choose: "Remove" }, { say: "no" });
	const shown = await it.runMenu(...way, { choose: "Remove" }, { say: "yes" });
	expect(shown).toContain('info: "Look around." is removed.');
	expect(shown.at(-1)).toContain("Scheduled jobs (0)");
});

test.each([{ payload: null }, { payload: { preset: {}, task: 7, quiet: 1 } }])(
	"a job whose file was tampered with says so, and can be removed (%#)",
	async ({ payload }) => {
		await it.runMenu(...newJob);
		const [each] = await it.schedules.list(it.ctx);
		if (!each) throw new Error("There is no job.");
		await it.schedules.update(each, { payload }, it.ctx);
		const shown = await it.runMenu(...way, { choose: "Remove" }, { say: "yes" });
		expect(shown.find((text) => text.includes("cannot be read from its file"))).toBeDefined();
		expect(await it.schedules.list(it.ctx)).toEqual([]);
	},
);

test("switched off, there is nothing of it in the menu", async () => {
	await it.write("agent/subagents.json", JSON.stringify({ scheduling: false }));
	expect((await it.runMenu())[0]).not.toContain("Scheduled");
});
