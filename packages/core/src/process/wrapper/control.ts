/** Reads what is said to a run: lines that another process writes, perhaps of a newer version. */
import { Check } from "typebox/value";
import type { ControlLine } from "../layout.ts";
import { parseJson } from "../read.ts";
import { controlSchema } from "../schema.ts";

/** Undefined for a line that is broken or not known here. */
export function parseControl(line: string): ControlLine | undefined {
	const value = parseJson(line);
	return Check(controlSchema(), value) ? value : undefined;
}
