/** Reads what a wrapper sends to the process that started it. The last line is its result. */
import type { Readable } from "node:stream";

/** A result is long only because of the text in it. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Keeps the stream flowing, so that its end is seen. The returned function gives the last line so far, if any. */
export function hearLastLine(stream: Readable): () => string | undefined {
	let output = "";
	stream.setEncoding("utf8").on("data", (text: string) => {
		if (output.length < MAX_CHARACTERS) output += text;
	});
	return () => output.trimEnd().split("\n").at(-1) || undefined;
}
