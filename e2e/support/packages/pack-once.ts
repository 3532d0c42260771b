/** Packs the packages once for all test files of a run: the first file that asks does it, the others wait for its result. */
import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inject, vi } from "vitest";
import { packAll, type Tarballs, tarballsIn } from "./packed.ts";

export async function packOnce(): Promise<Tarballs> {
	const dir = inject("tarballs");
	const finished = join(dir, "finished");
	const isFirst = await mkdir(join(dir, "started")).then(
		() => true,
		() => false, // another file was faster
	);
	if (isFirst) {
		await packAll(dir);
		await writeFile(finished, "");
	} else await vi.waitFor(() => access(finished), { timeout: 110_000, interval: 100 });
	return tarballsIn(dir);
}
