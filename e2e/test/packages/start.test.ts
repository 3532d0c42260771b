/** What pi waits for at its start is little, and says the same as what it stands for. */
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { availablePis, createTempDir, otherwise, piUnderTest, runJson, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { scene } from "../../support/scene.ts";

interface Library {
	builtins(): object[];
	agentsDirs(): object[];
	createCatalogue(options: object): { read(): Promise<{ presets: readonly unknown[] }> };
}

const require = createRequire(import.meta.url);
const dist = join(dirname(require.resolve("@pi-subagents/extension/package.json")), "dist");
const [light, whole] = [join(dist, "catalogue.cjs"), join(dist, "presets.cjs")];

function read(file: string) {
	const { createCatalogue, builtins, agentsDirs }: Library = require(file);
	const sources = [...builtins(), ...agentsDirs()];
	return createCatalogue({ cwd: dirname(dist), agentDir: join(dist, "nowhere"), sources }).read();
}

test("the built-in presets are parsed when we are built, and are what parsing them gives; their parser is not loaded", async () => {
	const known = await read(light);
	expect(require.cache[whole]).toBeUndefined();
	expect(known).toEqual(await read(whole));
	expect(known.presets.length).toBeGreaterThan(0);
});

test("what is loaded at the start comes from these folders only", async () => {
	const { sources }: { sources: string[] } = JSON.parse(await readFile(join(dist, "impl.cjs.map"), "utf8"));
	const folders = new Set(sources.map((file) => FOLDER.exec(file)?.slice(1).filter(Boolean).join("/") ?? file));
	expect([...folders].sort()).toEqual(AT_START);
});

/** The name of a package, and for packages of many folders the folder. */
const FOLDER =
	/^(?:\.\.\/)+(?:(core|commands|runners|runs)\/src\/([^/]+)\/.*|(?:node_modules\/\.pnpm\/)?([a-z]+)[/@].*)$/;

/** What is added here makes every start of pi slower. Can it be loaded on first use? */
const AT_START = [
	...["input", "questions", "text"].map((folder) => `commands/${folder}`),
	...["alert", "base", "conversation", "file-guards", "files", "follow", "manager", "memory", "model"].map(
		(folder) => `core/${folder}`,
	),
	...["outcome-text", "output", "queue", "resolve", "shell", "signals", "verify"].map((folder) => `core/${folder}`),
	...["delivery", "launch", "nanoid", "progress", "remote", "rpc"],
	...["extensions", "file-guards", "mcp", "process", "providers", "session", "tmux"].map(
		(folder) => `runners/${folder}`,
	),
	...["runs", "runs/claims", "runs/format", "runs/overview", "src", "tools", "widget", "worktree"],
];

describe.each(await availablePis())("pi $version", (pi) => {
	test("loads us without its compiler", async () => {
		await using temp = await createTempDir();
		await using it = await scene([otherwise(say("Hello."))], { variables: { TMPDIR: temp.path, TEMP: temp.path } });
		await runJson({ env: it.env, pi, args: ["--no-session"] }, "Hello?");
		expect(offered(it.server.requests)).toContain("subagent");
		expect(await readdir(join(temp.path, "jiti"))).toEqual([]); // where its loader keeps what it compiled
	});
});

test("a pi that is no bundle gives us its modules through its loader", async () => {
	const [program, bundle = ""] = piUnderTest().command;
	const pi = { version: "unbundled", command: [program, join(dirname(dirname(bundle)), "cli.js")] as const };
	await using it = await scene([otherwise(say("Hello."))]);
	await runJson({ env: it.env, pi, args: ["--no-session"] }, "Hello?");
	expect(offered(it.server.requests)).toContain("subagent");
});

function offered(requests: readonly { tools: readonly { name: string }[] }[]): string[] {
	return requests.flatMap(({ tools }) => tools.map(({ name }) => name));
}
