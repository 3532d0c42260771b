/** A recording of a terminal, looked at again: what a person saw after each complete frame. */
import xterm from "@xterm/headless";

export interface Frame {
	/** What the program wrote for it, with whatever it wrote before it outside of a frame. */
	readonly output: string;
	/** The visible lines, without trailing blanks. */
	readonly screen: readonly string[];
	/** What has scrolled away, and the visible lines. */
	readonly all: readonly string[];
}

/** Programs mark the ends of their frames so that terminals show no half of one. */
const END_OF_FRAME = "\x1b[?2026l";

/** One after the other, in the order in which they were drawn. The terminal must have kept its size. */
export async function* replay(
	raw: string,
	size: { readonly cols: number; readonly rows: number },
): AsyncGenerator<Frame, void, void> {
	const terminal = new xterm.Terminal({ ...size, scrollback: 10_000, allowProposedApi: true });
	const line = (row: number) => terminal.buffer.active.getLine(row)?.translateToString().trimEnd() ?? "";
	try {
		for (let from = 0; from < raw.length; ) {
			const end = raw.indexOf(END_OF_FRAME, from);
			const output = raw.slice(from, end < 0 ? raw.length : end + END_OF_FRAME.length);
			await new Promise<void>((resolve) => terminal.write(output, resolve));
			const all = Array.from({ length: terminal.buffer.active.length }, (_, row) => line(row));
			yield { output, all, screen: all.slice(-size.rows) };
			from += output.length;
		}
	} finally {
		terminal.dispose();
	}
}
