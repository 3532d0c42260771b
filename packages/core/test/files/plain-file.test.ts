/** Every way to open a file that an agent may have replaced, against everything that it can put there. */
import { closeSync, writeSync } from "node:fs";
import { appendFile, chmod, mkdir, readFile, rename, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir, putStrange, STRANGE_KINDS } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { replaceWhole } from "../../src/files/create.ts";
import { takeSteps } from "../../src/files/file-steps.ts";
import { GrowingFile } from "../../src/files/growing-file.ts";
import { appendLines, appendLinesSync } from "../../src/files/line-file.ts";
import {
	copyPlain,
	hideDirectory,
	hideFile,
	openPlainSync,
	readPlain,
	readPlainSync,
	touchPlain,
} from "../../src/files/plain-file.ts";
import { editSmallFile, readSmallFile, readSmallFileSync } from "../../src/files/small-file.ts";
import { followLines } from "../../src/files/tail.ts";
import { handClock } from "../../src/testing/index.ts";

const KILOBYTE = 1024;
const STRANGE = STRANGE_KINDS.filter((kind) => kind !== "a file of a terabyte");

/** Each fails, or does nothing; none of them waits. */
const READERS: [string, (path: string) => unknown][] = [
	["readPlain", (path) => readPlain(path, KILOBYTE)],
	["readPlainSync", (path) => readPlainSync(path, KILOBYTE)],
	["copyPlain", (path) => copyPlain(path, `${path}.copy`, { maxBytes: KILOBYTE })],
];

/** People may link these: what the link leads to must still be a small regular file. */
const LINKED_READERS: [string, (path: string) => unknown][] = [
	["readSmallFile", readSmallFile],
	["readSmallFileSync", readSmallFileSync],
	["editSmallFile", (path) => editSmallFile(path, () => "new")],
];

const APPENDERS: [string, (path: string) => unknown][] = [
	["LineFile", (path) => appendLinesSync(path, "more\n", { durable: true })],
	["appendLines", (path) => appendLines(path, "more\n", { durable: false })],
	[
		"openPlainSync",
		(path) => {
			const file = openPlainSync(path, { use: "append" });
			writeSync(file, "more\n");
			closeSync(file);
		},
	],
	[
		"GrowingFile",
		(path) => {
			const lost: string[] = [];
			const file = new GrowingFile({ path, durable: false, onLost: (why) => void lost.push(why) });
			const isWritten = file.append("more\n");
			file.close();
			if (!isWritten) throw new Error(lost.join());
		},
	],
	[
		"the file thread",
		(path) => {
			const [fault] = takeSteps([{ does: "append", path, text: "more\n", durable: false }]);
			if (fault !== undefined) throw new Error(fault);
		},
	],
];

/** They change what is said about a file, not its content. */
const MARKERS: [string, (path: string) => unknown][] = [
	["hideFile", hideFile],
	["touchPlain", touchPlain],
];

const result = async (work: () => unknown) => await work();

describe.skipIf(process.platform === "win32").each(STRANGE)("where %s is", (kind) => {
	test.each(READERS)("%s refuses to read it", async (_name, read) => {
		await using dir = await createTempDir();
		const path = join(dir.path, "file");
		await using strange = await putStrange(kind, path, "read");
		await expect(result(() => read(path))).rejects.toThrow(/link|regular|directory/);
		await strange.assertUntouched();
	});

	test.each(APPENDERS)("%s refuses to append to it", async (_name, append) => {
		await using dir = await createTempDir();
		const path = join(dir.path, "file");
		await using strange = await putStrange(kind, path, "append");
		await expect(result(() => append(path))).rejects.toThrow(/link|regular|directory/);
		await strange.assertUntouched();
	});

	test.each(MARKERS)("%s refuses to change it", async (_name, mark) => {
		await using dir = await createTempDir();
		const path = join(dir.path, "file");
		await using strange = await putStrange(kind, path, "read");
		await expect(result(() => mark(path))).rejects.toThrow(/link|regular|directory/);
		await strange.assertUntouched();
	});

	test("replaceWhole replaces it, or fails, and follows nothing", async () => {
		await using dir = await createTempDir();
		const path = join(dir.path, "file");
		await using strange = await putStrange(kind, path, "append");
		const replacing = replaceWhole(path, "new\n");
		if (kind === "a directory") await expect(replacing).rejects.toThrow();
		else {
			await replacing;
			expect(await readFile(path, "utf8")).toBe("new\n");
		}
		await strange.assertUntouched();
	});
});

describe
	.skipIf(process.platform === "win32")
	.each(["a pipe", "a socket", "a directory", "a link to a device", "a file of a terabyte"] as const)(
	"where %s is, and links are followed",
	(kind) => {
		test.each(LINKED_READERS)("%s refuses to read it", async (_name, read) => {
			await using dir = await createTempDir();
			const path = join(dir.path, "file");
			await using _strange = await putStrange(kind, path, "read");
			await expect(result(() => read(path))).rejects.toThrow(/regular file|larger than/);
		});
	},
);

