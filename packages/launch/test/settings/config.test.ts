import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Config, createConfigReader, type StoredTrust } from "../../src/settings/config.ts";
import { readSettings } from "../../src/settings/settings.ts";

const run = promisify(execFile);

let root: string;
let read: (trust?: StoredTrust) => Promise<Config>;

const at = (path: string) => join(root, path);

async function write(path: string, content: unknown): Promise<void> {
	await mkdir(dirname(at(path)), { recursive: true });
	await writeFile(at(path), typeof content === "string" ? content : JSON.stringify(content));
}

beforeEach(async () => {
	root = await mkdtemp(join(tmpdir(), "pi-config-"));
	const reader = createConfigReader(at("agent"));
	read = async (trust = "yes") => reader({ cwd: at("project"), trust });
});
afterEach(() => rm(root, { recursive: true, force: true }));

const defaults = readSettings([]).settings;

test("without any file everything is at its default", async () => {
	expect(await read()).toEqual({ settings: defaults, trust: "yes", problems: [], notes: [] });
});

test("the project beats the user, and our own file the one of pi beside it", async () => {
	const all = { maxConcurrent: 1, graceTurns: 1, maxDepth: 1, defaultMaxTurns: 1 };
	await write("agent/settings.json", { theme: "dark", subagents: all });
	await write("agent/subagents.json", { graceTurns: 2, maxDepth: 2, defaultMaxTurns: 2 });
	await write("project/.pi/settings.json", { subagents: { maxDepth: 3, defaultMaxTurns: 3 } });
	await write("project/.pi/subagents.json", { defaultMaxTurns: 4 });
	const { settings, problems } = await read();
	expect(settings).toMatchObject({ maxConcurrent: 1, graceTurns: 2, maxDepth: 3, defaultMaxTurns: 4 });
	expect(problems).toEqual([]);
});

test("only the user defines machines; a trusted project may name one", async () => {
	await write("agent/subagents.json", { machines: { box: { ssh: "me@box" }, odd: { ssh: "-oProxyCommand=x" } } });
	await write("project/.pi/subagents.json", { machine: "box", machines: { box: { ssh: "thief@elsewhere" } } });
	const { settings, problems } = await read();
	expect([settings.machine, settings.machines]).toEqual(["box", { box: { ssh: "me@box" }, odd: {} }]);
	expect(problems).toEqual([
		expect.stringContaining('"machines.odd.ssh" is "-oProxyCommand=x"'),
		`${at("project/.pi/subagents.json")}: "machines" counts only in your own settings; ignored`,
	]);
});

describe("without the user's stored yes", () => {
	test.each([
		["no", "you declined to trust this project"],
		["unasked", "you have not trusted this project"],
	] as const)("(%s) the files of the project do not count, and the user is told", async (trust, why) => {
		await write("agent/subagents.json", { maxDepth: 2 });
		await write("project/.pi/settings.json", { subagents: { maxDepth: 3 } });
		await write("project/.pi/subagents.json", "{ broken");
		const config = await read(trust);
		expect(config.settings.maxDepth).toBe(2);
		expect(config.problems).toEqual([expect.stringContaining(`${at("project/.pi/subagents.json")}: not used`)]);
		expect(config.problems[0]).toContain(why);
	});

	test("there is nothing to tell where the project has no such file", async () => {
		await write("project/.pi/settings.json", { subagents: { maxDepth: 3 } });
		expect((await read("unasked")).problems).toEqual([]);
	});

	test("a yes given later counts at once", async () => {
		await write("project/.pi/subagents.json", { maxDepth: 3 });
		expect((await read("unasked")).settings.maxDepth).toBe(4);
		expect((await read("yes")).settings.maxDepth).toBe(3);
		expect((await read("no")).settings.maxDepth).toBe(4);
	});
});

describe("an edit", () => {
	test("counts from the next reading on; without one nothing is read again", async () => {
		expect((await read()).settings.maxDepth).toBe(4);
		await write("agent/subagents.json", { maxDepth: 2 });
		const config = await read();
		expect(config.settings.maxDepth).toBe(2);
		expect(await read()).toBe(config);
		await rm(at("agent/subagents.json"));
		expect((await read()).settings.maxDepth).toBe(4);
	});

	test("is noticed when the size stays the same", async () => {
		await write("agent/settings.json", { subagents: { maxDepth: 2 } });
		await utimes(at("agent/settings.json"), 1_000, 1_000);
		expect((await read()).settings.maxDepth).toBe(2);
		await write("agent/settings.json", { subagents: { maxDepth: 3 } });
		expect((await read()).settings.maxDepth).toBe(3);
	});
});

describe("a file that cannot be used is a problem, and the others count", () => {
	beforeEach(() => write("agent/settings.json", { subagents: { maxDepth: 2 } }));

	test.each<[string, string, () => unknown]>([
		["is not JSON", "not valid JSON", () => write("agent/subagents.json", "{")],
		["is not an object", "not a JSON object", () => write("agent/subagents.json", "[]")],
		["is too large", "it is larger than 256 KB", () => write("agent/subagents.json", " ".repeat(300_000))],
		["is a directory", "it is not a regular file", () => mkdir(at("agent/subagents.json"))],
		["is a pipe that nobody writes to", "it is not a regular file", () => run("mkfifo", [at("agent/subagents.json")])],
		["is a link to itself", "ELOOP", () => symlink("subagents.json", at("agent/subagents.json"))],
		["is not text", "not UTF-8", () => writeFile(at("agent/subagents.json"), Buffer.from([0x7b, 0xff, 0x7d]))],
	])("one that %s", async (_, problem, make) => {
		await make();
		const config = await read();
		expect(config.settings).toEqual({ ...defaults, maxDepth: 2 });
		expect(config.problems).toEqual([expect.stringContaining(`${at("agent/subagents.json")}: ${problem}`)]);
		expect(config.problems[0]).toMatch(/; ignored$/);
	});

	test("the mark that some editors put first does not matter", async () => {
		await write("agent/subagents.json", '\ufeff{"maxDepth": 3}');
		expect(await read()).toMatchObject({ settings: { maxDepth: 3 }, problems: [] });
	});
});

test("only the user defines launchers, each whole or not at all", async () => {
	const net = { command: ["bwrap", "--ro-bind", "/", "/"], env: { A: "b" } };
	const odd = [
		{ command: [] },
		{ command: "bwrap" },
		{ command: ["bwrap"], env: { A: 1 } },
		{ command: ["a"], x: 1 },
		{},
	];
	await write("agent/subagents.json", { launchers: { net, ...odd } });
	await write("project/.pi/subagents.json", { launchers: { net: { command: ["true"] } } });
	const { settings, problems } = await read();
	expect(settings.launchers).toEqual({ net });
	expect(problems).toEqual([
		...odd.map((_, index) => expect.stringContaining(`"launchers.${index}" is {`)),
		`${at("project/.pi/subagents.json")}: "launchers" counts only in your own settings; ignored`,
	]);
});
