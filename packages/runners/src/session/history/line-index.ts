/**
 * Indexes the entries of a growing session file. Takes the bytes in pieces and keeps two numbers per entry; an
 * unfinished line is not an entry yet.
 */

export interface LineSpan {
	start: number;
	/** Without the line feed. */
	end: number;
}

export class LineIndex {
	readonly #starts: number[] = [];
	readonly #ends: number[] = [];
	/** The start of the unfinished line: enough to tell the type of the entry. */
	#head = "";
	#lineStart = 0;
	#scanned = 0;

	/** How many bytes were read. */
	get scanned(): number {
		return this.#scanned;
	}

	get length(): number {
		return this.#starts.length;
	}

	at(index: number): LineSpan | undefined {
		const start = this.#starts[index];
		const end = this.#ends[index];
		return start === undefined || end === undefined ? undefined : { start, end };
	}

	push(bytes: Buffer): void {
		let from = 0;
		for (let lf = bytes.indexOf(LF); lf >= 0; lf = bytes.indexOf(LF, from)) {
			this.#take(bytes, from, lf);
			if (isEntry(this.#head)) {
				this.#starts.push(this.#lineStart);
				this.#ends.push(this.#scanned + lf);
			}
			this.#head = "";
			this.#lineStart = this.#scanned + lf + 1;
			from = lf + 1;
		}
		this.#take(bytes, from, bytes.length);
		this.#scanned += bytes.length;
	}

	#take(bytes: Buffer, from: number, to: number): void {
		const missing = HEAD_BYTES - this.#head.length;
		if (missing > 0) this.#head += bytes.toString("latin1", from, Math.min(to, from + missing));
	}
}

const LF = 0x0a;

/** pi writes the type of an entry first. */
const HEAD_BYTES = 128;

/** The file also holds settings and bookkeeping, which are not messages. */
function isEntry(head: string): boolean {
	const type = /"type"\s*:\s*"([a-z_]+)"/.exec(head)?.[1];
	return type === "message" || type === "compaction" || type === "custom_message";
}
