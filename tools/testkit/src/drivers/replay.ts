/** Replays a terminal recording: what the screen showed after each complete frame. */
import xterm from "@xterm/headless";

export interface Frame {
	/** The output of this frame, including output before it that is outside any frame. */
	readonly output: string;
	/** The visible lines, without trailing blanks. */
	readonly screen: readonly string[];
	/** What has scrolled away, and the visible lines. */
	readonly all: readonly string[];
}

/** Programs mark the end of a frame so that terminals do not show incomplete ones. */
const END_OF_FRAME = "\x1b[?2026l";

/** All frames in order. The terminal must not have been resized. */
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
