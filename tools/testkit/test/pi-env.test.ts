/** What is in a pi environment, and what is not. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createBench, createPiEnv, createTempDir, otherwise, runPrint, say } from "../src/index.ts";

const server = { baseUrl: "http://127.0.0.1:9/v1" };
const readJson = async (...path: string[]) => JSON.parse(await readFile(join(...path), "utf8")) as unknown;

test("files, settings and models are where pi looks for them", async () => {
	const env = await createPiEnv({
		server,
		settings: { theme: "light", retry: { enabled: true } },
		models: [{ id: "big", contextWindow: 1_000 }, { id: "small" }],
		files: { "src/a.ts": "export {};" },
		agentFiles: { "agents/scout.md": "# Scout" },
	});
	onTestFinished(env.cleanup);
	expect(await readFile(join(env.cwd, "src/a.ts"), "utf8")).toBe("export {};");
	expect(await readFile(join(env.agentDir, "agents/scout.md"), "utf8")).toBe("# Scout");
	expect(await readJson(env.agentDir, "settings.json")).toMatchObject({
		defaultProvider: "fake",
		defaultModel: "big",
		theme: "light",
		retry: { enabled: true },
	});
	expect(await readJson(env.agentDir, "models.json")).toMatchObject({
		providers: { fake: { baseUrl: server.baseUrl, models: [{ id: "big", contextWindow: 1_000 }, { id: "small" }] } },
	});
});

test("nothing of the user's environment gets in but the path", async () => {
	vi.stubEnv("ANTHROPIC_API_KEY", "secret");
	onTestFinished(() => void vi.unstubAllEnvs());
	const env = await createPiEnv({ server, variables: { EXTRA: "1" } });
	onTestFinished(env.cleanup);
	expect(env.variables).toMatchObject({ PATH: process.env.PATH, HOME: env.home, EXTRA: "1" });
	expect(Object.values(env.variables)).not.toContain("secret");
});

test("extensions of the environment are loaded by every pi in it, each with its own project", async () => {
	const extension = `export default (pi) => { pi.registerCommand("where", { handler: async () => console.error(process.cwd()) }); };`;
	const bench = await createBench({
		rules: [otherwise(say("ok"))],
		files: { "where.js": extension },
		extensions: ["where.js"],
	});
	onTestFinished(bench.close);
	expect(await runPrint({ env: bench.env }, "/where")).toMatchObject({ code: 0, stderr: `${bench.env.cwd}\n` });
});

test("cleaning up removes everything, last registered task first, and may be repeated", async () => {
	const env = await createPiEnv({ server });
	const order: string[] = [];
	for (const name of ["first", "second"]) {
		env.onCleanup(async () => {
			order.push(`${name}: ${existsSync(env.root)}`);
		});
	}
	await env.cleanup();
	await env.cleanup();
	expect(order).toEqual(["second: true", "first: true"]);
	expect(existsSync(env.root)).toBe(false);
});

test("a temporary directory is there until it is removed", async () => {
	const dir = await createTempDir();
	expect(existsSync(dir.path)).toBe(true);
	await dir.remove();
	expect(existsSync(dir.path)).toBe(false);
});
