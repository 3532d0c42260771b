/** What a program that brings only facts gets: a whole spec, and ids for the agents that run it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLauncher, type LaunchParams, newAgentId } from "@pi-subagents/launch";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let cwd = "";
beforeAll(async () => {
	cwd = await mkdtemp(join(tmpdir(), "pi-launch-"));
});
afterAll(() => rm(cwd, { recursive: true, maxRetries: 5 }));

async function resolve(params: Partial<LaunchParams>) {
	const models = [{ provider: "acme", id: "large" }];
	const launcher = createLauncher({
		agentDir: join(cwd, "agent"),
		warn: () => undefined,
		parent: () => ({ model: models[0] }),
		facts: async () => ({
			models,
			tools: ["read", "grep", "find", "ls", "bash", "edit", "write"].map((name) => ({ name, isActive: true })),
			cwd: { path: cwd, kind: "directory", isAsked: false },
			isProjectTrusted: false,
		}),
	});
	const asked = { preset: "general-purpose", task: "Look.", isTrial: true, ...params };
	return (await launcher.resolve(asked, { cwd })).spec;
}

describe("a request", () => {
	test("for certain tools gets these, and no agents of its own", async () => {
		const spec = await resolve({ tools: ["read", "ls"] });
		expect(spec.tools).toEqual(["read", "ls"]);
		expect(spec).not.toHaveProperty("subagents");
	});

	test("that must stand alone is refused a conversation", async () => {
		await expect(resolve({ standsAlone: true, inheritContext: true })).rejects.toThrow("inherit_context");
		expect(await resolve({ standsAlone: true })).not.toHaveProperty("inheritsContext");
	});

	test("for a run that outlives the session gets its own process", async () => {
		expect(await resolve({ outlives: true, runner: "session" })).toMatchObject({ runner: "process", outlives: true });
	});

	test("leaves nothing behind when it is a preview, and has a place for its files when it is not", async () => {
		expect(await resolve({})).not.toHaveProperty("runsDir");
		expect((await resolve({ isTrial: false })).runsDir).toContain(join(".pi", "subagents", "runs"));
	});
});

test("ids are eight letters and digits that cannot be mistaken for each other", () => {
	const ids = Array.from({ length: 2_000 }, newAgentId);
	expect(ids.filter((id) => !/^[2-9a-hjkmnp-z]{8}$/.test(id))).toEqual([]);
	expect(new Set(ids).size).toBe(ids.length);
});
