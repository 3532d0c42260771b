import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { AgentError, type Facts } from "@pi-subagents/core";
import { identityOf, RunProcesses } from "@pi-subagents/core/internal/signals";
import { handClock } from "@pi-subagents/core/testing";
import type { PresetReport } from "@pi-subagents/launch";
import { type Preset, parseOverride } from "@pi-subagents/presets";
import type { GuardReport } from "@pi-subagents/runners/session";
import { describe, expect, onTestFinished, test } from "vitest";
import { readSettings } from "../../../launch/test/fixture.ts";
import { checkDirectories, checkLeftovers } from "../../src/doctor/directories.ts";
import { examine, reportBlocks } from "../../src/doctor/doctor.ts";
import { checkGuards } from "../../src/doctor/guards.ts";
import { checkLaunches, checkModels, checkPresets, checkSettings } from "../../src/doctor/presets.ts";
import { checkGit, checkSearch, checkTmux, checkVersions } from "../../src/doctor/programs.ts";
import { agent, preset, text } from "../fixture.ts";

function report(
	presets: Preset[],
	settings: Record<string, unknown> = {},
	problems: PresetReport["problems"] = [],
): PresetReport {
	const read = readSettings([{ path: "subagents.json", text: JSON.stringify(settings) }]);
	const overrides = read.settings.agentOverrides;
	return {
		presets,
		problems,
		config: { ...read, trust: "unasked" },
		knows: (name) => presets.some((each) => each.name.toLowerCase() === name.toLowerCase()),
		overrideOf: ({ name }) => {
			const { faults, ...override } = parseOverride(overrides[name] ?? {});
			return { ...override, faults: faults.map(({ message }) => `agentOverrides.${name}: ${message}`), notes: [] };
		},
	};
}

const builtin = preset({ name: "Explore", source: { kind: "builtin", flavour: "agents", inProject: false } });

const facts: Facts = {
	models: [{ provider: "fake", id: "one" }],
	tools: ["read", "bash", "ls"].map((name) => ({ name, isActive: true })),
	cwd: { path: "/project", kind: "directory", isAsked: false },
	isProjectTrusted: false,
};

async function directory(): Promise<string> {
	const path = await mkdtemp(join(tmpdir(), "doctor-"));
	onTestFinished(() => rm(path, { recursive: true, force: true }));
	return path;
}

test("a report has a row for each finding, with what to do, and a verdict", () => {
	const report = reportBlocks([
		{
			name: "versions",
			findings: [
				{ level: "ok", text: "Node 22.20.0" },
				{ level: "ok", text: "pi 0.87.1" },
			],
		},
		{ name: "git", findings: [{ level: "hint", text: "git is not installed.", fix: "Install it." }] },
		{ name: "presets", findings: [{ level: "problem", text: "broken.md:4: `tools` must be a list" }] },
	]);
	expect(text(report)).toBe(
		`✓  versions  Node 22.20.0
✓            pi 0.87.1
!  git       git is not installed.
             → Install it.
✗  presets   broken.md:4: \`tools\` must be a list

1 problem, 1 hint.`,
	);
	expect(text(reportBlocks([{ name: "a", findings: [{ level: "ok", text: "fine" }] }]))).toContain(
		"No problems found.",
	);
});

test("checks run at once; one that hangs and one that throws are findings, and the others have their say", async () => {
	const clock = handClock();
	const begun: string[] = [];
	const check = (name: string, run: () => Promise<never[]>) => ({
		name,
		run() {
			begun.push(name);
			return run();
		},
	});
	const all = examine(
		[
			check("hangs", () => new Promise(() => undefined)),
			check("throws", () => Promise.reject(new Error("no such thing"))),
			check("works", async () => []),
		],
		2_000,
		clock,
	);
	expect(begun).toEqual(["hangs", "throws", "works"]);
	await new Promise(setImmediate);
	clock.advance(2_000);
	expect(await all).toEqual([
		{ name: "hangs", findings: [{ level: "problem", text: "This could not be checked: it timed out" }] },
		{ name: "throws", findings: [{ level: "problem", text: "This could not be checked: no such thing" }] },
		{ name: "works", findings: [] },
	]);
});

