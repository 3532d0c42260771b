/** The packages as strangers get them: packed, installed alone, used. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTempDir, runPrint, type TempDir } from "@pi-subagents-dev/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parentDelegates, scene, scoutReadsNotes } from "./scene.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const names = ["core", "extension", "presets", "progress", "rpc", "schedule", "widget"];

let temp: TempDir;
const tarballs = new Map<string, string>();

/** Fails with everything the command printed. */
async function run(command: string, args: readonly string[], cwd: string, input = ""): Promise<string> {
	const running = promisify(execFile)(command, [...args], { cwd, maxBuffer: 32 * 1024 * 1024 });
	running.child.stdin?.end(input);
	try {
		return (await running).stdout;
	} catch (error) {
		const { stdout, stderr } = error as { stdout?: string; stderr?: string };
		throw new Error(`${command} ${args.join(" ")} failed\n${stdout}\n${stderr}`);
	}
}

const bin = (name: string) => join(root, "e2e", "node_modules", ".bin", name);

/** An empty project with these tarballs installed as a user would. */
async function consumer(...packages: readonly string[]): Promise<string> {
	const dir = join(temp.path, `uses-${packages.join("-")}`);
	await mkdir(dir);
	await writeFile(join(dir, "package.json"), JSON.stringify({ private: true, type: "module" }));
	const files = packages.map((name) => tarballs.get(name) ?? name);
	await run(
		"npm",
		["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", "--legacy-peer-deps", ...files],
		dir,
	);
	return dir;
}

/** What a script in the project prints. */
async function script(dir: string, code: string): Promise<string> {
	await writeFile(join(dir, "script.mjs"), code);
	return run(process.execPath, ["script.mjs"], dir);
}

/** Whether TypeScript, outside our workspace, understands the code. */
async function typecheck(dir: string, code: string): Promise<void> {
	await writeFile(join(dir, "consumer.ts"), code);
	const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--types", ""];
	await run(join(root, "node_modules", ".bin", "tsc"), [...flags, "consumer.ts"], dir);
}

beforeAll(async () => {
	temp = await createTempDir("pi-packages-");
	for (const name of names) {
		await run("pnpm", ["pack", "--pack-destination", temp.path], join(root, "packages", name));
	}
	for (const file of await readdir(temp.path)) {
		tarballs.set(file.replace(/^pi-subagents-(.+)-\d+\.\d+\.\d+.*\.tgz$/, "$1"), join(temp.path, file));
	}
	expect([...tarballs.keys()].sort()).toEqual(names);
}, 120_000);
afterAll(() => temp.remove());

describe.each(names)("the %s tarball", (name) => {
	test("passes publint and attw", async () => {
		const tarball = tarballs.get(name) ?? "";
		await run(bin("publint"), ["run", tarball, "--strict"], temp.path);
		await run(bin("attw"), [tarball, "--profile", "esm-only"], temp.path);
	});

	test("holds what it should, and nobody's paths", async () => {
		const dir = join(temp.path, `unpacked-${name}`);
		await mkdir(dir);
		await run("tar", ["-xzf", tarballs.get(name) ?? "", "-C", dir], dir);
		const manifest = JSON.parse(await readFile(join(dir, "package/package.json"), "utf8"));
		expect(manifest).toMatchObject({ license: "MIT", type: "module", engines: { node: ">=22.19.0" } });
		expect(JSON.stringify(manifest.exports)).not.toContain("@pi-subagents/source");
		const files = (await readdir(join(dir, "package"), { recursive: true, withFileTypes: true })).filter((entry) =>
			entry.isFile(),
		);
		expect(files.map((file) => file.name)).toEqual(
			expect.arrayContaining(["README.md", "LICENSE", "index.js", "index.d.ts"]),
		);
		for (const file of files) expect(await readFile(join(file.parentPath, file.name), "utf8")).not.toContain(root);
	});
});

test("progress works alone: ESM, types and the command", async () => {
	const dir = await consumer("progress");
	expect((await readdir(join(dir, "node_modules"))).filter((entry) => !entry.startsWith("."))).toEqual([
		"@pi-subagents",
	]);
	const code = `import { createDescriber, normalize } from "@pi-subagents/progress";
const describe = createDescriber();
const raw: unknown = { type: "tool_execution_start", toolCallId: "1", toolName: "read", args: { path: "src/auth.ts" } };
const line: string | undefined = normalize(raw).map(describe)[0];
console.log(line);`;
	await typecheck(dir, code.replace("console.log(line);", "export { line };"));
	expect(await script(dir, code.replace(": unknown", "").replace(": string | undefined", ""))).toBe(
		"Reading src/auth.ts\n",
	);
	const event = JSON.stringify({
		type: "tool_execution_start",
		toolCallId: "1",
		toolName: "bash",
		args: { command: "npm test" },
	});
	expect(await run("npx", ["--no-install", "pi-progress"], dir, `${event}\n`)).toBe("npm test\n");
});

test("presets work alone", async () => {
	const dir = await consumer("presets");
	await mkdir(join(dir, ".pi/subagents"), { recursive: true });
	await writeFile(join(dir, ".pi/subagents/scout.md"), "---\nname: scout\ndescription: Looks around\n---\nLook.\n");
	const code = `import { discoverPresets } from "@pi-subagents/presets";
const { presets } = await discoverPresets({ cwd: process.cwd(), agentDir: "/nowhere" });
for (const { name, description } of presets) console.log(name + ": " + description);`;
	expect(await script(dir, code)).toBe("scout: Looks around\n");
});

test("core, schedule and rpc load alone, and widget with nothing but pi's own screen library", async () => {
	const dir = await consumer("progress", "core", "schedule", "rpc", "widget");
	const tui = "@earendil-works/pi-tui";
	await mkdir(join(dir, "node_modules", dirname(tui)), { recursive: true });
	await symlink(join(root, "packages/widget/node_modules", tui), join(dir, "node_modules", tui));
	const code = `import { Manager, systemClock } from "@pi-subagents/core";
import { fakeRunner } from "@pi-subagents/core/testing";
import { nextRuns, parseSchedule } from "@pi-subagents/schedule";
import { replyChannel } from "@pi-subagents/rpc";
import { renderTree } from "@pi-subagents/widget";
const manager = new Manager({ runners: { session: fakeRunner() }, clock: systemClock, newId: () => "a1" });
console.log(manager.store.seq, nextRuns(parseSchedule("5m", { now: 0 }), 0, 1)[0].getTime(), replyChannel("ping", "1"), renderTree([{ id: "a", status: "running" }], { mode: "compact", width: 40, maxLines: 5, now: 0 }).length);`;
	expect(await script(dir, code)).toBe("0 300000 subagents:rpc:ping:reply:1 2\n");
});

test("the extension works in pi from its tarball, and brings no dependency", async () => {
	const dir = await consumer("extension");
	const installed = join(dir, "node_modules/@pi-subagents/extension");
	expect((await readdir(join(dir, "node_modules"))).filter((entry) => !entry.startsWith("."))).toEqual([
		"@pi-subagents",
	]);
	await using it = await scene([parentDelegates, scoutReadsNotes], { extensions: [installed] });
	const { stdout, code } = await runPrint({ env: it.env }, "Please delegate.");
	expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("The launch code is heliotrope.") });
});
