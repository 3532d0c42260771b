/** A release, up to the point where somebody would notice. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isFullRun } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { packageNames, root, run } from "../../support/packages/packed.ts";

interface Step {
	uses?: string;
	run?: string;
}

interface Workflow {
	permissions: Record<string, string>;
	jobs: Record<string, { permissions?: Record<string, string>; steps: Step[] }>;
}

const read = (path: string) => readFileSync(join(root, path), "utf8");
const workflow = (name: string) => parse(read(`.github/workflows/${name}.yml`)) as Workflow;
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps);

if (isFullRun)
	test("a dry run versions all packages alike, writes their changelogs, and leaves the tree alone", async () => {
		const manifests = () => packageNames.map((name) => read(`packages/${name}/package.json`));
		const before = manifests();
		const printed = await run(process.execPath, ["scripts/release-dry.mjs"], { cwd: root });
		const versions = [...printed.matchAll(/^@pi-subagents\/(\w+) (\S+) → (\S+)$/gm)];
		expect(versions.map(([, name]) => name)).toEqual(packageNames);
		expect(new Set(versions.map(([, , , version]) => version)).size).toBe(1);
		for (const [, name, from, to] of versions) {
			expect(to).not.toBe(from);
			expect(printed).toContain(`# @pi-subagents/${name}\n\n## ${to}\n`);
		}
		expect(manifests()).toEqual(before);
	});

if (isFullRun) {
	test("npm would take every package", async () => {
		const printed = await run(process.execPath, ["scripts/publish.mjs", "--dry-run"], { cwd: root });
		const names = [...printed.matchAll(/^@pi-subagents\/(\w+)@\S+ would be published$/gm)].map(([, name]) => name);
		expect(names).toEqual(packageNames);
	});
}

test("nobody publishes by accident", async () => {
	const { GITHUB_REPOSITORY: _, ...env } = process.env;
	const publishing = run(process.execPath, ["scripts/publish.mjs"], { cwd: root, env });
	await expect(publishing).rejects.toThrow("Only the release workflow can publish");
});

test("every package has the licence", () => {
	for (const name of packageNames) expect(read(`packages/${name}/LICENSE`)).toBe(read("LICENSE"));
	expect(existsSync(join(root, "SECURITY.md"))).toBe(true);
});

describe.each(readdirSync(join(root, ".github/workflows")))("the workflow %s", (file) => {
	test("uses actions by their commits, holds no secret, and may only read unless a job says more", () => {
		const text = read(`.github/workflows/${file}`);
		expect(text).not.toMatch(/secrets\.|_TOKEN|https?:/);
		const parsed = parse(text) as Workflow;
		for (const { uses } of stepsOf(parsed)) {
			if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/);
		}
		expect(parsed.permissions).toEqual({ contents: "read" });
	});

	test("runs all checks", () => {
		expect(stepsOf(parse(read(`.github/workflows/${file}`)) as Workflow)).toContainEqual(
			expect.objectContaining({ run: ".ci/run" }),
		);
	});
});

test("only the job that publishes may prove its identity, and it publishes with provenance", () => {
	expect(workflow("release").jobs.publish?.permissions).toEqual({ contents: "write", "id-token": "write" });
	expect(JSON.stringify(workflow("ci"))).not.toContain("id-token");
	const { scripts } = JSON.parse(read("package.json"));
	expect(stepsOf(workflow("release"))).toContainEqual({ run: "node scripts/run.mjs release:publish" });
	expect(scripts["release:publish"]).toContain("scripts/publish.mjs");
	expect(read("scripts/publish.mjs")).toContain("--provenance");
});