test("presets are counted by where they come from, and their problems named", () => {
	const problems = [
		{ path: "/p/a.md", line: 4, severity: "error" as const, message: "bad" },
		{ path: "/p/b.md", severity: "warning" as const, message: "odd" },
	];
	expect(checkPresets(report([builtin, preset(), preset({ name: "x", enabled: false })], {}, problems))).toEqual([
		{ level: "ok", text: "3 presets: 1 builtin, 2 project; 1 switched off" },
		{ level: "problem", text: "/p/a.md:4: bad" },
		{ level: "hint", text: "/p/b.md: odd" },
	]);
	expect(checkPresets(report([]))[0]).toMatchObject({ level: "problem", text: "There are no presets." });
	const many = Array.from({ length: 12 }, () => problems[0] ?? []).flat();
	expect(checkPresets(report([builtin], {}, many)).at(-1)).toEqual({ level: "problem", text: "and 2 more" });
});

test("settings are checked, with what they say about presets", () => {
	expect(checkSettings(report([builtin]))).toEqual([{ level: "ok", text: "no problems" }]);
	const settings = { maxConcurent: 3, agentOverrides: { Explore: { max_turns: "many" }, Ghost: {} } };
	expect(checkSettings(report([builtin], settings)).map((finding) => finding.text)).toEqual([
		expect.stringContaining('"maxConcurent" is not a setting'),
		expect.stringMatching(/^agentOverrides\.Explore: "max_turns" must be/),
		"agentOverrides.Ghost: there is no such preset",
	]);
	expect(checkSettings(report([builtin], { maxDepth: "two", widget: "huge" }))).toEqual([
		{
			level: "problem",
			text: 'subagents.json:1: "maxDepth" is "two", expected a whole number from 1 to 32',
			fix: "Fix it in the file, or with /agents › Settings. No agent is launched until then.",
		},
		{ level: "problem", text: expect.stringMatching(/"widget" is "huge", .*; ignored$/) },
	]);
});

test("models: what is there, and which presets name none", () => {
	const parent = { model: { provider: "fake", id: "one" } };
	const all = report([preset({ model: "one" }), preset({ name: "pinned", model: "gone/model" })]);
	expect(checkModels(all, facts, parent)).toEqual([
		{ level: "ok", text: "1 model available; this session uses fake/one" },
	]);
	expect(checkModels(report([preset()]), facts, parent)[1]).toMatchObject({
		level: "hint",
		text: expect.stringContaining("names no model"),
	});
	expect(checkModels(report([preset()], { defaultModel: "fake/one" }), facts, parent)).toHaveLength(1);
	expect(checkModels(report([builtin]), { ...facts, models: [] }, {})).toMatchObject([{ level: "problem" }]);
});

test("a preset that no launch accepts is found, with the launch's own words; one that is off is not tried", async () => {
	const all = report([builtin, preset(), preset({ name: "off", enabled: false })]);
	const tried: string[] = [];
	const tryLaunch = async (name: string) => {
		tried.push(name);
		if (name === "scout") throw new AgentError("bad_request", "There is no launcher `offline`.");
	};
	expect(await checkLaunches(all, tryLaunch)).toEqual([
		{
			level: "problem",
			text: "scout cannot be launched: There is no launcher `offline`.",
			fix: "Change /project/.pi/subagents/scout.md or your settings.",
		},
	]);
	expect(tried).toEqual(["Explore", "scout"]);
	expect(await checkLaunches(report([builtin]), tryLaunch)).toEqual([
		{ level: "ok", text: "every preset can be launched" },
	]);
});

test("versions that are too old are problems", async () => {
	expect(await checkVersions("22.19.0", "1.5.0")).toEqual([
		{ level: "ok", text: "Node 22.19.0" },
		{ level: "ok", text: "pi 1.5.0" },
	]);
	expect(await checkVersions("22.9.1", "0.86.9")).toMatchObject([
		{ level: "problem", text: "Node 22.9.1 is older than 22.19.0." },
		{ level: "problem", text: "pi 0.86.9 is older than 0.87.0." },
	]);
});

