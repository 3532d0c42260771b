/**
 * Splits a byte stream into lines at LF only, as JSON lines require: U+2028 and U+2029 are ordinary text.
 * Bounded: it buffers at most one line; a line over the limit is dropped as it arrives and reported.
 */

/** Callbacks and limits of a {@link LineSplitter}. */
export interface LineSplitterOptions {
	/** The longest line, in bytes without its line end. Default: 8 MB. */
	maxBytes?: number;
	/** Called with a line without its LF or CR LF. Invalid UTF-8 becomes U+FFFD. */
	onLine(text: string): void;
	/** Called after a line over the limit; `bytes` is its length without LF. */
	onSkipped?(bytes: number): void;
}

/** Accepts bytes in chunks of any size, also split inside a character. */
export interface LineSplitter {
	/** Reports every complete line. The buffer may be reused afterwards. */
	push(bytes: Uint8Array): void;
	/** Ends the stream: reports the last line if it has no line end. */
	end(): void;
}

/** The default length limit of a line: 8 MB. */
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
	let held = new Uint8Array(SMALL); // the start of an incomplete line; grows by doubling
	let length = 0; // of that line so far, even if it is too long to be buffered

	const deliver = (line: Uint8Array, { hasLf }: { hasLf: boolean }) => {
		const text = hasLf && line.at(-1) === CR ? line.subarray(0, -1) : line;
		if (text.length > maxBytes) onSkipped?.(line.length);
		else onLine(decoder.decode(text));
	};
	const hold = (bytes: Uint8Array) => {
		const total = length + bytes.length;
		// One byte more than the limit, because the last may be the CR of a line end.
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
		// Release the memory of a rare long line.
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
					deliver(piece, { hasLf: true }); // the line is complete, so nothing is copied
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
