/** Code that is kept between starts: each start here is a process of its own. */
import { execFile } from "node:child_process";
import { chown, lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const run = promisify(execFile);
const loader = new URL("../src/load.ts", import.meta.url).href;

let root: string;

beforeEach(async () => {
	root = await mkdtemp(join(tmpdir(), "pi-load-"));
	await write("main.cjs", `const { double } = require("./beside.cjs"); exports.say = () => double("code");`);
	await write("beside.cjs", `exports.double = (word) => word + " " + word;`);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFile(join(root, name), text);

/** Loads `main.cjs` and calls what it exports. */
async function start(variables: Record<string, string> = {}, ...flags: string[]): Promise<string> {
	const code = `
		import { enableCompileCache } from "node:module";
		import { load } from ${JSON.stringify(loader)};
		enableCompileCache();
		process.stdout.write(load(${JSON.stringify(join(root, "main.cjs"))}).say());`;
	const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(root, "cache"), ...variables };
	const args = [...flags, "--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", code];
	return (await run(process.execPath, args, { env })).stdout;
}

/** The files of code that we keep, by the name of what they were made of. */
async function kept(): Promise<Map<string, string>> {
	const names = await readdir(join(root, "cache"), { recursive: true }).catch(() => []);
	const own = names.filter((name) => name.includes("pi-subagents-"));
	return new Map(own.map((name) => [/pi-subagents-(.*)-\w+$/.exec(name)?.[1] ?? name, join(root, "cache", name)]));
}

test("what a start has compiled is kept, and the next one takes it as it is", async () => {
	expect(await start()).toBe("code code");
	const files = await kept();
	expect([...files.keys()].sort()).toEqual(["beside.cjs", "main.cjs"]);
	const before = await Promise.all([...files.values()].map((path) => stat(path)));
	expect(await start()).toBe("code code");
	const after = await Promise.all([...files.values()].map((path) => stat(path)));
	expect(after.map(({ ino }) => ino)).toEqual(before.map(({ ino }) => ino));
	expect(await kept()).toEqual(files);
});

test("code of another text of the same length is not used", async () => {
	await start();
	await write("beside.cjs", `exports.double = (word) => word + "-" + word;`);
	expect(await start()).toBe("code-code");
});

test.each([
	["cut off", (code: Buffer) => code.subarray(0, code.length / 2)],
	["altered", (code: Buffer) => Buffer.from(code).fill(7, code.length / 2, code.length / 2 + 64)],
	["empty", () => Buffer.alloc(0)],
])("code that is %s is not used, and replaced", async (_, spoil) => {
	await start();
	const path = (await kept()).get("main.cjs") ?? "";
	const good = await readFile(path);
	await writeFile(path, spoil(good));
	expect(await start()).toBe("code code");
	expect((await readFile(path)).length).toBe(good.length);
	expect(await start()).toBe("code code");
});

test("code that V8 made under other flags is not used", async () => {
	await start();
	expect(await start({}, "--stack-size=900")).toBe("code code");
	expect(await start()).toBe("code code");
});

// Only root can give files away.
if (process.getuid?.() === 0) {
	test("code that another user left there is not used, and replaced", async () => {
		await start();
		const path = (await kept()).get("main.cjs") ?? "";
		await chown(path, 12_345, 12_345);
		expect(await start()).toBe("code code");
		expect((await stat(path)).uid).toBe(0);
	});
}

test("nothing is written through a link that somebody has put there", async () => {
	await start();
	const path = (await kept()).get("main.cjs") ?? "";
	const precious = join(root, "precious");
	await writeFile(precious, "mine");
	await rm(path);
	await symlink(precious, path);
	expect(await start()).toBe("code code");
	expect(await readFile(precious, "utf8")).toBe("mine");
	expect((await lstat(path)).isFile()).toBe(true);
});

test("where Node keeps no code, nor do we", async () => {
	expect(await start({ NODE_DISABLE_COMPILE_CACHE: "1" })).toBe("code code");
	expect((await kept()).size).toBe(0);
});

test("where nothing can be written, everything works", async () => {
	await start();
	await rm(join(root, "cache"), { recursive: true });
	await write("cache", "a file where the directory should be");
	expect(await start()).toBe("code code");
});

test("an error says where in the file it happened", async () => {
	await write("beside.cjs", `exports.double = () => {\n\tthrow new Error("broken");\n};`);
	await expect(start()).rejects.toThrow(/beside\.cjs:2:8/);
});
