/** The colours of tones. A theme is functions over text, so that tests can read plain lines. */
import { STATUS_LOOKS } from "@pi-subagents/progress";
import type { Tone } from "../rows/layout.ts";

/** None may change the width of its text. A tone without a function is left unpainted. */
export type Theme = Partial<Record<Tone, (text: string) => string>>;

/** The part of pi's theme that is used. */
export interface PiTheme {
	fg(color: PiColor, text: string): string;
	bold(text: string): string;
}

type PiColor = "accent" | "success" | "error" | "warning" | "muted" | "dim" | "text" | "customMessageLabel";

const COLORS: Record<Tone, PiColor> = {
	session: "accent",
	title: "accent",
	counts: "muted",
	done: "dim",
	line: "dim",
	type: "text",
	description: "text",
	quiet: "muted",
	focus: "accent",
	model: "customMessageLabel",
	activity: "muted",
	question: "text",
	figures: "dim",
	note: "dim",
	attention: "warning",
	alarm: "error",
	queued: STATUS_LOOKS.queued.color,
	running: STATUS_LOOKS.running.color,
	waiting: STATUS_LOOKS.waiting.color,
	completed: STATUS_LOOKS.completed.color,
	failed: STATUS_LOOKS.failed.color,
	aborted: STATUS_LOOKS.aborted.color,
	lost: "dim",
};

const BOLD: readonly Tone[] = ["title", "type", "focus"];

/** pi's colours, dark or light: pass the theme that pi gives to components. */
export function piTheme(pi: PiTheme): Theme {
	const plain = new Map<PiColor, (text: string) => string>();
	const theme: Theme = {};
	for (const [tone, color] of Object.entries(COLORS) as [Tone, PiColor][]) {
		const paint = plain.get(color) ?? ((text: string) => pi.fg(color, text));
		plain.set(color, paint);
		theme[tone] = BOLD.includes(tone) ? (text) => pi.fg(color, pi.bold(text)) : paint;
	}
	return theme;
}
