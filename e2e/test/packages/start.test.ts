/** What pi waits for at its start is little, and says the same as what it stands for. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
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
