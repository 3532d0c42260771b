import { execFileSync } from "node:child_process";
import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { readMeta, readResult } from "../src/index.ts";
import { isRunDir, isRunPath, prepareRunsDir } from "../src/runs-dir.ts";

/** A project, a place for temporary files, and a place that is nobody's business. */
async function world() {
	const temp = await createTempDir();
	const [project, tmp, outside] = [join(temp.path, "project"), join(temp.path, "tmp"), join(temp.path, "outside")];
	for (const dir of [project, tmp, outside]) await mkdir(dir);
	const runs = join(project, ".pi", "subagents", "runs");
	return {
		project,
		tmp,
		outside,
		runs,
		prepare: () => prepareRunsDir(project, tmp),
		[Symbol.asyncDispose]: temp.remove,
	};
}

const STRANGER = 65_534;

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe("the directory for runs", () => {
	test("is made in the project, for us alone, and out of sight of git", async () => {
		await using at = await world();
		expect(await at.prepare()).toEqual({ dir: at.runs });
		expect(await modeOf(at.runs)).toBe(0o700);
		expect(await readFile(join(at.runs, ".gitignore"), "utf8")).toBe("*\n");
	});

	test("lies where nobody else can put anything, whatever the user lets others do", async () => {
		await using at = await world();
		const module = new URL("../src/runs-dir.ts", import.meta.url).href;
		const script = `process.umask(0);
			const { prepareRunsDir } = await import(${JSON.stringify(module)});
			await prepareRunsDir(${JSON.stringify(at.project)});`;
		execFileSync(process.execPath, ["--input-type=module", "-C", "@pi-subagents/source", "-e", script]);
		const dirs = [join(at.project, ".pi"), join(at.project, ".pi", "subagents"), at.runs];
		expect(await Promise.all(dirs.map(modeOf))).toEqual([0o755, 0o755, 0o700]);
	});

	test("is the same the next time, with all that is in it", async () => {
		await using at = await world();
		await at.prepare();
		await mkdir(join(at.runs, "a1"));
		await writeFile(join(at.runs, ".gitignore"), "# mine\n*\n");
		expect(await at.prepare()).toEqual({ dir: at.runs });
		expect((await readdir(at.runs)).sort()).toEqual([".gitignore", "a1"]);
		expect(await readFile(join(at.runs, ".gitignore"), "utf8")).toBe("# mine\n*\n");
	});

	test("is closed to others if it was open to them", async () => {
		await using at = await world();
		await mkdir(at.runs, { recursive: true, mode: 0o755 });
		await at.prepare();
		expect(await modeOf(at.runs)).toBe(0o700);
	});

	test("may be behind a link that stays in the project", async () => {
		await using at = await world();
		await mkdir(join(at.project, "config"));
		await symlink("config", join(at.project, ".pi"));
		expect(await at.prepare()).toEqual({ dir: at.runs });
		expect(await readdir(join(at.project, "config", "subagents"))).toEqual(["runs"]);
	});

	test("can be made by several at once", async () => {
		await using at = await world();
		const made = await Promise.all(Array.from({ length: 20 }, at.prepare));
		expect(made).toEqual(Array(20).fill({ dir: at.runs }));
	});
});