test("git tells its version and whether this is a repository", async () => {
	expect(await checkGit(await directory())).toMatchObject([
		{ level: "ok", text: expect.stringMatching(/^git version .*; this is not a repository/) },
	]);
});

test.skipIf(process.platform === "win32")(
	"a program that could not be started for lack of handles is not called missing",
	async () => {
		const script = `
			import { openSync } from "node:fs";
			import { checkGit } from ${JSON.stringify(new URL("../../src/doctor/programs.ts", import.meta.url).href)};
			try { for (;;) openSync("/dev/null"); } catch {}
			process.stdout.write(await checkGit("/").then(JSON.stringify, (error) => error.message));
			process.exit(0);`;
		const node = [
			process.execPath,
			"--conditions=@pi-subagents/source",
			"--no-warnings",
			"--input-type=module",
			"-e",
			script,
		];
		const { stdout } = await promisify(execFile)("sh", ["-c", 'ulimit -n 64; exec "$@"', "sh", ...node]);
		expect(stdout).toBe("git could not be started: spawn git EMFILE");
	},
);

test("a missing tmux is a problem only where something asks for it", async () => {
	const wanting = report([preset({ runner: "tmux" })]);
	const PATH = await directory();
	expect(await checkTmux(report([]), { PATH })).toEqual([{ level: "ok", text: "not installed, not needed" }]);
	expect(await checkTmux(wanting, { PATH })).toMatchObject([
		{ level: "problem", text: "tmux is not installed, but requested by scout." },
	]);
	await writeFile(join(PATH, "tmux"), "#!/bin/sh\necho tmux 3.4\n", { mode: 0o755 });
	expect(await checkTmux(wanting, { PATH })).toEqual([{ level: "ok", text: "tmux 3.4; pi does not run inside it" }]);
	expect(await checkTmux(wanting, { PATH, TMUX: "x" })).toEqual([{ level: "ok", text: "tmux 3.4; pi runs inside it" }]);
});

test("what searches for agents is looked for in pi's own directory too", async () => {
	const agentDir = await directory();
	await mkdir(join(agentDir, "bin"));
	const empty = { PATH: agentDir };
	expect(await checkSearch(agentDir, empty)).toMatchObject([
		{ level: "problem", text: "ripgrep is missing: the agents' grep tool does not work." },
		{ level: "problem", text: "fd is missing: the agents' find tool does not work." },
	]);
	await symlink(process.execPath, join(agentDir, "bin", "rg"));
	await symlink(process.execPath, join(agentDir, "fdfind"));
	expect(await checkSearch(agentDir, empty)).toEqual([
		{ level: "ok", text: process.version },
		{ level: "ok", text: process.version },
	]);
});

test("places that are not there yet are fine where they can be made; what stands in their way is not", async () => {
	const [agentDir, cwd] = [await directory(), await directory()];
	const runs = join(cwd, ".pi", "subagents", "runs");
	expect(await checkDirectories({ agentDir, cwd })).toEqual([
		{ level: "ok", text: `pi's directory: ${agentDir}` },
		{ level: "ok", text: `conversations: ${join(agentDir, "state", "subagents")} (not created yet)` },
		{ level: "ok", text: `runs: ${runs} (not created yet)` },
	]);
	await writeFile(join(agentDir, "state"), "in the way");
	await mkdir(runs, { recursive: true });
	await chmod(runs, 0o777);
	const [, state, found] = await checkDirectories({ agentDir, cwd });
	expect(state).toEqual({
		level: "problem",
		text: `${join(agentDir, "state")} is not a directory.`,
		fix: "Move it elsewhere.",
	});
	if (process.platform !== "win32")
		expect(found).toEqual({ level: "problem", text: `${runs} is writable by everyone.`, fix: `chmod o-w ${runs}` });
});

