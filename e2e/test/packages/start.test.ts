/** What pi waits for at its start is little, and says the same as what it stands for. */
import { readdir, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createPiEnv, createTempDir, otherwise, runJson, say, startModelServer } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";

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

test("what the first start of pi compiles is kept for the next ones, beside what Node keeps", async () => {
	await using server = await startModelServer({ rules: [otherwise(say("Hello."))] });
	const cache = await createTempDir();
	const env = await createPiEnv({
		server,
		extensions: [dirname(dist)],
		variables: { NODE_COMPILE_CACHE: cache.path },
	});
	const start = async () => {
		expect(await runJson({ env, args: ["--no-session"] }, "Hello?")).toMatchObject({ code: 0, stderr: "" });
		const names = await readdir(cache.path, { recursive: true });
		const own = names.filter((name) => name.includes("pi-subagents-"));
		return Promise.all(own.map(async (name) => [name, (await stat(join(cache.path, name))).ino]));
	};
	try {
		const first = await start();
		expect(first.length).toBeGreaterThan(1);
		expect(await start()).toEqual(first);
	} finally {
		await env.cleanup();
		await cache.remove();
	}
});
