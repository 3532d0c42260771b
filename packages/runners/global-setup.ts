/** One directory for what a run of the tests builds, shared by all test files; see `test/fixtures/build-once.ts`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
	interface ProvidedContext {
		built: string;
	}
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
	const dir = await mkdtemp(join(tmpdir(), "pi-built-"));
	project.provide("built", dir);
	return () => rm(dir, { recursive: true, force: true });
}
