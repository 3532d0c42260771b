/** Limits that the user wrote down hold: what is not understood refuses a launch, and a project never widens them. */
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { launching } from "./fixture.ts";

describe("a settings file that is not understood", () => {
	test("refuses every launch until it is fixed, and names file, line and key", async () => {
		const it = await launching({});
		const path = join(it.agentDir, "subagents.json");
		await writeFile(path, '{\n\t"maxDepth": 1,\n\t"hooks": { "before_launch": "policy" }\n}\n');
		const why = `${path}:3: "hooks.before_launch" is "policy", expected a list of names`;
		await expect(it.resolve()).rejects.toMatchObject({ code: "bad_settings", message: expect.stringContaining(why) });
		await expect(it.resolve({ runner: "session" }), "a resumed agent").rejects.toThrow(why);
		await expect(it.launcher.launchSettings(it), "a workflow").rejects.toThrow(why);
		await writeFile(path, '{ "maxDepth": 1, }');
		await expect(it.resolve()).rejects.toThrow(
			/^No agent is launched until the settings can be understood\. .*:1: not valid JSON \(there is a comma too many before "}"\)\. Fix this in the file or with \/agents \(Settings\); \/subagent doctor checks it\.$/,
		);
		await writeFile(path, '{ "maxDepth": 1 }');
		await expect(it.resolve()).resolves.toMatchObject({ type: "clerk" });
	});

	test("keeps nothing from working that launches nothing", async () => {
		const it = await launching({});
		await writeFile(join(it.agentDir, "subagents.json"), '{ "maxDepth": 1, }');
		const { warnings } = await it.resolve({ isTrial: true });
		expect(warnings).toEqual([expect.stringMatching(/^No agent is launched until .* a comma too many/)]);
		expect((await it.launcher.settings(it)).widget).toBe("auto");
		expect((await it.launcher.presets(it)).map(({ name }) => name)).toContain("clerk");
		expect((await it.launcher.presetReport(it)).config.refusals).toHaveLength(1);
	});

	test("leaves what it limited in force for what runs", async () => {
		const it = await launching({ settings: { budget: { session: { cost: 5 } }, maxDepth: 1 } });
		await it.resolve();
		await writeFile(join(it.agentDir, "subagents.json"), "{");
		await expect(it.resolve()).rejects.toThrow("it ends too early");
		expect(it.launcher.latest()).toMatchObject({ budget: { session: { cost: 5 } }, maxDepth: 1 });
		await rm(join(it.agentDir, "subagents.json"));
		await expect(it.resolve()).rejects.toThrow(
			"the file is gone, and it limited agents (agentOverrides, budget, maxDepth)",
		);
	});

	test("of a project refuses only where the project is trusted", async () => {
		const [trusted, stranger] = [
			await launching({ projects: {} }),
			await launching({ projects: {}, trust: "unasked" }),
		];
		for (const { cwd } of [trusted, stranger]) await writeFile(join(cwd, ".pi", "subagents.json"), "{,}");
		await expect(trusted.resolve()).rejects.toThrow(`${trusted.cwd}/.pi/subagents.json:1: not valid JSON`);
		await expect(stranger.resolve()).resolves.toMatchObject({ type: "clerk" });
	});
});

describe("what the settings say about a preset", () => {
	const overridden = (own: object, projects: object) =>
		launching({ overrides: own, projects: { agentOverrides: { Clerk: projects } } });

	test("a project's entry does not erase the user's", async () => {
		const it = await overridden({ tools: "read" }, { color: "red", max_turns: 5 });
		expect(await it.resolve()).toMatchObject({ tools: ["read"], limits: { maxTurns: 5 } });
	});

	test("a project does not give back what the user took away, and the user is told", async () => {
		const told: string[] = [];
		const it = await launching({
			overrides: { tools: "read, grep", max_turns: 5, disallowed_tools: "bash" },
			projects: { agentOverrides: { clerk: { allowed_tools: "*", max_turns: 50, disallowed_tools: "none" } } },
			lends: { warn: (notice) => void told.push(notice) },
		});
		expect(await it.resolve()).toMatchObject({ tools: ["read", "grep"], limits: { maxTurns: 5 } });
		expect(told).toContain(
			"agentOverrides.clerk of this project asks for more than your own settings or preset allow: `tools`, `disallowed_tools`, `max_turns`. Yours count.",
		);
	});

	test("a fault names file, line and field, and keeps the preset from running", async () => {
		const it = await launching({});
		const path = join(it.agentDir, "subagents.json");
		await writeFile(path, '{\n"agentOverrides": {\n"clerk": {\n"model": "one",\n"toolz": "read" }}}');
		await expect(it.resolve()).rejects.toThrow(
			`${path}:5: agentOverrides.clerk: unknown field "toolz" looks like a limit`,
		);
	});

	test("both of the user's own files count, field by field", async () => {
		const it = await launching({ overrides: { max_turns: 5 } });
		const entry = { agentOverrides: { clerk: { tools: "read", max_turns: 9 } } };
		await writeFile(join(it.agentDir, "settings.json"), JSON.stringify({ subagents: entry }));
		expect(await it.resolve()).toMatchObject({ tools: ["read"], limits: { maxTurns: 5 } });
	});
});