describe("a project that has no place for runs", () => {
	test.each([".pi", ".pi/subagents", ".pi/subagents/runs"])(
		"because %s leads elsewhere is not followed",
		async (name) => {
			await using at = await world();
			const path = join(at.project, name);
			await mkdir(join(path, ".."), { recursive: true });
			await symlink(at.outside, path);
			const mode = await modeOf(at.outside);
			const { dir, warning } = await at.prepare();
			expect(join(dir, "..")).toBe(at.tmp);
			expect(warning).toContain(`are stored in ${dir}, because the project's directory cannot be used: ${path}`);
			expect(await readdir(at.outside)).toEqual([]);
			expect(await modeOf(at.outside)).toBe(mode);
		},
	);

	test("because a link leads to nothing makes nothing there", async () => {
		await using at = await world();
		await symlink(join(at.outside, "nothing"), join(at.project, ".pi"));
		expect((await at.prepare()).warning).toContain("ENOENT");
		expect(await readdir(at.outside)).toEqual([]);
	});

	test("because the directory for runs is a link, even within it, leaves what it points at alone", async () => {
		await using at = await world();
		await mkdir(join(at.project, "src"));
		await mkdir(join(at.runs, ".."), { recursive: true });
		await symlink(join(at.project, "src"), at.runs);
		expect((await at.prepare()).warning).toContain(`${at.runs} is not a directory`);
		expect(await readdir(join(at.project, "src"))).toEqual([]);
	});

	test.each([".pi", ".pi/subagents", ".pi/subagents/runs"])("because %s is a file gets one elsewhere", async (name) => {
		await using at = await world();
		const path = join(at.project, name);
		await mkdir(join(path, ".."), { recursive: true });
		await writeFile(path, "");
		const { dir, warning } = await at.prepare();
		expect(warning).toContain(dir);
		expect([await modeOf(dir), (await lstat(dir)).isDirectory()]).toEqual([0o700, true]);
	});

	test.runIf(process.platform === "linux")("because nothing can be made there gets one elsewhere", async () => {
		await using at = await world();
		const { dir, warning } = await prepareRunsDir("/proc/self", at.tmp);
		expect(join(dir, "..")).toBe(at.tmp);
		expect(warning).toContain("/proc/self/.pi");
	});

	test("gets the same one each time, and another project another", async () => {
		await using at = await world();
		const other = join(at.outside, "project");
		await mkdir(other);
		for (const root of [at.project, other]) await writeFile(join(root, ".pi"), "");
		const [first, second] = [await at.prepare(), await at.prepare()];
		expect(second).toEqual(first);
		expect((await prepareRunsDir(other, at.tmp)).dir).not.toBe(first.dir);
	});

	test("shares no directory that others can read or that is a link: it gets a fresh one", async () => {
		await using at = await world();
		await writeFile(join(at.project, ".pi"), "");
		const { dir: known } = await at.prepare();
		for (const spoil of [
			() => mkdir(known, { mode: 0o755 }),
			() => symlink(at.outside, known),
			() => writeFile(known, "theirs"),
		]) {
			await rm(known, { recursive: true, force: true });
			await spoil();
			const { dir } = await at.prepare();
			expect(dir).toMatch(new RegExp(`^${known}-.{6}$`));
			expect(await modeOf(dir)).toBe(0o700);
		}
		expect(await readdir(at.outside)).toEqual([]);
		expect(await readFile(known, "utf8")).toBe("theirs");
	});

	test.runIf(process.platform !== "win32").each([".pi", ".pi/subagents"])(
		"because everybody can write in %s, and put another one there, gets one elsewhere",
		async (name) => {
			await using at = await world();
			const path = join(at.project, name);
			await mkdir(path, { recursive: true });
			await chmod(path, 0o777);
			const { dir, warning } = await at.prepare();
			expect(join(dir, "..")).toBe(at.tmp);
			expect(warning).toContain(`everyone can write in ${path} and replace it: chmod o-w ${path}`);
			await chmod(path, 0o1777); // there everybody can take away only what is theirs
			expect(await at.prepare()).toEqual({ dir: at.runs });
		},
	);

	test.runIf(process.getuid?.() === 0)("because it is another user's gets one elsewhere", async () => {
		await using at = await world();
		await at.prepare();
		for (const path of [at.runs, join(at.runs, ".."), join(at.runs, "..", "..")]) {
			await chown(path, STRANGER, STRANGER);
			const { dir, warning } = await at.prepare();
			expect(join(dir, "..")).toBe(at.tmp);
			expect(warning).toContain(`${path} belongs to another user`);
			await chown(path, 0, 0);
		}
		expect(await at.prepare()).toEqual({ dir: at.runs });
	});

	test.runIf(process.getuid?.() === 0)("unless the whole project is that user's", async () => {
		await using at = await world();
		await mkdir(join(at.project, ".pi", "subagents"), { recursive: true });
		for (const name of ["", ".pi", ".pi/subagents"]) await chown(join(at.project, name), STRANGER, STRANGER);
		expect(await at.prepare()).toEqual({ dir: at.runs });
	});

	test("nor a place for temporary files says both", async () => {
		await using at = await world();
		await writeFile(join(at.project, ".pi"), "");
		const missing = join(at.tmp, "missing");
		await expect(prepareRunsDir(at.project, missing)).rejects.toThrow(
			/^Agents' files cannot be stored: .*\.pi.*; ENOENT/,
		);
	});
});

describe("a path from an edited file", () => {
	test.each([
		["/project/.pi/subagents/runs/a1", true],
		["/tmp/pi-subagents-1000-0123456789ab/a1", true],
		["/tmp/pi-subagents-1000-0123456789ab-Xy_9aZ/a1", true],
		["/project/.pi/subagents/runs/a2", false],
		["/project/.pi/subagents/runs", false],
		["/project/.pi/subagents/runs/../runs/a1", false],
		["/etc/a1", false],
		["/etc", false],
		["../../a1", false],
		[".pi/subagents/runs/a1", false],
		["/project/x.pi/subagents/runs/a1", false],
		["/tmp/pi-subagents-1000-0123456789ab/../a1", false],
		["", false],
	])("%s can be the directory of the run a1: %s", (path, isIt) => {
		expect(isRunPath(path, "a1")).toBe(isIt);
	});

	test("is the directory of a run where it leads there, and also when that is gone", async () => {
		await using at = await world();
		const { dir } = await at.prepare();
		await mkdir(join(dir, "a1"));
		expect(await Promise.all(["a1", "a2"].map((id) => isRunDir(join(dir, id), id)))).toEqual([true, true]);
	});

	test.runIf(process.getuid?.() === 0)("is none when it, or what it lies in, is another user's", async () => {
		await using at = await world();
		const { dir } = await at.prepare();
		const run = join(dir, "a1");
		await mkdir(run);
		for (const path of [run, dir]) {
			await chown(path, STRANGER, STRANGER);
			expect(await isRunDir(run, "a1")).toBe(false);
			await chown(path, 0, 0);
		}
	});

	test("is none when it, or what it lies in, was swapped for a link, and nothing is read through that", async () => {
		await using at = await world();
		const { dir } = await at.prepare();
		const run = join(dir, "a1");
		await mkdir(run);
		await writeFile(join(run, "result.json"), "{}");
		for (const path of [run, dir]) {
			await rename(path, join(at.outside, "swapped"));
			await symlink(join(at.outside, "swapped"), path);
			expect(await isRunDir(run, "a1")).toBe(false);
			if (path === run) {
				await expect(readResult(run)).rejects.toThrow(`${run} is a link`);
				expect(await readMeta(run)).toContain(`${run} is a link`);
			}
			await rm(path);
			await rename(join(at.outside, "swapped"), path);
		}
	});
});
