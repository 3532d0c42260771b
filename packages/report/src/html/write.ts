/** Writes a report to a file that only the user can read. */
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Report } from "../model/types.ts";
import { htmlReport } from "./html.ts";

/**
 * Replaces an existing file, at once: no reader sees half of it. Returns the absolute path.
 *
 * @example
 * ```ts
 * console.log(await writeHtmlReport(report, "report.html"));
 * ```
 */
export async function writeHtmlReport(report: Report, path: string): Promise<string> {
	const target = resolve(path);
	await mkdir(dirname(target), { recursive: true, mode: 0o700 });
	const unfinished = `${target}.${randomUUID()}.tmp`;
	try {
		await writeFile(unfinished, await htmlReport(report), { flag: "wx", mode: 0o600 });
		await rename(unfinished, target);
	} finally {
		await rm(unfinished, { force: true });
	}
	return target;
}