test("runs whose process is gone without a result are counted, and no others", async () => {
	const [agentDir, cwd] = [await directory(), await directory()];
	const runs = join(cwd, ".pi", "subagents", "runs");
	const now = Date.now();
	const us = await identityOf(process.pid);
	const run = async (name: string, files: Record<string, unknown>, ageMs = 0) => {
		await mkdir(join(runs, name), { recursive: true });
		for (const [file, content] of Object.entries({ "meta.json": {}, ...files }))
			await writeFile(join(runs, name, file), JSON.stringify(content));
		const at = new Date(now - ageMs);
		await utimes(join(runs, name), at, at);
	};
	expect(await checkLeftovers({ agentDir, cwd }, [], now)).toEqual([
		{ level: "ok", text: "0 runs kept, all finished" },
	]);
	const twoDays = 2 * 24 * 60 * 60 * 1_000;
	await run("done", { "result.json": {}, "wrapper.json": { type: "started", at: 1, ...us, born: "another" } });
	await run("alive", { "wrapper.json": { type: "started", at: 1, ...us } }, twoDays);
	await new RunProcesses({ agentDir, runDir: join(runs, "alive") }).recordWrapper(us, 1);
	await run("starting", {});
	await run("a1b2c3d4", {}, twoDays);
	await mkdir(join(runs, "stranger"));
	expect(await checkLeftovers({ agentDir, cwd }, [agent()], now)).toEqual([
		{ level: "ok", text: "5 runs kept, all finished" },
	]);
	await run("killed", { "wrapper.json": { type: "started", at: 1, ...us, pid: 2 ** 30 } });
	await run("forged", { "wrapper.json": { type: "started", at: 1, ...us } });
	await run("old", {}, twoDays);
	expect(await checkLeftovers({ agentDir, cwd }, [agent()], now)).toMatchObject([
		{ level: "hint", text: `3 runs in ${runs} ended without a result: their process is gone.` },
	]);
});

test("the doctor lists what is read under another name, and what has no effect, and finds nothing wrong with it", () => {
	expect(checkSettings(report([], { defaultJoinMode: "async", fleetView: true }))).toEqual([
		{ level: "ok", text: "no problems" },
		{ level: "ok", text: "subagents.json: `defaultJoinMode` is read as `join`" },
		{
			level: "ok",
			text: "subagents.json: `fleetView` has no effect here: the tree and `/agents` show every agent",
		},
	]);
});

describe("guards", () => {
	const gate = { path: "/x/gate.ts", names: ["gate"], replaces: [], judgesCalls: true };
	const report = { guards: [], exempt: [], isOff: false, loaded: 2 };
	const found = async (change: Partial<GuardReport>) =>
		(await checkGuards({ report: async () => ({ ...report, ...change }) })).map(
			({ level, text }) => `${level}: ${text}`,
		);

	test("are named with what they do, and those that are exempt as a hint", async () => {
		const box = { path: "/x/box.ts", names: ["box"], replaces: ["bash", "read"], judgesCalls: false };
		const named = { ...gate, names: ["redactor"], judgesCalls: false };
		expect(await found({ guards: [gate, box, named], exempt: [{ path: "/y.ts", names: ["noisy"] }] })).toEqual([
			"ok: gate holds in every agent: it judges tool calls (/x/gate.ts)",
			"ok: box holds in every agent: it replaces bash, read (/x/box.ts)",
			"ok: redactor holds in every agent: it is named in your settings (/x/gate.ts)",
			"hint: noisy guards no agent: your settings exempt it.",
		]);
	});

	test("are missed only where there are extensions, and one that does not load is a problem", async () => {
		expect(await found({ loaded: 0 })).toEqual(["ok: no extensions"]);
		expect(await found({})).toEqual(["ok: none of 2 extensions guards agents"]);
		expect(await found({ isOff: true })).toEqual([
			"hint: Your extensions guard no agent: `guards` is off in your settings.",
		]);
		const broken = checkGuards({ report: () => Promise.reject(new Error("gate.ts could not be loaded")) });
		expect(await broken).toEqual([{ level: "problem", text: "gate.ts could not be loaded" }]);
	});
});
