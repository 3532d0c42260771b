/** The comparison as one table: the figure of each, and how ours relates to it. */
import { type Cell, type Compared, WHO } from "./comparison.ts";

export function tableOf(lines: readonly Compared[]): string {
	const rows = [["", ...WHO, "target"], ...lines.map(rowOf)];
	const widths = rows[0]?.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? "").length))) ?? [];
	const text = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
	return [
		...rows.map((cells) => text(cells).trimEnd()),
		"",
		"× is our value divided by the other one: the medians, and the middle half of the rounds.",
	].join("\n");
}

function rowOf({ name, unit, floor, target, cells }: Compared): string[] {
	const shown = WHO.map((who) => {
		const { value, ratio } = cells[who];
		const figure = `${shownOf(value)}${typeof value === "number" && unit ? ` ${unit}` : ""}`;
		if (!ratio) return figure;
		return `${figure} ×${shownOf(ratio.median)} (${ratio.spread.map(shownOf).join("–")})`;
	});
	const wanted =
		target === undefined ? "" : "ratio" in target ? `×${target.ratio} of ${floor}` : `${target.value} ${unit}`;
	return [name, ...shown, wanted.trimEnd()];
}

function shownOf(value: Cell): string {
	return typeof value === "string" ? value : value.toFixed(value >= 100 || value === 0 ? 0 : value >= 10 ? 1 : 2);
}
