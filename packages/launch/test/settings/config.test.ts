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
	expect(await read()).toEqual({
		settings: defaults,
		users: {},
		trust: "yes",
		problems: [],
		refusals: [],
		notes: [],
		overrides: [],
	});
});

test("the project beats the user, and our own file the one of pi beside it", async () => {
	const all = { maxConcurrent: 9, drainSeconds: 1, stalledAfterSeconds: 1, wrapUpPercent: 1 };
	await write("agent/settings.json", { theme: "dark", subagents: all });
	await write("agent/subagents.json", { drainSeconds: 2, stalledAfterSeconds: 2, wrapUpPercent: 2 });
	await write("project/.pi/settings.json", {
		subagents: { maxConcurrent: 7, stalledAfterSeconds: 3, wrapUpPercent: 3 },
	});
	await write("project/.pi/subagents.json", { wrapUpPercent: 4 });
	const { settings, problems } = await read();
	expect(settings).toMatchObject({ maxConcurrent: 7, drainSeconds: 2, stalledAfterSeconds: 3, wrapUpPercent: 4 });
	expect(problems).toEqual([]);
});

test("only the user defines machines; a trusted project may name one", async () => {
	await write("agent/subagents.json", { machines: { box: { ssh: "me@box" }, odd: { ssh: "-oProxyCommand=x" } } });
	await write("project/.pi/subagents.json", { machine: "box", machines: { box: { ssh: "thief@elsewhere" } } });
	const { settings, problems } = await read();
	expect([settings.machine, settings.machines]).toEqual(["box", { box: { ssh: "me@box" }, odd: {} }]);
	expect(problems).toEqual([
		expect.stringContaining('"machines.odd.ssh" is "-oProxyCommand=x"'),
		`${at("project/.pi/subagents.json")}:1: "machines" counts only in your own settings; ignored`,
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
	});

	test("is noticed when the size stays the same", async () => {
		await write("agent/settings.json", { subagents: { maxDepth: 2 } });
		await utimes(at("agent/settings.json"), 1_000, 1_000);
		expect((await read()).settings.maxDepth).toBe(2);
		await write("agent/settings.json", { subagents: { maxDepth: 3 } });
		expect((await read()).settings.maxDepth).toBe(3);
	});
});

describe("a file that cannot be read or understood refuses launches, and the others count", () => {
	const cases: [string, string, () => unknown][] = [
		["is not JSON", ":1: not valid JSON", () => write("agent/subagents.json", "{")],
		["is not an object", ": not a JSON object", () => write("agent/subagents.json", "[]")],
		["is too large", ": it is larger than 256 KB", () => write("agent/subagents.json", " ".repeat(300_000))],
		["is a directory", ": it is not a regular file", () => mkdir(at("agent/subagents.json"))],
		[
			"is a pipe that nobody writes to",
			": it is not a regular file",
			() => run("mkfifo", [at("agent/subagents.json")]),
		],
		["is a link to itself", ": ELOOP", () => symlink("subagents.json", at("agent/subagents.json"))],
		[
			"is a link to nowhere",
			": a link to a file that does not exist",
			() => symlink("gone.json", at("agent/subagents.json")),
		],
		["is not text", ": not UTF-8", () => writeFile(at("agent/subagents.json"), Buffer.from([0x7b, 0xff, 0x7d]))],
	];

	test.each(cases)("one that %s", async (_, problem, make) => {
		await write("agent/settings.json", { subagents: { maxDepth: 2 } });
		await make();
		const { settings, problems, refusals } = await read();
		expect(settings).toEqual({ ...defaults, maxDepth: 2 });
		const path = at("agent/subagents.json");
		expect(problems).toEqual([expect.stringContaining(`${path}${problem}`)]);
		expect(refusals).toEqual([{ path, text: problems[0] }]);
	});

	test.each(cases)("one that %s while pi runs: its limits stay until it is fixed", async (_, _problem, make) => {
		const path = at("agent/subagents.json");
		const good = { budget: { session: { cost: 5 } }, maxDepth: 1, widget: "off" };
		await write("agent/subagents.json", good);
		await read();
		await rm(path);
		await make();
		const { settings, refusals } = await read();
		expect(refusals).toHaveLength(1);
		expect(settings).toMatchObject({ budget: { session: { cost: 5 } }, maxDepth: 1, widget: "auto" });
		await rm(path, { recursive: true });
		await write("agent/subagents.json", { ...good, maxDepth: 2 });
		expect(await read()).toMatchObject({ settings: { maxDepth: 2, widget: "off" }, refusals: [] });
	});

	test("one of a trusted project, in both of its places", async () => {
		await write("project/.pi/settings.json", '{"subagents": {"maxDepth": 1},}');
		await write("project/.pi/subagents.json", '{\n"maxDepth": 1,\n}');
		expect((await read("yes")).refusals.map(({ text }) => text)).toEqual([
			expect.stringContaining(`${at("project/.pi/settings.json")}:1: not valid JSON`),
			expect.stringContaining(`${at("project/.pi/subagents.json")}:2: not valid JSON`),
		]);
		expect((await read("unasked")).refusals).toEqual([]);
		expect((await read("no")).refusals).toEqual([]);
	});
});

describe("a file that is gone while pi runs", () => {
	test("refuses launches if it limited agents, until it is back; its limits stay", async () => {
		await write("agent/subagents.json", { maxDepth: 2, hooks: { before_launch: ["policy"] }, widget: "off" });
		await read();
		await rm(at("agent/subagents.json"));
		const { settings, refusals } = await read();
		expect(settings).toMatchObject({ maxDepth: 2, hooks: { before_launch: ["policy"] }, widget: "auto" });
		expect(refusals.map(({ text }) => text)).toEqual([
			`${at("agent/subagents.json")}: the file is gone, and it limited agents (maxDepth, hooks). Put it back, or use /reload if you removed it`,
		]);
		await write("agent/subagents.json", {});
		expect(await read()).toMatchObject({ settings: defaults, refusals: [] });
	});

	test("is not missed if it limited nothing, nor by a reader that never saw it", async () => {
		await write("agent/subagents.json", { widget: "off" });
		await read();
		await rm(at("agent/subagents.json"));
		expect(await read()).toMatchObject({ settings: defaults, problems: [], refusals: [] });
		await write("agent/subagents.json", { maxDepth: 1 });
		await read();
		await rm(at("agent/subagents.json"));
		const anew = createConfigReader(at("agent"))({ cwd: at("project"), trust: "yes" });
		expect(anew).toMatchObject({ settings: defaults, refusals: [] });
	});
});

describe("a file that begins with a mark of its encoding", () => {
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
		`${at("project/.pi/subagents.json")}:1: "launchers" counts only in your own settings; ignored`,
	]);
});
