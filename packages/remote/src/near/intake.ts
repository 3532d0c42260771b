/**
 * How much this machine takes from another one about a run. The other machine may be broken or lie, and what it sends
 * lands on this disk. Honest workers stay far below: pi's output is cut there at 64 MB, and the rest is text that a model
 * wrote. Pure.
 */
import type { GrowingName, Piece } from "../link/link.ts";

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;

export interface IntakeLimits {
	/** The size of each file here. */
	files: Readonly<Record<GrowingName, number>>;
	/** Everything that arrives, also what replaces something. */
	total: number;
	/** What the wrapper says of itself, and the result. */
	wrapper: number;
	result: number;
}

export const INTAKE_LIMITS: IntakeLimits = {
	files: {
		events: 256 * MEGABYTE,
		transcript: 256 * MEGABYTE,
		session: 512 * MEGABYTE,
		stdout: 65 * MEGABYTE,
		stderr: 65 * MEGABYTE,
		live: MEGABYTE,
	},
	total: 2 * KILOBYTE * MEGABYTE,
	wrapper: 64 * KILOBYTE,
	result: 16 * MEGABYTE,
};

/** The agent's commits, as a bundle. */
export const MAX_WORK_BYTES = KILOBYTE * MEGABYTE;

/** Without these a run is not understood. Of the others, only what is too much is left out. */
const NEEDED: ReadonlySet<GrowingName> = new Set(["events", "session"]);

/** `skip`: it is left out. `why`: nothing more is taken from there. */
export type Intaken = { do: "keep" } | { do: "skip"; isNews: boolean } | { do: "end"; why: string };

export class Intake {
	readonly #limits: IntakeLimits;
	readonly #skipped = new Set<GrowingName>();
	#total = 0;

	constructor(limits: IntakeLimits = INTAKE_LIMITS) {
		this.#limits = limits;
	}

	take(piece: Piece): Intaken {
		this.#total += sizeOf(piece);
		const { files, total, wrapper, result } = this.#limits;
		if (this.#total > total) return { do: "end", why: `it sent more than ${inWords(total)} about one agent` };
		if (piece.type === "wrapper" && piece.text.length > wrapper)
			return { do: "end", why: `its record of the agent's process is larger than ${inWords(wrapper)}` };
		if (piece.type === "result" && piece.text.length > result)
			return { do: "end", why: `its result is larger than ${inWords(result)}` };
		if (piece.type !== "bytes" || piece.at + sizeOf(piece) <= files[piece.file]) return { do: "keep" };
		if (NEEDED.has(piece.file))
			return { do: "end", why: `its ${piece.file} of the agent are larger than ${inWords(files[piece.file])}` };
		const isNews = !this.#skipped.has(piece.file) && piece.file !== "live";
		this.#skipped.add(piece.file);
		return { do: "skip", isNews };
	}
}

function sizeOf(piece: Piece): number {
	if (piece.type === "bytes") return Math.floor((piece.data.length * 3) / 4);
	return "text" in piece ? piece.text.length : 0;
}

function inWords(bytes: number): string {
	return bytes >= MEGABYTE ? `${Math.round(bytes / MEGABYTE)} MB` : `${Math.round(bytes / KILOBYTE)} KB`;
}
