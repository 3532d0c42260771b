/**
 * What a new field of a run costs: in a copy of the tree, an optional field is added to the definition, and the test of
 * all boundaries is run there. Only in the full run, as it starts vitest several times.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));
const STAYS = "tools/fuzz/src/travel/stays.ts";
const MOST_FILES = 3;

/** A change of one file: the text after which something is inserted. */
interface Insertion {
	file: string;
	after: string;
	text: string;
}

const CASES: readonly { of: string; definition: Insertion; lost: readonly string[]; list: readonly Insertion[] }[] = [
	{
		of: "its spec",
		definition: {
			file: "packages/core/src/model/schema/spec.ts",
			after: "task: moved(text),\n",
			text: "colour: travels(maybeText),\n",
		},
		lost: [],
		list: [],
	},
	{
		of: "its launch",
		definition: {
			file: "packages/core/src/model/schema/launch.ts",
			after: "phase: maybeText,\n",
			text: "colour: maybeText,\n",
		},
		lost: ["launch.colour is lost behind report"],
		list: [{ file: STAYS, after: "report: {\n", text: '"launch.colour": "not shown",\n' }],
	},
	{
		of: "an event",
		definition: {
			file: "packages/progress/src/schema/events.ts",
			after: "tool: text,\n",
			text: "colour: maybeText,\n",
		},
		lost: [],
		list: [],
	},
];

describe("an optional field that is added to a run", () => {
	let copy = "";
	beforeAll(async () => {
		copy = await copyOfTree();
	});
	afterAll(() => rm(copy, { recursive: true, force: true }));

	test.each(CASES)("$of: travels with its definition, and what it does not reach is named", async (each) => {
		const { definition, lost, list } = each;
		const files = new Set([definition, ...list].map(({ file }) => file));
		expect(files.size).toBeLessThanOrEqual(MOST_FILES);
		const originals = new Map<string, string>();
		for (const file of files) originals.set(file, await readFile(join(copy, file), "utf8"));
		try {
			await insert(copy, definition);
			expect(await faults(copy)).toEqual(lost);
			for (const change of list) await insert(copy, change);
			expect(await faults(copy)).toEqual([]);
		} finally {
			for (const [file, text] of originals) await writeFile(join(copy, file), text);
		}
	});
});

/** What git knows of the tree, with the links between packages; other packages are those of this tree. */
async function copyOfTree(): Promise<string> {
	const to = await mkdtemp(join(tmpdir(), "new-field-"));
	const listed = [
		"ls-files",
		"-z",
		"--cached",
		"--others",
		"--exclude-standard",
		"packages",
		"tools",
		"*.json",
		"*.ts",
	];
	const { stdout } = await run("git", listed, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
	const files = stdout.split("\0").filter((file) => file !== "");
	for (const dir of new Set(files.map(dirname))) await mkdir(join(to, dir), { recursive: true });
	for (const file of files) await cp(join(root, file), join(to, file)).catch(ignoreDeleted);
	await symlink(join(root, "node_modules"), join(to, "node_modules"));
	const packages = new Set(files.flatMap((file) => /^(?:packages|tools)\/[^/]+/.exec(file)?.[0] ?? []));
	for (const each of packages)
		await cp(join(root, each, "node_modules"), join(to, each, "node_modules"), {
			recursive: true,
			verbatimSymlinks: true,
		}).catch(ignoreDeleted);
	return to;
}

/** A file that git still lists, or a package without dependencies. */
function ignoreDeleted(error: NodeJS.ErrnoException): void {
	if (error.code !== "ENOENT") throw error;
}

async function insert(copy: string, { file, after, text }: Insertion): Promise<void> {
	const path = join(copy, file);
	const before = await readFile(path, "utf8");
	expect(before, `${file} is not as this test knows it`).toContain(after);
	await writeFile(
		path,
		before.replace(after, () => after + text),
	);
}

/** What the test of all boundaries says there, and that it ran. */
async function faults(copy: string): Promise<string[]> {
	const cwd = join(copy, "tools/fuzz");
	const file = join(copy, "travel.json");
	await rm(file, { force: true });
	const vitest = join(cwd, "node_modules/vitest/vitest.mjs");
	const args = [vitest, "run", "test/travel.test.ts", "--reporter=json", `--outputFile=${file}`];
	const env = { ...process.env, TEST_FULL: "0", CI: "" };
	const end = await run(process.execPath, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }).then(
		() => "",
		(error: Error & { stderr?: string }) => error.stderr ?? error.message, // some of its tests failed, or it did not start
	);
	const report = await readFile(file, "utf8").catch(() => expect.fail(`vitest did not run there: ${end}`));
	const { numTotalTests, numFailedTests } = JSON.parse(report) as Record<string, number>;
	expect(numTotalTests).toBeGreaterThan(20);
	const said = [...new Set(report.match(/[\w. ]+ is lost behind [\w. ]+/g) ?? [])].map((text) => text.trim());
	expect(said.length > 0).toBe((numFailedTests ?? 0) > 0);
	return said;
}
