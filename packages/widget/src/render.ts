/** Turns a layout into lines for a terminal: signs, connectors and colours. Pure. */
import { BRANCH, CROPPED, DETAIL, ICONS, LAST_BRANCH, NO_RAIL, RAIL, SPINNER } from "./glyphs.ts";
import type { Layout, Row, Tone } from "./layout.ts";
import type { Theme } from "./theme.ts";

/** One line for each row. Without a theme they are plain text. */
export function render({ rows, width }: Layout, theme: Theme = {}): string[] {
	return rows.map((row) => line(row, width, theme));
}

function line(row: Row, width: number, theme: Theme): string {
	const paint = (tone: Tone, text: string) => theme[tone]?.(text) ?? text;
	const connectors = connectorsOf(row);
	if (connectors.length > width) return paint("line", connectors.slice(0, width));
	let text = connectors === "" ? "" : paint("line", connectors);
	if (row.icon !== undefined) {
		const sign = `${iconOf(row)} `.slice(0, width - connectors.length);
		text += paint(row.icon, sign);
	}
	for (const segment of row.segments) {
		if (segment.joint !== "") text += segment.joint === " " ? " " : paint("line", segment.joint);
		text += paint(segment.tone, segment.text);
	}
	return text;
}

/** Every sign is one column and one unit long, so columns can be counted by units. */
function connectorsOf({ role, rails, isLast, isCropped }: Row): string {
	if (role === "header") return "";
	const lines = rails.map((isOpen, at) => (isCropped && at === 0 ? CROPPED : isOpen ? RAIL : NO_RAIL)).join("");
	if (role === "detail") return lines + DETAIL;
	return lines + (isLast ? LAST_BRANCH : BRANCH);
}

function iconOf({ icon = "running", frame = 0 }: Row): string {
	return icon === "running" ? (SPINNER[frame % SPINNER.length] ?? ICONS.running) : ICONS[icon];
}
