/** One directory for the tarballs of a run, shared by all test files; see `support/packages/pack-once.ts`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
	interface ProvidedContext {
		tarballs: string;
	}
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
	const dir = await mkdtemp(join(tmpdir(), "pi-tarballs-"));
	project.provide("tarballs", dir);
	return () => rm(dir, { recursive: true, force: true });
}
