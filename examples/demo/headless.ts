/** Turns the events of `pi --mode json` into a few lines for people without a terminal screen. */
import { describe as describeEvent, normalize, sanitize, sanitizeBlock } from "@pi-subagents/progress";

interface Row {
	preset: string;
	lastLine: string;
}

/** What this file reads of pi's events; everything is optional because it comes from another program. */
interface PiEvent {
	type?: string;
	toolCallId?: string;
	toolName?: string;
	args?: { preset?: string; task?: string };
	partialResult?: { content?: { text?: string }[] };
	isError?: boolean;
}

/** What an agent does between two steps: the next update takes it back. */
const TRANSIENT = /^(?:Starting|\w+ing…)$/;

export function createReporter(print: (line: string) => void) {
	const rows = new Map<string, Row>();
	let answer: string | undefined;

	const launch = (id: string, { preset = "agent", task = "" }: NonNullable<PiEvent["args"]>) => {
		rows.set(id, { preset: sanitize(preset), lastLine: "" });
		print(`▶ ${sanitize(preset).padEnd(13)} ${sanitize(task)}`);
	};
	/** An update holds the last few lines, so those after the one printed last are new. */
	const progress = (row: Row, text: string) => {
		const lines = text
			.split("\n")
			.map(sanitize)
			.filter((line) => !TRANSIENT.test(line));
		for (const line of lines.slice(lines.lastIndexOf(row.lastLine) + 1)) print(`  ${row.preset.padEnd(13)} ${line}`);
		row.lastLine = lines.at(-1) ?? "";
	};

	return {
		hear(event: PiEvent): void {
			const row = rows.get(event.toolCallId ?? "");
			if (event.type === "tool_execution_start" && event.toolName === "subagent")
				launch(event.toolCallId ?? "", event.args ?? {});
			else if (event.type === "tool_execution_update" && row)
				progress(row, event.partialResult?.content?.[0]?.text ?? "");
			else if (event.type === "tool_execution_end" && row) print(`${event.isError ? "✗" : "✓"} ${row.preset}`);
			for (const child of normalize(event)) {
				if (child.type !== "assistant_text" || child.text.trim() === "") continue;
				if (child.stopReason === "stop") answer = child.text;
				print(
					child.stopReason === "stop" ? `\n${sanitizeBlock(child.text)}` : `${describeEvent(undefined, child).line}\n`,
				);
			}
		},
		hasAnswered: () => answer !== undefined,
	};
}
