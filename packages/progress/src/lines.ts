/**
 * Splits a stream of bytes into lines on LF alone, as JSON lines need: U+2028 and U+2029 are ordinary text.
 * Bounded: it never holds more than one line, and a line over the limit is dropped as it arrives and reported.
 */

/** Where lines go, and how long they may be. */
export interface LineSplitterOptions {
	/** Bytes of the longest line that is kept, without its line end. Default 8 MB. */
	maxBytes?: number;
	/** A line without its LF, or CR LF. Broken UTF-8 in it reads as U+FFFD. */
	onLine(text: string): void;
	/** A line over the limit ended; `bytes` is how long it was, without its LF. */
	onSkipped?(bytes: number): void;
}

/** Takes bytes in pieces of any size, cut anywhere, also inside a character. */
export interface LineSplitter {
	/** Reports every line that is complete now. The bytes may be reused afterwards. */
	push(bytes: Uint8Array): void;
	/** The stream is over: reports the last line if it had no line end. */
	end(): void;
}

/** 8 MB, the longest line that is read unless told otherwise. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Creates a {@link LineSplitter}.
 *
 * @example
 * ```ts
 * const splitter = createLineSplitter({ onLine: (text) => console.log(text) });
 * for await (const bytes of process.stdin) splitter.push(bytes);
 * splitter.end();
 * ```
 */
export function createLineSplitter({
	maxBytes = MAX_LINE_BYTES,
	onLine,
	onSkipped,
}: LineSplitterOptions): LineSplitter {
	const decoder = new TextDecoder();
	let held = new Uint8Array(SMALL); // the start of a line whose end has not come; grows by doubling
	let length = 0; // of that line so far, also when it is too long to be held

	const deliver = (line: Uint8Array, { hasLf }: { hasLf: boolean }) => {
		const text = hasLf && line.at(-1) === CR ? line.subarray(0, -1) : line;
		if (text.length > maxBytes) onSkipped?.(line.length);
		else onLine(decoder.decode(text));
	};
	const hold = (bytes: Uint8Array) => {
		const total = length + bytes.length;
		// One byte more than allowed, because the last may be the CR of a line end.
		if (total > maxBytes + 1) {
			if (held.length > SMALL) held = new Uint8Array(SMALL);
		} else {
			if (total > held.length) held = grown(held, length, Math.min(Math.max(total, held.length * 2), maxBytes + 1));
			held.set(bytes, length);
		}
		length = total;
	};
	const finish = (ending: { hasLf: boolean }) => {
		const lineLength = length;
		length = 0;
		if (lineLength > maxBytes + 1) return onSkipped?.(lineLength);
		const line = held.subarray(0, lineLength);
		// A rare long line must not keep its memory.
		if (held.length > LARGE) held = new Uint8Array(SMALL);
		deliver(line, ending);
	};

	return {
		push(bytes) {
			let start = 0;
			for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
				const piece = bytes.subarray(start, end);
				start = end + 1;
				if (length === 0) {
					deliver(piece, { hasLf: true }); // the whole line is here: nothing is copied
				} else {
					hold(piece);
					finish({ hasLf: true });
				}
			}
			if (start < bytes.length) hold(bytes.subarray(start));
		},
		end() {
			if (length > 0) finish({ hasLf: false });
		},
	};
}

const LF = 0x0a;
const CR = 0x0d;
const SMALL = 4 * 1024;
const LARGE = 1024 * 1024;

function grown(bytes: Uint8Array, used: number, capacity: number): Uint8Array<ArrayBuffer> {
	const larger = new Uint8Array(capacity);
	larger.set(bytes.subarray(0, used));
	return larger;
}
