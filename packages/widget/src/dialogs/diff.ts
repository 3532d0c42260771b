/** A diff of git as blocks for a reader: a summary, then each file under its name. Pure. */
import type { Block, Row, Tone } from "./layout.ts";

/** The summary of a diff, then each file under its name, with its lines in colours. */
export function diffBlocks(diff: string): Block[] {
	const [summary = "", ...files] = diff.split(/^(?=diff --git )/m);
	if (summary.trim() === "" && files.length === 0) return [{ text: "No changes." }];
	const stat = summary.replace(/^ /gm, "").trim(); // git indents it
	return [...(stat === "" ? [] : [{ text: stat, tone: "muted" as const }]), ...files.map(fileBlock)];
}

/** Everything before the first hunk is named in the heading or of interest to git only. */
function fileBlock(text: string): Block {
	const lines = text.trimEnd().split("\n");
	const start = lines.findIndex((line) => line.startsWith("@@"));
	const head = start < 0 ? lines : lines.slice(0, start);
	const hunks = start < 0 ? head.filter((line) => line.startsWith("Binary files")) : lines.slice(start);
	const counted = (sign: string) => hunks.filter((line) => line.startsWith(sign)).length;
	const heading = `${nameIn(head)}  +${counted("+")} −${counted("-")}`;
	return {
		rows: [
			{ lead: [], body: [{ text: heading, tone: "strong" }] },
			...hunks.map((line): Row => ({ lead: [], body: [{ text: line, ...toneOfLine(line) }] })),
		],
	};
}

function nameIn(head: readonly string[]): string {
	const after = (start: string) => head.find((line) => line.startsWith(start))?.slice(start.length);
	const [from, to] = [after("rename from "), after("rename to ")];
	if (from !== undefined && to !== undefined) return `${from} → ${to}`;
	const name = [after("+++ b/"), after("--- a/")].find((each) => each !== undefined);
	if (name === undefined) return head[0]?.replace(/^diff --git a\/(.*) b\/\1$/, "$1") ?? "";
	if (head.some((line) => line.startsWith("new file"))) return `${name} (new)`;
	return head.some((line) => line.startsWith("deleted file")) ? `${name} (deleted)` : name;
}

const LINE_TONES: Readonly<Record<string, Tone>> = {
	"+": "good",
	"-": "bad",
	"@": "accent",
	"\\": "muted",
	"…": "warn",
};

function toneOfLine(line: string): { tone: Tone } | undefined {
	const tone = LINE_TONES[line.charAt(0)] ?? (line.startsWith(" ") ? "muted" : undefined);
	return tone && { tone };
}
