/** The instructions to an agent about the shape of its answer. */
import type { Unstructured } from "@pi-subagents/progress";
import type { OutputSpec } from "../model/schema/spec.ts";
import { errorText } from "./check-answer.ts";
import { isWrapped } from "./schema.ts";

/** Appended to the task. */
export function outputInstruction(schema: OutputSpec["schema"]): string {
	const shape = isWrapped(schema)
		? 'of the form {"value": …}, with no other property, whose value matches this JSON Schema'
		: "that matches this JSON Schema";
	return [
		`End your final message with one JSON object ${shape}. A program reads only the last JSON object in that message, so write it out in full and put nothing after it.`,
		`\`\`\`json\n${JSON.stringify(schema)}\n\`\`\``,
	].join("\n");
}

/** Asks for the answer again. */
export function repairMessage({ error, validationErrors }: Pick<Unstructured, "error" | "validationErrors">): string {
	return [
		"Your answer cannot be used.",
		...(validationErrors.length > 0 ? validationErrors.map((each) => `- ${errorText(each)}`) : [`- ${error}`]),
		"Reply now with the corrected JSON object alone, complete and matching the schema you were given. Do not do the work again.",
	].join("\n");
}
