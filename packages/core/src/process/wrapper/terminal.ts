/** What the wrapper prints: progress for a person who watches, or nothing but the result for a program that does. */
import { outcomeText, sanitize } from "@pi-subagents/progress";
import type { Meta, ResultFile } from "../layout.ts";

export interface Terminal {
	begin(): void;
	/** A line of the transcript. */
	line(text: string): void;
	end(result: ResultFile): Promise<void>;
}

/** Resolves when the text is out, or can never be. */
export type Print = (text: string) => Promise<void>;

export function progressTerminal({ agentId, preset, task }: Meta, print: Print): Terminal {
	const show = (text: string) => print(`${sanitize(text)}\n`);
	return {
		begin: () => void show(`Agent ${agentId} (${preset}): ${firstLine(task)}`),
		line: (text) => void show(text),
		end: ({ outcome, startedAt, completedAt }) => show(outcomeText(outcome, { durationMs: completedAt - startedAt })),
	};
}

export function resultTerminal(print: Print): Terminal {
	return {
		begin: () => undefined,
		line: () => undefined,
		end: (result) => print(`${JSON.stringify(result)}\n`),
	};
}

function firstLine(text: string): string {
	return text.trim().split("\n", 1)[0] ?? "";
}
