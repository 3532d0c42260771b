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
	/** How often it may say what it says once for each connection. */
	repeats: number;
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
	repeats: 10_000,
};

/** The agent's commits, as a bundle. */
export const MAX_WORK_BYTES = KILOBYTE * MEGABYTE;

/** What even an empty piece counts as: it takes time, too. */
const LEAST_BYTES = 64;

/** Without these a run is not understood. Of the others, only what is too much is left out. */
const NEEDED: ReadonlySet<GrowingName> = new Set(["events", "session"]);

/** `skip`: it is left out. `why`: nothing more is taken from there. */
export type Intaken = { do: "keep" } | { do: "skip"; isNews: boolean } | { do: "end"; why: string };

export class Intake {
	readonly #limits: IntakeLimits;
	readonly #skipped = new Set<GrowingName>();
	readonly #counts = new Map<Piece["type"], number>();
	#total = 0;

	constructor(limits: IntakeLimits = INTAKE_LIMITS) {
		this.#limits = limits;
	}

	take(piece: Piece): Intaken {
		this.#total += Math.max(sizeOf(piece), LEAST_BYTES);
		const { files, total, wrapper, result, repeats } = this.#limits;
		if (this.#total > total) return { do: "end", why: `it sent more than ${inWords(total)} about one agent` };
		if (piece.type !== "bytes" && this.#count(piece) > repeats)
			return { do: "end", why: `it said more than ${repeats} times ${REPEATED[piece.type]}` };
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

	#count({ type }: Piece): number {
		const count = (this.#counts.get(type) ?? 0) + 1;
		this.#counts.set(type, count);
		return count;
	}
}

const REPEATED: Record<Exclude<Piece["type"], "bytes">, string> = {
	wrapper: "which process the agent has",
	control: "how much it knows of what the agent was told",
	result: "how the agent ended",
	gone: "that the agent is gone",
};

function sizeOf(piece: Piece): number {
	if (piece.type === "bytes") return Math.floor((piece.data.length * 3) / 4);
	return "text" in piece ? piece.text.length : 0;
}

function inWords(bytes: number): string {
	return bytes >= MEGABYTE ? `${Math.round(bytes / MEGABYTE)} MB` : `${Math.round(bytes / KILOBYTE)} KB`;
}
