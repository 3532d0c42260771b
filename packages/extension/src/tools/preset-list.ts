/**
 * What the model can choose from, within a fixed space: every character is paid for with every request. Any other name
 * works too, and a wrong one is answered with those that come close.
 */
import type { Preset } from "@pi-subagents/presets";
import { sanitize } from "@pi-subagents/progress";

const MOST_CHARACTERS = 1_200;
const DESCRIPTION_CHARACTERS = 80;

export function presetList(presets: readonly Preset[]): string {
	const lines: string[] = [];
	let left = MOST_CHARACTERS;
	for (const { name, description } of presets) {
		const line = `\n- ${sanitize(name)}: ${shortened(sanitize(description))}`;
		if (line.length > left) break;
		left -= line.length;
		lines.push(line);
	}
	if (presets.length === 0) return "";
	const beyond = presets.length - lines.length;
	const more = beyond > 0 ? `\n- ${beyond} more: a word as the name finds those that match it` : "";
	return `\nPresets:${lines.join("")}${more}`;
}

/** The first sentence says most. */
function shortened(description: string): string {
	const [sentence = ""] = description.split(/(?<=[.!?]) /, 1);
	return sentence.length > DESCRIPTION_CHARACTERS ? `${sentence.slice(0, DESCRIPTION_CHARACTERS - 1)}…` : sentence;
}
