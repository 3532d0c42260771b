/** Formats the output of `pi-presets`. Text from files is made printable here. */
import { isAbsolute, relative, sep } from "node:path";
import { fields } from "../fields/fields.ts";
import type { Origin, Preset, Problem } from "../model/preset.ts";
import { block, cut, oneLine } from "../model/text.ts";

const wide =
	/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}]/u;

/** A table with one preset per line, as wide as the terminal. */
export function listPresets(presets: readonly Preset[], columns = 160): string {
	const rows = presets.map((preset) => [
		preset.enabled ? preset.name : `${preset.name} (off)`,
		sourceName(preset),
		preset.model ?? "-",
		toolNames(preset.tools),
		preset.description,
	]);
	const table = [["NAME", "SOURCE", "MODEL", "TOOLS", "DESCRIPTION"], ...rows].map((row) =>
		row.map((cell) => cut(oneLine(cell), 200)),
	);
	const widths = [0, 1, 2, 3].map((column) => Math.min(36, Math.max(...table.map((row) => width(row[column] ?? "")))));
	const lines = table.map((row) => {
		const cells = row.map((cell, column) => (column < 4 ? pad(cell, widths[column] ?? 0) : cell));
		return clipToWidth(cells.join("  "), columns).trimEnd();
	});
	return `${lines.join("\n")}\n`;
}

/** Every value of a preset, where it comes from, and the prompt. */
export function describePreset(preset: Preset, cwd: string): string {
	const lines = [`${preset.name}  (${sourceName(preset)}, ${shortPath(preset.path, cwd)})`, ""];
	for (const { key, name } of fields) {
		const value = preset[key];
		if (value === undefined) continue;
		lines.push(
			`  ${name.padEnd(18)} ${cut(oneLine(valueText(value)), 200)}  [${originText(preset.origins[key], cwd)}]`,
		);
	}
	for (const { path, source } of preset.replaces ?? []) lines.push(`  replaces ${source.kind} ${shortPath(path, cwd)}`);
	for (const { line, from, to } of preset.imported ?? [])
		lines.push(`  imported line ${line}: ${from} -> ${to ?? "(nothing)"}`);
	return `${lines.map(oneLineKeepingIndent).join("\n")}\n\n${block(preset.prompt)}\n`;
}

/** One line per problem: `file:line:column: severity: message`; a directory has no line numbers. */
export function describeProblems(problems: readonly Problem[], cwd: string): string {
	return problems
		.map(({ path, line, column = 1, severity, message }) => {
			const at = line === undefined ? shortPath(path, cwd) : `${shortPath(path, cwd)}:${line}:${column}`;
			return `${at}: ${severity}: ${oneLine(message)}\n`;
		})
		.join("");
}

/** `1 error`, `2 errors`. */
export function count(amount: number, noun: string): string {
	return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

function sourceName({ source }: Preset): string {
	return source.kind === "global" || source.kind === "project"
		? `${source.kind} ${source.flavour}`
		: source.kind === "import"
			? source.flavour
			: source.kind;
}

function toolNames(tools: Preset["tools"]): string {
	if (tools === undefined) return "(default)";
	return tools === "*" ? "*" : tools.join(",") || "none";
}

function valueText(value: unknown): string {
	if (Array.isArray(value)) return value.join(", ") || "none";
	return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function originText(origin: Origin | undefined, cwd: string): string {
	return origin === undefined || origin === "default" ? "default" : `${shortPath(origin.path, cwd)}:${origin.line}`;
}

/** Paths inside `cwd` are shown relative to it. */
function shortPath(path: string, cwd: string): string {
	const inside = isAbsolute(path) ? relative(cwd, path) : path;
	return oneLine(
		inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? path : inside,
	);
}

function oneLineKeepingIndent(line: string): string {
	return `${/^ */.exec(line)?.[0] ?? ""}${block(line).trim().replaceAll("\n", " ")}`;
}

function pad(text: string, columns: number): string {
	return clipToWidth(text, columns) + " ".repeat(Math.max(0, columns - width(text)));
}

function clipToWidth(text: string, columns: number): string {
	if (width(text) <= columns) return text;
	let taken = "";
	for (const character of text) {
		if (width(taken) + width(character) > columns - 1) break;
		taken += character;
	}
	return `${taken}…`;
}

function width(text: string): number {
	let columns = 0;
	for (const character of text) columns += wide.test(character) ? 2 : /\p{M}|\u200d/u.test(character) ? 0 : 1;
	return columns;
}
