/**
 * The port between this machine and one that runs agents. The far side runs the usual wrapper in the usual directory;
 * the near side keeps a copy of that directory. Mirrors, orders and git bundles know only this port, so a new way to
 * reach a machine is a new implementation of it.
 */
import type { Order } from "./order.ts";

export interface Link {
	/** Resolves when a worker has the order. Sending it again changes nothing. Rejects if it is refused, with the reason. */
	submit(order: Order, signal: AbortSignal): Promise<void>;
	/**
	 * Calls `hear` with all that the run's files hold beyond the marks, then with what they gain, until the returned
	 * function is called. After an outage it continues from the marks of that moment. Reads no faster than pieces are taken.
	 */
	follow(key: string, marks: () => Promise<Marks>, hear: Hear): () => void;
	/** Rejects while the machine cannot be reached. */
	control(key: string, message: ControlMessage): Promise<void>;
	/** Content that is too large for an order, both ways. */
	readonly blobs: Blobs;
	/** Calls the listener with whether the worker answers: now, and whenever that changes. */
	onBeat(listener: (isUp: boolean) => void): () => void;
}

export interface Blobs {
	/** Offers content to the far side, which fetches it if it lacks it. `make` returns the path of a file. */
	offer(id: string, make: () => Promise<string>): () => void;
	/**
	 * Copies content of the far side into a new file, and stops reading when the signal fires. Rejects with `Disconnected` if
	 * the connection ends meanwhile, and with `Refused` if it is larger.
	 */
	fetch(key: string, id: string, path: string, limits: FetchLimits): Promise<void>;
}

export interface FetchLimits {
	maxBytes: number;
	signal: AbortSignal;
}

/** A promise says when the piece was taken; until then, few more are read. */
export type Hear = (piece: Piece) => void | Promise<void>;

/** The files that are copied while they grow, and how many bytes of each the near side has. */
export type Marks = Readonly<Partial<Record<GrowingName, number>>>;

export const GROWING = ["events", "transcript", "session", "stderr", "stdout", "live"] as const;
export type GrowingName = (typeof GROWING)[number];

export type Piece =
	/** Bytes of a growing file, in base64. `at: 0` in a file that has some means that it starts over. */
	| { type: "bytes"; file: GrowingName; at: number; data: string }
	/** The wrapper announced itself: the text of its file. */
	| { type: "wrapper"; text: string }
	/** How much of `control.jsonl` the far side has: the near side sends the rest. */
	| { type: "control"; size: number }
	/** The result, after all other pieces. `work`: the commits that the agent made. */
	| { type: "result"; text: string; session?: string; work?: Work }
	/**
	 * There is no result and there will be none. `isOver`: nothing of the run is alive, or nothing that it still does can
	 * count, so it may be run again.
	 */
	| { type: "gone"; why: string; isOver?: boolean };

/** What an agent did to the repository: a branch, and the blob with a bundle of its commits. */
export interface Work {
	blob: string;
	tip: string;
	/** A directory on the far side that holds more than the commits do. */
	left?: string;
}

export type ControlMessage =
	/** Lines of `control.jsonl`, and where they begin. Ignored if the file ends before. */
	| { type: "lines"; at: number; text: string }
	/** Ends the wrapper's process. */
	| { type: "kill" }
	/** The near side has everything: the far side may delete the run. */
	| { type: "done" };

/** The connection ended before the answer: once it is back, trying again may help. */
export class Disconnected extends Error {
	override readonly name = "Disconnected";
}

/** The far side refused, or cannot do it: trying again would not help. */
export class Refused extends Error {
	override readonly name = "Refused";
	/** What the far side said, if it was the one who refused. The message quotes it. */
	readonly words: string | undefined;

	constructor(message: string, words?: string) {
		super(message);
		this.words = words;
	}
}