test("a link that the user made to a settings file is followed, also when it is edited", async () => {
	await using dir = await createTempDir();
	await writeFile(join(dir.path, "real"), "old");
	await symlink("real", join(dir.path, "link"));
	expect(await readSmallFile(join(dir.path, "link"))).toBe("old");
	await editSmallFile(join(dir.path, "link"), () => "new");
	expect(await readFile(join(dir.path, "real"), "utf8")).toBe("new");
});

test.skipIf(process.platform === "win32")(
	"permissions are those of the file in its place, not of what a link leads to",
	async () => {
		await using dir = await createTempDir();
		const at = (name: string) => join(dir.path, name);
		await mkdir(at("directory"));
		await writeFile(at("file"), "text\n");
		await symlink("file", at("link to a file"));
		await symlink("directory", at("link to a directory"));
		for (const name of ["file", "directory"]) await chmod(at(name), 0o755);
		const modes = async () =>
			Promise.all(["file", "directory"].map(async (name) => (await stat(at(name))).mode & 0o777));
		for (const name of ["link to a file", "link to a directory"]) {
			await expect(hideFile(at(name))).rejects.toThrow("it is a link");
			expect(() => hideDirectory(at(name))).toThrow(/ENOTDIR|ELOOP/);
		}
		expect(() => hideDirectory(at("file"))).toThrow("ENOTDIR");
		expect(await modes()).toEqual([0o755, 0o755]);
		await hideFile(at("file"));
		hideDirectory(at("directory"));
		expect(await modes()).toEqual([0o600, 0o700]);
	},
);

test.each([...READERS, ...APPENDERS, ...MARKERS])(
	"%s refuses a file in a directory that is a link",
	async (_name, use) => {
		await using dir = await createTempDir();
		await mkdir(join(dir.path, "elsewhere"));
		await writeFile(join(dir.path, "elsewhere", "file"), "kept\n");
		await symlink("elsewhere", join(dir.path, "run"));
		await expect(result(() => use(join(dir.path, "run", "file")))).rejects.toThrow("is a link");
		expect(await readFile(join(dir.path, "elsewhere", "file"), "utf8")).toBe("kept\n");
		await result(() => use(join(dir.path, "run", "new"))).catch(() => undefined);
		await expect(stat(join(dir.path, "elsewhere", "new"))).rejects.toThrow("ENOENT");
	},
);

test.each(READERS)("%s reads a regular file, and refuses one that is too large", async (_name, read) => {
	await using dir = await createTempDir();
	const path = join(dir.path, "file");
	await writeFile(path, "text\n");
	await result(() => read(path));
	await truncate(path, 2 ** 40);
	await expect(result(() => read(path))).rejects.toThrow(/larger than 1 KB|EEXIST/);
});

test("a copy has the content and the permissions of its original, and replaces nothing", async () => {
	await using dir = await createTempDir();
	const [from, to] = [join(dir.path, "from"), join(dir.path, "to")];
	await writeFile(from, "x".repeat(3_000_000), { mode: 0o700 });
	expect(await copyPlain(from, to, { maxBytes: 2 ** 30 })).toMatchObject({ size: 3_000_000 });
	expect((await readFile(to, "utf8")).length).toBe(3_000_000);
	expect((await stat(to)).mode & 0o700).toBe((await stat(from)).mode & 0o700);
	await expect(copyPlain(from, to, { maxBytes: 2 ** 30 })).rejects.toThrow("EEXIST");
	await expect(copyPlain(from, `${to}2`, { maxBytes: 10 })).rejects.toThrow("larger than");
	await expect(stat(`${to}2`)).rejects.toThrow("ENOENT");
});

test("a file that is replaced again and again is read whole or refused, never something else", async () => {
	await using dir = await createTempDir();
	const [path, secret] = [join(dir.path, "file"), join(dir.path, "secret")];
	await writeFile(secret, "secret");
	await writeFile(path, "plain");
	const seen = new Set<string>();
	for (let round = 0; round < 200; round++) {
		const link = join(dir.path, `link-${round}`);
		await symlink(secret, link);
		const swapping = rename(link, path).then(async () => {
			await writeFile(link, "plain");
			await rename(link, path);
		});
		for (let turn = 0; turn < 5; turn++)
			seen.add(
				await readPlain(path, KILOBYTE).then(
					(bytes) => String(bytes),
					(error: Error) => error.message,
				),
			);
		await swapping;
	}
	expect([...seen].filter((text) => !["plain", "", "it is a link"].includes(text))).toEqual([]);
});

test("lines of a file without end are read up to a limit, and that is said once", async () => {
	await using dir = await createTempDir();
	const path = join(dir.path, "events.jsonl");
	await writeFile(path, "one\n");
	const lines: string[] = [];
	const reports: string[] = [];
	const clock = handClock(0);
	const follower = followLines(path, (line) => void lines.push(line), {
		clock,
		report: (text) => void reports.push(text),
		maxBytes: 100_000,
	});
	await follower.flush();
	await truncate(path, 2 ** 40);
	await follower.flush();
	await appendFile(path, "two\n");
	await follower.flush();
	follower.close();
	expect(lines).toEqual(["one"]);
	expect(reports).toEqual([expect.stringContaining("is not read")]);
});
