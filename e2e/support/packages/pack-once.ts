/** Packs the packages once for all test files of a run. */
import { onceInRun } from "@pi-subagents-dev/testkit";
import { inject } from "vitest";
import { packAll, type Tarballs, tarballsIn } from "./packed.ts";

export async function packOnce(): Promise<Tarballs> {
	const dir = inject("tarballs");
	await onceInRun(dir, packAll);
	return tarballsIn(dir);
}
