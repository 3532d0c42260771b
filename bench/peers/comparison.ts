/**
 * How several are compared: in every round each of them does the same work, in an order that changes, and what counts
 * are the ratios of the medians. Whoever cannot do it says why.
 */
import { messageOf } from "@pi-subagents/core/internal/base";
import { median, quantile } from "../measure.ts";

export const WHO = ["floor", "ours", "in-process rival", "process rival"] as const;
export type Who = (typeof WHO)[number];

/** A figure, or words where there is none. */
export type Cell = number | string;

/** One line of the table. */
interface Line {
	name: string;
	unit: string;
	/** What the floor is here. */
	floor: string;
	/** What ours over the floor, or ours alone, should not exceed. */
	target?: { ratio: number } | { value: number };
}

/** Lines that are measured by one piece of work. */
export interface Comparison {
	lines: readonly Line[];
	/** At most so many rounds, for what takes long or is always the same. */
	rounds?: number;
	/** Does the work once, with one cell for each line; or why it cannot. */
	work: Readonly<Record<Who, Work | string>>;
}

export type Work = () => Promise<readonly Cell[]>;

export interface Compared extends Line {
	cells: Readonly<Record<Who, { value: Cell; ratio?: Ratio }>>;
}

/** Ours over theirs; in single rounds, the middle half of them. */
interface Ratio {
	median: number;
	spread: readonly [number, number];
}

type Samples = readonly (readonly Cell[])[];

export async function compare({ lines, work, ...limits }: Comparison, rounds: number): Promise<Compared[]> {
	const samples: Record<Who, Cell[][]> = { floor: [], ours: [], "in-process rival": [], "process rival": [] };
	for (let round = 0; round < Math.min(rounds, limits.rounds ?? rounds); round++) {
		for (let turn = 0; turn < WHO.length; turn++) {
			const who = WHO[(round + turn) % WHO.length] as Who;
			samples[who].push(await once(work[who], lines.length));
		}
	}
	return lines.map((line, index) => ({ ...line, cells: cellsOf(samples, index) }));
}

/** One that fails does not keep the others from being measured. */
async function once(work: Work | string, lines: number): Promise<Cell[]> {
	const instead = (words: string) => Array.from({ length: lines }, () => words);
	if (typeof work === "string") return instead(work);
	try {
		return [...(await work())];
	} catch (error) {
		return instead(`failed: ${messageOf(error).split("\n")[0]?.slice(0, 120)}`);
	}
}

function cellsOf(samples: Readonly<Record<Who, Samples>>, line: number): Compared["cells"] {
	const of = (who: Who) => samples[who].map((cells) => cells[line] ?? "");
	const ours = of("ours");
	const cells = WHO.map((who) => {
		const ratio = who === "ours" ? undefined : ratioOf(ours, of(who));
		return [who, { value: middle(of(who)), ...(ratio && { ratio }) }] as const;
	});
	return Object.fromEntries(cells) as Compared["cells"];
}

/** Of words, the last: they say what happened. */
function middle(cells: readonly Cell[]): Cell {
	const figures = cells.filter((cell) => typeof cell === "number");
	return figures.length > 0 ? median(figures) : (cells.at(-1) ?? "");
}

function ratioOf(ours: readonly Cell[], theirs: readonly Cell[]): Ratio | undefined {
	const [mine, other] = [middle(ours), middle(theirs)];
	if (typeof mine !== "number" || typeof other !== "number" || other <= 0) return undefined;
	const ratios = ours.flatMap((cell, round) => {
		const their = theirs[round];
		return typeof cell === "number" && typeof their === "number" && their > 0 ? [cell / their] : [];
	});
	return { median: mine / other, spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)] };
}
