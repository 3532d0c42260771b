/**
 * What the user types between two dialogs of one menu. pi's editor is there for a moment and would take it, an Enter
 * included. Plain text is kept for the next dialog if that asks for text. Any other key is dropped, and so is what
 * follows it: it was meant for a dialog that the user has not seen, and must not confirm anything there.
 */
import { decodeKittyPrintable, isKeyRelease, parseKey } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";

export interface TypedAheadOptions {
	/** pi's raw input: the handler decides whether the editor gets it. Returns an unsubscribe function. */
	listen: (hear: (data: string) => { consume: true } | undefined) => () => void;
	/** Since when no dialog is open; undefined while one is. */
	closedAt: () => number | undefined;
	now: () => number;
}

/** More than a dialog needs to open. After that the keys are the editor's again: nothing may lock the keyboard. */
const MAX_GAP_MS = 5_000;
const MAX_CHARACTERS = 1_000;

export class TypedAhead {
	readonly #options: TypedAheadOptions;
	#depth = 0;
	#begunAt = 0;
	#text = "";
	/** A key was dropped, so what follows is, too. */
	#isOver = false;

	constructor(options: TypedAheadOptions) {
		this.#options = options;
	}

	/** Listens while `work` shows one dialog after the other. */
	async during<Result>(work: () => Promise<Result>): Promise<Result> {
		if (this.#depth === 0) this.#begunAt = this.#options.now();
		const stop = this.#depth++ === 0 ? this.#options.listen((data) => this.#hear(data)) : () => undefined;
		try {
			return await work();
		} finally {
			this.#depth--;
			stop();
		}
	}

	/** The text for the dialog that opens now, on one line. What it does not use is gone. */
	take(): string {
		const text = sanitize(this.#text);
		this.#text = "";
		this.#isOver = false;
		return text;
	}

	#hear(data: string): { consume: true } | undefined {
		const closedAt = this.#options.closedAt();
		if (closedAt === undefined) this.take(); // meant for the dialog before
		const isBetween = closedAt !== undefined && this.#options.now() - Math.max(closedAt, this.#begunAt) <= MAX_GAP_MS;
		return isBetween && this.#keeps(data) ? { consume: true } : undefined;
	}

	/** False for what is no key, such as an answer of the terminal, and for Ctrl+C, which always reaches pi. */
	#keeps(data: string): boolean {
		if (isKeyRelease(data)) return true;
		const text = textIn(data);
		const key = text === undefined ? parseKey(data) : undefined;
		if (text === undefined && (key === undefined || key === "ctrl+c")) return false;
		if (text === undefined) this.#isOver = true;
		else if (!this.#isOver) this.#text = (this.#text + text).slice(0, MAX_CHARACTERS);
		return true;
	}
}

/** A letter, or what was pasted. */
function textIn(data: string): string | undefined {
	const pasted = PASTED.exec(data)?.[1];
	return pasted ?? decodeKittyPrintable(data) ?? (PLAIN.test(data) ? data : undefined);
}

const PASTED = /^\u001b\[200~([\s\S]*)\u001b\[201~$/;
const PLAIN = /^[^\p{Cc}]+$/u;
