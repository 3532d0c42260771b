import { execFile } from "node:child_process";
import { chmod, mkdir, symlink, truncate } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { agentsDirs, discoverPresets } from "../../src/index.ts";
import { preset, put, tree } from "../support.ts";

const run = promisify(execFile);
const index = new URL("../../src/index.ts", import.meta.url).href;

/** Discovers next to a good preset, and gives what was said about the other file. */
async function discoverBeside(prepare: (directory: string) => Promise<unknown>) {
	const root = await tree({ "subagents/good.md": preset("good") });
	await prepare(join(root, "subagents"));
	const { presets, problems } = await discoverPresets({ cwd: root, agentDir: root });
	expect(presets.map(({ name }) => name)).toContain("good");
	for (const { path } of problems) expect(path.startsWith(join(root, "subagents"))).toBe(true);
	return { names: presets.map(({ name }) => name), messages: problems.map(({ message }) => message) };
}

test.each<[string, (directory: string) => Promise<unknown>, string]>([
	[
		"a pipe that nobody writes to",
		(at) => run("mkfifo", [join(at, "x.md")]),
		"this is a pipe, not a regular file: remove it",
	],
	[
		"a link to an endless device",
		(at) => symlink("/dev/zero", join(at, "x.md")),
		"this is a device, not a regular file: remove it",
	],
	[
		"a link to a terminal",
		(at) => symlink("/dev/tty", join(at, "x.md")),
		"this is a device, not a regular file: remove it",
	],
	[
		"a link to a pipe",
		async (at) => {
			await run("mkfifo", [join(at, "pipe")]);
			await symlink("pipe", join(at, "x.md"));
		},
		"this is a pipe, not a regular file: remove it",
	],
	["a directory", (at) => mkdir(join(at, "x.md")), "this is a directory: rename it, or move its files up"],
	[
		"a link to a directory",
		(at) => symlink("..", join(at, "x.md")),
		"this is a directory: rename it, or move its files up",
	],
	["a link to nothing", (at) => symlink("nowhere", join(at, "x.md")), "the link points to no file: fix or remove it"],
	["a link to itself", (at) => symlink("x.md", join(at, "x.md")), "the link points to itself: fix or remove it"],
	[
		"a 2 MB description",
		(at) => put(join(at, "x.md"), preset("x").replace("About", "A".repeat(2 << 20))),
		"the file has 2049 KB: make it smaller than 256 KB",
	],
	[
		"a sparse file of 100 MB",
		async (at) => {
			await put(join(at, "x.md"), "---\n");
			await truncate(join(at, "x.md"), 100 << 20);
		},
		"the file has 102400 KB: make it smaller than 256 KB",
	],
	[
		"a description of 100 KB",
		(at) => put(join(at, "x.md"), preset("x").replace("About", "A".repeat(100_000))),
		"the frontmatter has 100023 characters: use at most 16384 and put the rest into the body",
	],
	[
		"Latin-1 text",
		(at) => put(join(at, "x.md"), Buffer.from(preset("x", "", "für"), "latin1")),
		"the file is not UTF-8 text: save it as UTF-8",
	],
	[
		"UTF-16 text",
		(at) => put(join(at, "x.md"), Buffer.from(`\ufeff${preset("x")}`, "utf16le")),
		"the file is not UTF-8 text: save it as UTF-8",
	],
	[
		"binary content",
		(at) => put(join(at, "x.md"), new Uint8Array(1000)),
		"the file contains NUL characters: save it as UTF-8 text",
	],
	[
		"an empty file",
		(at) => put(join(at, "x.md"), ""),
		"the file has no frontmatter: start it with `---`, `name: …`, `description: …`, `---`",
	],
	[
		"a link to a file that is no preset",
		(at) => symlink("/etc/passwd", join(at, "x.md")),
		"the file has no frontmatter: start it with `---`, `name: …`, `description: …`, `---`",
	],
])("%s is one problem, and nothing hangs", async (_what, prepare, message) => {
	expect(await discoverBeside(prepare)).toEqual({ names: ["good"], messages: [message] });
});

test("a link to a preset is followed", async () => {
	const { names, messages } = await discoverBeside(async (at) => {
		await put(join(at, "shelf/other.txt"), preset("linked"));
		await symlink(join("shelf", "other.txt"), join(at, "x.md"));
	});
	expect([names, messages]).toEqual([["good", "linked"], []]);
});

test("file names may hold anything that a file system allows", async () => {
	const { names, messages } = await discoverBeside(async (at) => {
		for (const name of ["a b", "\u001b[31mred", "new\nline", "__proto__", "ünï", "\\back", "%2e%2e"]) {
			await put(
				join(at, `${name}.md`),
				preset(`n${name.length}`.replace(/[^\w]/g, "")).replace("name:", `# ${name.length}\nname:`),
			);
		}
	});
	expect(names).toContain("good");
	for (const message of messages) expect(message).toMatch(/is already used by/);
});

test("in `agents` directories a link to any file does not become a prompt", async () => {
	const root = await tree({ "agents/good.md": "Fine." });
	await symlink("/etc/passwd", join(root, "agents/leak.md"));
	const { presets, problems } = await discoverPresets({ cwd: root, agentDir: root, sources: agentsDirs() });
	expect(presets.map(({ name }) => name)).toEqual(["good"]);
	expect(problems).toHaveLength(1);
});

test("an unreadable file and an unreadable directory are problems", async () => {
	const root = await tree({
		"a/subagents/x.md": preset("x"),
		"a/subagents/y.md": preset("y"),
		"b/subagents/z.md": preset("z"),
	});
	await chmod(root, 0o755);
	await chmod(join(root, "a/subagents/x.md"), 0);
	await chmod(join(root, "b/subagents"), 0);
	// The super-user reads everything, so discovery runs in a process that is not.
	const script = `
		const { discoverPresets } = await import(${JSON.stringify(index)});
		if (process.getuid() === 0) process.setuid(65534);
		for (const name of ["a", "b"]) {
			const agentDir = ${JSON.stringify(root)} + "/" + name;
			const { presets, problems } = await discoverPresets({ cwd: "/", agentDir });
			console.log(JSON.stringify([presets.map((p) => p.name), problems.map((p) => p.message)]));
		}`;
	const { stdout } = await run(process.execPath, [
		"--conditions=@pi-subagents/source",
		"--input-type=module",
		"-e",
		script,
	]);
	expect(
		stdout
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line)),
	).toEqual([
		[["y"], ["the file cannot be read: check its permissions"]],
		[[], ["cannot be read (EACCES): check its permissions"]],
	]);
	await chmod(join(root, "b/subagents"), 0o755);
});
