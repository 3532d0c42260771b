/** The same screen at each size of a terminal: what must be on it, whole, lined up and readable. */
import { faintTexts, isFullRun, type Terminal } from "@pi-subagents-dev/testkit";
import { expect } from "vitest";

const SIZES = isFullRun ? [120, 80, 50] : [50];
/** The narrowest comes last, so that the next step is typed there. */
export const START = { cols: 80, rows: 32 };

/** What the terminals of people who use pi's themes look like. */
const TERMINALS = {
	light: { background: "#ffffff", foreground: "#1f2328" },
	dark: { background: "#18181e", foreground: "#d4d4d4" },
};

export type Theme = keyof typeof TERMINALS;
export const THEMES: readonly Theme[] = isFullRun ? ["light", "dark"] : ["light"];

/** Looks at the screen of one terminal at each size, and returns the narrowest. */
export function looker(tui: Terminal, theme: Theme) {
	let width = START.cols;
	const redrawn = async (cols: number, shows: readonly (string | RegExp)[]) => {
		tui.forget();
		tui.resize(cols, START.rows);
		width = cols;
		return tui.waitFor(
			(screen) => REDRAWN.test(tui.raw) && shows.every((text) => isShown(text, screen)),
			{},
			`At ${cols} columns: ${shows.join(" and ")}`,
		);
	};
	return async (...shows: readonly (string | RegExp)[]): Promise<string[]> => {
		let lines: string[] = [];
		for (const cols of SIZES) {
			if (width === cols) await redrawn(cols + 1, []);
			lines = await redrawn(cols, shows);
			const isBox = lines[0]?.startsWith("╭") === true;
			const ragged = isBox ? lines.filter((line) => line.length !== cols) : [];
			const all = await faintTexts(tui.raw, { ...TERMINALS[theme], cols, rows: START.rows });
			const faint = all.filter((text) => !PIS_OWN.test(text));
			expect({ ragged, faint }, `at ${cols} columns:\n${lines.join("\n")}`).toEqual({ ragged: [], faint: [] });
		}
		return lines;
	};
}

/** pi's border while a turn runs, and the way it shows keys. */
const PIS_OWN = /Working|^ctrl\+o: /;
/** pi draws everything again when the width has changed. */
const REDRAWN = /\x1b\[2J[\s\S]*\x1b\[\?2026l/;

/** Where lines break and what borders them does not matter. */
function isShown(text: string | RegExp, screen: readonly string[]): boolean {
	const all = screen
		.map((line) => line.replace(/^│ |│$/g, "").trim())
		.join(" ")
		.replace(/ +/g, " ");
	return typeof text === "string" ? all.includes(text) : text.test(all);
}
