/** What a launch becomes: which schema, notes, checkout and limits count, whoever set them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { launching } from "./fixture.ts";

const SCHEMA = "{ type: object, required: [files] }";

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

test("an agent that is launched in the checkout of another is kept in it, whoever launches it", async () => {
	const { cwd, agentDir, resolve } = await launching({});
	const dir = join(agentDir, "state", "subagents", "worktrees");
	await mkdir(join(dir, "a1", "src"), { recursive: true });
	const root = join(dir, "a1");
	expect((await resolve({ cwd: join(root, "src") })).confinedTo).toEqual({ root, origin: root, watches: [] });
	expect(await resolve({ cwd })).not.toHaveProperty("confinedTo");
});

describe("settings of other extensions that limit agents", () => {
	test("without worktrees an agent that needs one does not start, rather than work in the user's checkout", async () => {
		const settings = { worktreeIsolation: false };
		const fromFile = await launching({ fields: "isolation: worktree", settings });
		await expect(fromFile.resolve()).rejects.toThrow(
			/^Worktrees are switched off in the settings \(`worktrees`\), and preset "clerk" asks for one/,
		);
		const fromCall = await launching({ settings });
		await expect(fromCall.resolve({ isolation: "worktree" })).rejects.toThrow(/and the call asks for one/);
		expect((await fromCall.resolve()).isolation).toBeUndefined();
	});

	test("extensions that no agent loads are left out whatever the preset or its override says", async () => {
		const settings = { excludedExtensionPackages: ["npm:pi-web"] };
		const plain = await launching({ fields: "extensions: true\nexclude_extensions: one", settings });
		expect((await plain.resolve()).excludeExtensions).toEqual(["one", "pi-web"]);
		const overridden = await launching({
			fields: "extensions: true",
			overrides: { exclude_extensions: "two" },
			settings,
		});
		expect((await overridden.resolve()).excludeExtensions).toEqual(["two", "pi-web"]);
	});

	test("`disabled` switches a preset off, and a mistyped limit of an override stops it", async () => {
		const off = await launching({ overrides: { disabled: true } });
		await expect(off.resolve()).rejects.toThrow(/"clerk" is switched off/);
		const typo = await launching({ overrides: { toolz: "read" } });
		await expect(typo.resolve()).rejects.toThrow(/unknown field "toolz" looks like a limit: did you mean "tools"\?/);
	});
});

test("a launch puts the project's runs on the list for programs outside pi, and a trial does not", async () => {
	const { cwd, agentDir, resolve } = await launching({});
	const index = join(agentDir, "state", "subagents", "projects");
	await resolve({ isTrial: true });
	expect(existsSync(index)).toBe(false);
	await resolve();
	const paths = () => readdirSync(index).map((name) => readFileSync(join(index, name), "utf8"));
	await expect.poll(paths).toEqual([`${join(cwd, ".pi", "subagents", "runs")}\n`]);
});
