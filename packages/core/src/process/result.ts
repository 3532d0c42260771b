/** Writes how a run ended. Whoever is first decides: a second result changes nothing. */
import { join } from "node:path";
import { createWhole, jsonText } from "./create.ts";
import { type ResultFile, RUN_FILES } from "./layout.ts";

/** Whether it is this one that counts. */
export async function writeResult(dir: string, result: ResultFile): Promise<boolean> {
	return createWhole(join(dir, RUN_FILES.result), jsonText(result));
}
