/** Turns a layout, or records, into terminal lines: icons, connectors and colours. Pure. */
import { checkArguments, SPINNER } from "@pi-subagents/progress";
import { type FitOptions, fit } from "../rows/fit.ts";
import { BRANCH, CROPPED, DETAIL, ICONS, LAST_BRANCH, NO_RAIL, RAIL } from "../rows/glyphs.ts";
import type { Layout, Row, Tone } from "../rows/layout.ts";
import { buildTree } from "../tree/tree.ts";
import type { AgentView } from "../tree/view.ts";
import type { Theme } from "./theme.ts";

/**
 * The lines of a tree of agents; plain text without a theme.
 *
 * @example
 * ```ts
 * const agents = [{ id: "a", status: "completed" as const, type: "scout", description: "look around" }];
 * renderTree(agents, { mode: "auto", width: 80, maxLines: 12, now: Date.now() });
 * // ["○ Agents 1 finished", "└─ ✓ scout look around"]
 * ```
 */
export function renderTree(
	records: Iterable<AgentView>,
	options: FitOptions & { theme?: Theme | undefined },
): string[] {
	checkArguments({
		records: [records, "iterable"],
		options: [options, "object"],
		"options.width": [options?.width, "number"],
		"options.now": [options?.now, "number"],
	});
	return render(fit(buildTree(records), options), options.theme);
}

/** One line per row; plain text without a theme. */
export function render({ rows, width }: Layout, theme: Theme = {}): string[] {
	return rows.map((row) => line(row, width, theme));
}

function line(row: Row, width: number, theme: Theme): string {
	const brush = new LineBuilder(theme);
	const connectors = connectorsOf(row);
	brush.add("line", connectors.slice(0, width));
	if (connectors.length > width) return brush.text();
	if (row.icon !== undefined) brush.add(row.icon, `${iconOf(row)} `.slice(0, width - connectors.length));
	for (const { separator, tone, text } of row.segments) {
		if (separator !== "") brush.add(separator === " " ? undefined : "line", separator);
		brush.add(tone, text);
	}
	return brush.text();
}

/** Merges adjacent segments of the same colour, because colour codes cost more bytes than most words. */
class LineBuilder {
	readonly #theme: Theme;
	#painted = "";
	#paint: Theme[Tone];
	#pending = "";

	constructor(theme: Theme) {
		this.#theme = theme;
	}

	/** Spaces need no tone: they may have any colour. */
	add(tone: Tone | undefined, text: string): void {
		const paint = tone === undefined ? this.#paint : this.#theme[tone];
		if (paint !== this.#paint) {
			this.#painted = this.text();
			this.#pending = "";
			this.#paint = paint;
		}
		this.#pending += text;
	}

	text(): string {
		if (this.#pending === "") return this.#painted;
		return this.#painted + (this.#paint?.(this.#pending) ?? this.#pending);
	}
}

/** Every glyph is one column and one UTF-16 unit, so length is width. */
function connectorsOf({ role, rails, isLast, isCropped }: Row): string {
	if (role === "header") return "";
	const lines = rails.map((isOpen, at) => (isCropped && at === 0 ? CROPPED : isOpen ? RAIL : NO_RAIL)).join("");
	if (role === "detail") return lines + DETAIL;
	return lines + (isLast ? LAST_BRANCH : BRANCH);
}

function iconOf({ icon = "running", frame = 0 }: Row): string {
	return icon === "running" ? (SPINNER[frame % SPINNER.length] ?? ICONS.running) : ICONS[icon];
}
