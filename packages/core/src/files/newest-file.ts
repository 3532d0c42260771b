/** The newest of a directory's JSONL files, by its name: pi's session files are named by the time. */
import { readdirSync } from "node:fs";
import { isMissing } from "../base/error-code.ts";

/** "" if there is none, undefined if the directory does not exist. */
export function newestFile(dir: string): string | undefined {
	try {
		const files = readdirSync(dir).filter((name) => name.endsWith(".jsonl"));
		return files.sort().at(-1) ?? "";
	} catch (error) {
		if (isMissing(error)) return undefined;
		throw error;
	}
}
