/**
 * Results of older versions, whose details do not say how their agents ended: reads the text for the model back into its
 * parts, so that people see the agents instead of the text around them. What an agent said is fenced, so nothing inside it
 * is taken for a part. Pure.
 */
import { readableError, unfenced } from "@pi-subagents/progress";

/** How an agent ended, as far as the text tells. */
export interface EndInText {
	agentId: string;
	status: "completed" | "failed" | "aborted";
	how: string;
	why: string;
	said: string;
}

/** One for each agent that the text is about; empty if it is about none. */
export function endsInText(text: string): EndInText[] {
	return sectionsOf(text).flatMap((lines) => endIn(lines) ?? []);
}

/** With several agents, each has a numbered heading. Text before the first is for the model only. */
function sectionsOf(text: string): string[][] {
	const sections: string[][] = [[]];
	let fence: string | undefined;
	for (const line of text.split("\n")) {
		if (fence === undefined) fence = OPENS.exec(line)?.[1];
		if (fence === undefined && line.startsWith(`## ${sections.length}. `)) sections.push([]);
		else sections.at(-1)?.push(line);
		if (fence !== undefined && line.endsWith(`</${fence}>`)) fence = undefined;
	}
	return sections.length > 1 ? sections.slice(1) : sections;
}

const OPENS = /^<([a-z]+-[0-9a-f]{12})>/;
const TRAILER = /^\[agent (\S+) \(([^)]*)\): (.*)\]$/;
const FIGURES = /^(.*), [\d,]+ tool calls?(?:[,.] .*)?$/;
const PARTIAL = "What it had said until then (partial):";

function endIn(lines: readonly string[]): EndInText | undefined {
	const at = trailerIn(lines);
	const [, agentId, preset, told] = TRAILER.exec(lines[at] ?? "") ?? [];
	if (agentId === undefined || preset === undefined || told === undefined) return undefined;
	const how = FIGURES.exec(told)?.[1] ?? told;
	const rest = lines.filter((line, index) => index !== at && line !== PARTIAL).join("\n");
	const said = unfenced(rest).replace(/^<\/?structured-output>\n?/gm, "");
	const readable = readableError(unfenced(how));
	const why = readable.replace(/^Failed(?: after [^:]*)?: /, "");
	return { agentId, status: statusIn(how), how: readable, why, said: said.trim() };
}

/** Outside of what the agent said; its own lines may look like one. */
function trailerIn(lines: readonly string[]): number {
	let fence: string | undefined;
	return lines.findLastIndex((line) => {
		// Backwards, a fence begins with its closing tag.
		if (fence === undefined) fence = /<\/([a-z]+-[0-9a-f]{12})>$/.exec(line)?.[1];
		const isOutside = fence === undefined;
		if (fence !== undefined && line.startsWith(`<${fence}>`)) fence = undefined;
		return isOutside && TRAILER.test(line);
	});
}

function statusIn(how: string): EndInText["status"] {
	if (/^(?:Completed|Wrapped up)\b/.test(how)) return "completed";
	return how.startsWith("Failed") ? "failed" : "aborted";
}
