/** Reads the control lines of a run, which another process writes, perhaps a newer version. */
import { Check } from "typebox/value";
import type { ControlLine } from "./layout.ts";
import { parseJson } from "./read.ts";
import { controlSchema } from "./schema.ts";

/** Undefined for a broken or unknown line. */
export function parseControl(line: string): ControlLine | undefined {
	const value = parseJson(line);
	return Check(controlSchema(), value) ? value : undefined;
}
