import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLauncher, type LaunchParams } from "../src/launch.ts";
import { hostIn } from "./menu-fixture.ts";

const SCHEMA = "{ type: object, required: [files] }";

/** A trusted project with one preset. */
async function launching({ fields = "", overrides = {} }: { fields?: string; overrides?: object }) {
	const root = await realpath(await mkdtemp(join(tmpdir(), "launch-")));
	onTestFinished(() => rm(root, { recursive: true }));
	const [cwd, agentDir] = [join(root, "project"), join(root, "agent")];
	await mkdir(join(cwd, ".pi", "agents"), { recursive: true });
	await mkdir(agentDir);
	await writeFile(join(cwd, ".pi", "agents", "clerk.md"), `---\ndescription: Keeps files.\n${fields}\n---\nBe tidy.\n`);
	await writeFile(join(agentDir, "subagents.json"), JSON.stringify({ agentOverrides: { clerk: overrides } }));
	const launcher = createLauncher(hostIn({ cwd, agentDir, trust: "yes" }), () => undefined);
	const ctx = { cwd } as unknown as ExtensionContext;
	const resolve = async (params: Partial<LaunchParams> = {}) =>
		(await launcher.resolve({ preset: "clerk", task: "File it.", ...params }, ctx)).spec;
	return { cwd, resolve, made: async () => (await readdir(join(cwd, ".pi"))).filter((name) => name !== "agents") };
}

describe("the schema of an answer", () => {
	test("is the preset's, unless the call has another or the preset locks it", async () => {
		const outputSchema = { type: "object", required: ["other"] };
		const open = await launching({ fields: `output_schema: ${SCHEMA}` });
		expect((await open.resolve()).output).toEqual({ schema: { type: "object", required: ["files"] }, repairs: 1 });
		expect((await open.resolve({ outputSchema })).output?.schema).toEqual(outputSchema);
		const locked = await launching({ fields: `output_schema: ${SCHEMA}\nlocked: [output_schema]` });
		const { output, warnings } = await locked.resolve({ outputSchema });
		expect(output?.schema).toEqual({ type: "object", required: ["files"] });
		expect(warnings.join()).toContain('Preset "clerk" locks');
	});

	test("in the settings takes the place of the preset's, and is checked like it", async () => {
		const wrong = await launching({ overrides: { output_schema: { type: "objct" } } });
		await expect(wrong.resolve()).rejects.toThrow(
			/^`output_schema` of agentOverrides\.clerk in your settings .* "objct" is no type/,
		);
		const mended = { output_schema: { type: "object", required: ["a"] }, output_repairs: 3 };
		const right = await launching({ fields: "output_schema: { type: objct }", overrides: mended });
		expect((await right.resolve()).output).toEqual({ schema: { type: "object", required: ["a"] }, repairs: 3 });
		const lifted = await launching({ fields: `output_schema: ${SCHEMA}`, overrides: { output_schema: {} } });
		expect(await lifted.resolve()).not.toHaveProperty("output");
	});
});

describe("a trial", () => {
	test.each([
		["project", "agent-memory"],
		["local", "agent-memory-local"],
	])("says where notes would be, and makes nothing (%s)", async (memory, directory) => {
		const { cwd, resolve, made } = await launching({ fields: `memory: ${memory}\nrunner: process` });
		const spec = await resolve({ isTrial: true });
		expect(spec.memoryDir).toBe(join(cwd, ".pi", directory, "clerk"));
		expect(spec.warnings).toEqual([]);
		expect(await made()).toEqual([]);
		expect((await resolve()).memoryDir).toBe(spec.memoryDir);
		expect(await made()).toEqual([directory, "subagents"]);
	});

	test("knows no notes for an agent that could not keep any", async () => {
		const { resolve, made } = await launching({ fields: "memory: project\ntools: read" });
		expect(await resolve({ isTrial: true })).not.toHaveProperty("memoryDir");
		expect(await made()).toEqual([]);
	});
});
