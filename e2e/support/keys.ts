/** What a person types and presses on a real screen. */
import type { Terminal } from "@pi-subagents-dev/testkit";

/** The space ends the completion of a command, which would take Enter for itself. */
export function enter(tui: Terminal, text: string): void {
	tui.submit(`${text} `);
}

export async function openMenu(tui: Terminal): Promise<void> {
	enter(tui, "/agents");
	await tui.waitForText("→ This session");
}

/** Goes down to what is called like this, and takes it. */
export async function moveTo(tui: Terminal, label: string): Promise<void> {
	// The rest of the screen changes by itself: only what is marked says that a key has arrived.
	const marked = (lines: string[]) => lines.find((line) => line.includes("→ "));
	await tui.waitFor((lines) => lines.some((line) => line.includes(label)) && marked(lines) !== undefined);
	for (let moves = 0; moves < 10; moves++) {
		const before = marked(tui.screen());
		if (before?.includes(`→ ${label}`)) return tui.press("enter");
		tui.press("down");
		await tui.waitFor((lines) => marked(lines) !== before);
	}
	throw new Error(`There is no ${label}.`);
}

/** Waits for a dialog that opened by itself, until it hears keys: it ignores those that may be meant for something else. */
export async function untilAsked(tui: Terminal, text: string | RegExp): Promise<void> {
	await tui.waitForText(text);
	await tui.waitFor((lines) => !lines.some((line) => line.includes(DEAF)), {}, "A dialog that hears keys");
}

/** What the footer says while a dialog does not listen yet. */
const DEAF = "dialog ignores keys";
