/** Which command checks an agent's work: the call's, the preset's, or none, depending on who may say so. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentRecord, RunSpec } from "@pi-subagents/core";
import { sampleSpec } from "@pi-subagents/core/testing";
import { describe, expect, test } from "vitest";
import { resumedParams } from "../src/launch-params.ts";
import { createLauncher } from "../src/launcher.ts";
import { assertVerifiable } from "../src/spec-parts.ts";
import { hostIn, launching } from "./fixture.ts";

describe("verify of a preset", () => {
	test("is a command, a list, or both with a limit and JSON", async () => {
		const verifyOf = async (fields: string) => (await (await launching({ fields })).resolve()).verify;
		expect(await verifyOf("verify: npm test")).toEqual({ command: "npm test", timeoutMs: 600_000, repairs: 1 });
		expect(await verifyOf("verify: [npm, run, test]\nverify_repairs: 3")).toMatchObject({
			command: ["npm", "run", "test"],
			repairs: 3,
		});
		const full = 'verify: { command: make check, timeout: 2m, output: json, schema: { type: "array" } }';
		expect(await verifyOf(full)).toEqual({
			command: "make check",
			timeoutMs: 120_000,
			output: "json",
			schema: { type: "array" },
			repairs: 1,
		});
		expect(await verifyOf("verify: { command: make, timeout: 0 }")).toEqual({ command: "make", repairs: 1 });
	});

	test.each([
		"verify: 7",
		"verify: []",
		'verify: [""]',
		"verify: { timeout: 5 }",
		"verify: { command: make, retries: 2 }",
		"verify: { command: make, schema: {} }",
		"verify: { command: make, output: xml }",
		"verify_repairs: many",
	])("that is not understood is never left out: %s", async (fields) => {
		await expect((await launching({ fields })).resolve()).rejects.toThrow(/cannot be used/);
	});

	test("does not run in a project that is not trusted, and the spec says why", async () => {
		const it = await launching({ fields: "verify: touch owned", trust: "unasked" });
		const spec = await it.resolve();
		expect(spec.verify).toEqual({ skipped: "project not trusted" });
		expect(spec.warnings.join()).toContain("sets verify");
	});

	test("gives way to the user's own settings, also there", async () => {
		const given = { fields: "verify: touch owned", trust: "unasked", overrides: { verify: "npm test" } } as const;
		expect((await (await launching(given)).resolve()).verify).toMatchObject({ command: "npm test" });
	});

	test("with JSON cannot go with an output schema", async () => {
		const fields = 'verify: { command: make, output: json }\noutput_schema: { type: "object" }';
		await expect((await launching({ fields })).resolve()).rejects.toThrow(/cannot go with `output_schema`/);
	});

	test("with a broken schema is refused before anything runs", async () => {
		const fields = "verify: { command: make, output: json, schema: { type: strin } }";
		await expect((await launching({ fields })).resolve()).rejects.toThrow(/`schema` in `verify` of preset "clerk"/);
	});
});

describe("verify of a call", () => {
	const settings = { verifyCalls: true };

	test("replaces the preset's, unless that is locked", async () => {
		const it = await launching({ fields: "verify: npm test", settings });
		expect((await it.resolve({ verify: ["make"] })).verify).toMatchObject({ command: ["make"] });
		const locked = await launching({ fields: "verify: npm test\nlocked: verify", settings });
		const spec = await locked.resolve({ verify: "true" });
		expect(spec.verify).toMatchObject({ command: "npm test" });
		expect(spec.warnings.join()).toContain("locks `verify`");
	});

	test("that is not understood is refused", async () => {
		const it = await launching({ settings });
		await expect(it.resolve({ verify: { command: "make", shell: "fish" } })).rejects.toThrow(/verify.*must be/);
		expect((await it.resolve({ verify: "" })).verify).toBeUndefined();
	});

	test("needs a caller that could run the command itself", async () => {
		const tools = [
			{ name: "read", isActive: true },
			{ name: "bash", isActive: false },
		];
		const it = await launching({
			settings,
			lends: {
				facts: async () => ({
					models: [{ provider: "fake", id: "one" }],
					tools,
					cwd: { path: "/", kind: "directory", isAsked: false },
					isProjectTrusted: true,
				}),
			},
		});
		await expect(it.resolve({ verify: "touch owned" })).rejects.toThrow(/the caller has no tool `bash`/);
		await expect(it.resolve({ verify: "touch owned", verifyBy: "user" })).rejects.toThrow(/has no tool `bash`/);
		expect((await it.resolve({ verify: "make", verifyBy: "extension" })).verify).toMatchObject({ command: "make" });
		expect((await it.resolve({ verify: "make", isVerifyKept: true })).verify).toEqual({
			skipped: "the caller has no tool `bash`",
		});
	});

	test("of the model needs the setting; of the user's script or another extension it does not", async () => {
		const it = await launching({});
		await expect(it.resolve({ verify: "make" })).rejects.toMatchObject({
			code: "forbidden_tool",
			message: expect.stringContaining("the setting `verifyCalls` is off. Leave it out, or put it into the preset."),
		});
		await expect(it.resolve({ verify: "make", isTrial: true }), "for a schedule").rejects.toThrow(
			"`verifyCalls` is off",
		);
		for (const verifyBy of ["user", "extension"] as const)
			expect((await it.resolve({ verify: "make", verifyBy })).verify).toMatchObject({ command: "make" });
	});

	test("that was kept is not run if it may not be any more, and the result will say so", async () => {
		const it = await launching({ settings });
		const { given, runner, cwd } = await it.resolve({ verify: "make" });
		const record = { given, runner, cwd } as AgentRecord;
		expect((await it.resolve(resumedParams(record))).verify).toMatchObject({ command: "make" });
		await writeFile(join(it.agentDir, "subagents.json"), '{ "verifyCalls": false }');
		const { verify, warnings, given: kept } = await it.resolve(resumedParams(record));
		expect(verify).toEqual({ skipped: "the setting `verifyCalls` is off" });
		expect(warnings).toEqual(["Not verified: the setting `verifyCalls` is off."]);
		expect(kept).toEqual({ verify: "make" });
	});

	test("that was kept gives way to the preset's own if it may not be run any more", async () => {
		const it = await launching({ fields: "verify: npm test" });
		const spec = await it.resolve({ verify: "make", isVerifyKept: true });
		expect([spec.verify, spec.warnings]).toEqual([expect.objectContaining({ command: "npm test" }), []]);
	});

	test("of another extension or the user's script stays allowed when the agent is resumed", async () => {
		const it = await launching({});
		for (const verifyBy of ["user", "extension"] as const) {
			const { given, runner, cwd } = await it.resolve({ verify: "make", verifyBy });
			const record = { given, runner, cwd } as AgentRecord;
			expect((await it.resolve(resumedParams(record))).verify).toMatchObject({ command: "make" });
		}
		const older = { given: { verify: "make" }, runner: "session", cwd: it.cwd, launchedBy: "rpc" } as AgentRecord;
		expect((await it.resolve(resumedParams(older))).verify).toMatchObject({ command: "make" });
	});

	test("needs it of an agent that launches, whatever the session has", async () => {
		const { cwd, agentDir, resolve } = await launching({ settings });
		const launcher = createLauncher(hostIn({ cwd, agentDir, trust: "yes" }));
		const parent = await resolve({});
		const launchedBy = (spec: RunSpec) =>
			launcher.resolve({ preset: "clerk", task: "File it.", verify: "make" }, { cwd }, { spec, ctx: { cwd } });
		expect((await launchedBy({ ...parent, tools: ["read", "bash"] })).spec.verify).toMatchObject({ command: "make" });
		await expect(launchedBy({ ...parent, tools: ["read"] })).rejects.toThrow(/the caller has no tool `bash`/);
	});
});

test("on Windows an agent whose work a command must check is not launched, unless it runs on another machine", () => {
	const verified: RunSpec = { ...sampleSpec, verify: { command: "npm test", repairs: 1 } };
	expect(() => assertVerifiable(verified, "win32")).toThrow(/`verify`\), but commands cannot be run on Windows/);
	for (const platform of ["linux", "darwin"] as const) assertVerifiable(verified, platform);
	assertVerifiable({ ...verified, runner: "remote" }, "win32");
	assertVerifiable({ ...sampleSpec, verify: { skipped: "project not trusted" } }, "win32");
	assertVerifiable(sampleSpec, "win32");
});
