/** What an agent's next run keeps of the call that launched it, and what counts for a run that has waited. */

import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentRecord } from "@pi-subagents/core";
import { describe, expect, test } from "vitest";
import { type LaunchParams, resumedParams } from "../src/launch-params.ts";
import type { StoredTrust } from "../src/settings/config.ts";
import { launching } from "./fixture.ts";

test("its machine, and whether it is run again if it is lost there", async () => {
	const it = await launching({ settings: { machines: { box: { ssh: "box" } } } });
	const { machine, retry, given, cwd, runner } = await it.resolve({ machine: "box", retry: "lost" });
	expect({ machine, retry, given }).toEqual({ machine: "box", retry: "lost", given: { retry: "lost" } });
	const record = { machine, given, cwd, runner } as AgentRecord;
	expect(await it.resolve(resumedParams(record))).toMatchObject({ machine: "box", retry: "lost" });
});

describe("its launcher", () => {
	const launchers = { weak: { command: ["env"] }, strict: { command: ["bwrap"] } };
	const resumed = async (it: Awaited<ReturnType<typeof launching>>, launcher: string) =>
		(await it.resolve(resumedParams({ launcher, cwd: it.cwd, runner: "process" } as AgentRecord))).launcher;

	test("is the recorded one, also if the preset names none any more", async () => {
		expect(await resumed(await launching({ settings: { launchers } }), "weak")).toBe("weak");
	});

	test("is the one that the user or the preset names now, if one does", async () => {
		const overriding = await launching({ overrides: { launcher: "strict" }, settings: { launchers } });
		await writeFile(
			join(overriding.agentDir, "subagents.json"),
			JSON.stringify({ launchers, agentOverrides: { clerk: { launcher: "strict" } } }),
		);
		expect(await resumed(overriding, "weak")).toBe("strict");
		expect(await resumed(await launching({ fields: "launcher: strict", settings: { launchers } }), "weak")).toBe(
			"strict",
		);
	});

	test("must still be in the settings", async () => {
		await expect(resumed(await launching({}), "weak")).rejects.toThrow("which your settings do not define");
	});
});

describe("a run that has waited is checked again when it starts", () => {
	const save = (it: Awaited<ReturnType<typeof launching>>, settings: object | string) =>
		writeFile(join(it.agentDir, "subagents.json"), typeof settings === "string" ? settings : JSON.stringify(settings));

	test.each<[string, object, Partial<LaunchParams>, object | string, string]>([
		[
			"its launcher was removed",
			{ launchers: { net: { command: ["env"] } } },
			{},
			{},
			'its launcher "net" was removed',
		],
		[
			"its machine was removed",
			{ machines: { box: { ssh: "box" } } },
			{ machine: "box" },
			{},
			'its machine "box" was removed',
		],
		["the settings are broken", {}, {}, "{", "No agent is launched until the settings can be understood"],
	])("%s", async (_what, settings, params, later, why) => {
		const fields = "launchers" in settings ? "launcher: net" : "";
		const it = await launching({ fields, settings });
		const spec = await it.resolve(params);
		expect(it.launcher.recheck(spec, it)).toEqual(spec);
		await save(it, later);
		expect(() => it.launcher.recheck(spec, it)).toThrow(why);
	});

	test("the model's command is not run if the setting was switched off; the preset's is", async () => {
		const it = await launching({ settings: { verifyCalls: true } });
		const spec = await it.resolve({ verify: { command: "make", timeout: "1m" } });
		const preset = await launching({ fields: "verify: npm test", settings: { verifyCalls: true } });
		const other = await preset.resolve();
		for (const each of [it, preset]) await save(each, {});
		expect(it.launcher.recheck(spec, it).verify).toEqual({ skipped: "the setting `verifyCalls` is off" });
		expect(preset.launcher.recheck(other, preset)).toEqual(other);
	});

	test("a preset of a project that the user has declined meanwhile does not run", async () => {
		let trust: StoredTrust = "yes";
		const it = await launching({ lends: { storedTrust: () => trust } });
		const spec = await it.resolve();
		trust = "no";
		expect(() => it.launcher.recheck(spec, it)).toThrow("you declined to trust the project");
	});

	test("a settings file that is gone refuses it as well", async () => {
		const it = await launching({ settings: { maxDepth: 2 } });
		const spec = await it.resolve();
		await rm(join(it.agentDir, "subagents.json"));
		expect(() => it.launcher.recheck(spec, it)).toThrow("the file is gone");
	});
});
