/** Which extensions guard agents on a machine whose worker has none of pi's modules: its pi says so. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { availablePis, createPiEnv, type PiBinary } from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { createGuardList } from "../../src/far/guards.ts";

const scoutEntry = fileURLToPath(new URL("../../../runners/src/extensions/scout-entry.ts", import.meta.url));
const GUARD = `export default (pi) => { pi.on("tool_call", () => undefined); };`;
const TOOL = "export default (pi) => { pi.on('turn_end', () => undefined); };";

async function machine(binary: PiBinary, files: Record<string, string>) {
	const env = await createPiEnv({ server: { baseUrl: "http://127.0.0.1:1" }, agentFiles: files });
	onTestFinished(() => env.cleanup());
	const [command, ...args] = binary.command;
	let asked = 0;
	const pi = { command, args };
	const host = {
		agentDir: env.agentDir,
		env: env.variables,
		scoutEntry,
		get pi() {
			asked++;
			return pi;
		},
	};
	const list = createGuardList(host);
	return {
		env,
		find: (isTrusted = false) => list({ cwd: env.cwd, isTrusted }),
		asked: () => asked,
		write: async (path: string, text: string) => {
			await mkdir(dirname(path), { recursive: true });
			await writeFile(path, text);
		},
	};
}

describe.each(await availablePis())("pi $version", (pi) => {
	test("are those of its user, asked for once until something changes", async () => {
		const { env, find, asked, write } = await machine(pi, { "extensions/gate.ts": GUARD, "extensions/tool.ts": TOOL });
		const gate = { name: "gate", path: join(env.agentDir, "extensions", "gate.ts") };
		expect([await find(), await find()]).toEqual([[gate], [gate]]);
		expect(asked()).toBe(1);
		await write(join(env.agentDir, "subagents.json"), '{"guards":{"exempt":["gate"],"also":["tool"]}}');
		expect(await find()).toEqual([{ name: "tool", path: join(env.agentDir, "extensions", "tool.ts") }]);
		await write(join(env.agentDir, "subagents.json"), '{"guards":"none"}');
		await expect(find()).rejects.toThrow(/guard agents on that machine, so none was launched.*not understood/);
	});
});

const [pi] = await availablePis();
if (!pi) throw new Error("There is no pi to test with.");

test("are those of a project only where both sides trust it", async () => {
	const { env, find, asked, write } = await machine(pi, {});
	const path = join(env.cwd, ".pi", "extensions", "gate.ts");
	await write(path, GUARD);
	expect(await find()).toEqual([]);
	expect(asked()).toBe(0); // without extensions, pi is not started
	expect(await find(true)).toEqual([{ name: "gate", path }]);
});

test("that cannot be loaded refuse the launch", async () => {
	const { find } = await machine(pi, { "extensions/gate.ts": "throw new Error('broken');" });
	await expect(find()).rejects.toThrow(/gate\.ts could not be loaded for an agent \(.*broken/);
});
