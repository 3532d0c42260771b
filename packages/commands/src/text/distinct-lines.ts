/** One line for each text, all different: a client answers with the line. */
import { sanitize } from "@pi-subagents/progress";
import { clip } from "@pi-subagents/widget/cells";

export function distinctLines(texts: readonly string[], columns: number): string[] {
	const taken = new Set<string>();
	return texts.map((text) => {
		const line = clip(sanitize(text), columns);
		let distinct = line;
		for (let count = 2; taken.has(distinct); count++) distinct = `${line} (${count})`;
		taken.add(distinct);
		return distinct;
	});
}