describe("what the user's own settings limit", () => {
	const settings = { idleTimeoutMinutes: 1, defaultMaxTurns: 5 };
	const LIFTED = "idle_timeout: 0\nmax_turns: 0";
	const held = { idleTimeoutMs: 60_000, maxTurns: 5 };
	/** With a preset `own` of the user's. */
	const withOwn = async (fields: string, given: Parameters<typeof launching>[0]) => {
		const it = await launching(given);
		await mkdir(join(it.agentDir, "agents"));
		await writeFile(join(it.agentDir, "agents", "own.md"), `---\ndescription: The user's.\n${fields}\n---\nWork.\n`);
		return it;
	};

	test.each(["yes", "unasked"] as const)(
		"a project's preset does not lift, and the user is told (trust: %s)",
		async (trust) => {
			const told: string[] = [];
			const lends = { warn: (notice: string) => void told.push(notice) };
			for (const fields of [LIFTED, "idle_timeout: 20h\nmax_turns: 1000"]) {
				const it = await launching({ settings, fields, trust, lends });
				expect((await it.resolve()).limits).toMatchObject(held);
			}
			expect(told).toContain(
				'This project\'s preset "clerk" asks for more than your own settings allow: `max_turns`, `idle_timeout`. Yours count.',
			);
			const less = await launching({ settings, fields: "idle_timeout: 30s\nmax_turns: 3", trust });
			expect((await less.resolve()).limits).toMatchObject({ idleTimeoutMs: 30_000, maxTurns: 3 });
		},
	);

	test.each(["own", "clerk", "Explore"])("a project's settings do not lift for the preset %s", async (preset) => {
		const told: string[] = [];
		const entry = { idle_timeout: 0, max_turns: 1_000, runner: "tmux" };
		const it = await withOwn("", {
			settings: { ...settings, runner: "process" },
			projects: { agentOverrides: { [preset]: entry } },
			lends: { warn: (notice) => void told.push(notice) },
		});
		const spec = await it.resolve({ preset });
		expect(spec).toMatchObject({ limits: held, runner: "process" });
		expect(told).toContain(
			`agentOverrides.${preset} of this project asks for more than your own settings or preset allow: \`max_turns\`, \`idle_timeout\`, \`runner\`. Yours count.`,
		);
	});

	test("the user's own presets and settings for a preset do", async () => {
		const own = await withOwn(LIFTED, { settings });
		expect((await own.resolve({ preset: "own" })).limits).not.toHaveProperty("maxTurns");
		expect((await own.resolve({ preset: "own" })).limits).not.toHaveProperty("idleTimeoutMs");
		const said = await launching({
			settings: { ...settings, agentOverrides: { clerk: { max_turns: 9 } } },
			fields: LIFTED,
		});
		expect((await said.resolve()).limits).toMatchObject({ maxTurns: 9, idleTimeoutMs: 60_000 });
	});

	test("a default is none, nor is what only the project's settings say", async () => {
		const it = await launching({ projects: { defaultMaxTurns: 3 }, fields: "max_turns: 50\nidle_timeout: 0" });
		expect((await it.resolve()).limits).toMatchObject({ maxTurns: 50 });
	});

	test("the time for setting up a worktree does not grow in a project's preset or settings", async () => {
		const worktree = { setup: ["true"], setup_timeout: "0" };
		const limited = { settings: { worktree: { setupTimeoutMinutes: 2 } } };
		const repository = async (it: { cwd: string }) => {
			const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: it.cwd });
			await git("init", "-q");
			await git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one");
			return it;
		};
		const fields = 'isolation: worktree\nworktree: { setup: ["true"], setup_timeout: 0 }';
		const preset = await launching({ ...limited, fields });
		await repository(preset);
		expect((await preset.resolve()).isolation?.setup).toMatchObject({ setup: ["true"], setupTimeoutMs: 120_000 });
		const entry = { isolation: "worktree", worktree };
		const override = await launching({ ...limited, projects: { agentOverrides: { clerk: entry } } });
		await repository(override);
		expect((await override.resolve()).isolation?.setup).toMatchObject({ setup: ["true"], setupTimeoutMs: 120_000 });
	});
});
