/**
 * What the model can choose from, within a fixed space: every character is paid for with every request. Any other name
 * works too, and a wrong one is answered with those that come close.
 */
import type { Preset } from "@pi-subagents/presets";
import { sanitize } from "@pi-subagents/progress";

const MAX_CHARACTERS = 1_100;
const DESCRIPTION_CHARACTERS = 80;

export function presetList(presets: readonly Preset[]): string {
	return presets.length === 0 ? "" : ["\nPresets:", ...presetLines(presets)].join("\n");
}

/** A line for each, as far as they fit, and one for the rest. */
export function presetLines(presets: readonly Preset[]): string[] {
	return listWithin(presets, MAX_CHARACTERS, ({ description }) => shortened(sanitize(description)));
}

/** `about` says what follows a preset's name, as one clean line. */
export function listWithin(presets: readonly Preset[], most: number, about: (preset: Preset) => string): string[] {
	const lines: string[] = [];
	let left = most;
	for (const preset of presets) {
		const line = `- ${sanitize(preset.name)}: ${about(preset)}`;
		if (line.length + 1 > left) break; // with the end of the line
		left -= line.length + 1;
		lines.push(line);
	}
	const beyond = presets.length - lines.length;
	return beyond > 0 ? [...lines, `- ${beyond} more: a keyword as the name lists the matches`] : lines;
}

/** The first sentence says most. */
function shortened(description: string): string {
	const [sentence = ""] = description.split(/(?<=[.!?]) /, 1);
	return sentence.length > DESCRIPTION_CHARACTERS ? `${sentence.slice(0, DESCRIPTION_CHARACTERS - 1)}…` : sentence;
}
