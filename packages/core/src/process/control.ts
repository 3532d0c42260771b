/** What a watcher says to the wrapper of a run: lines in a file, in the order in which they were said. */
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "./code-of.ts";
import { type ControlLine, RUN_FILES } from "./layout.ts";
import { parseControl } from "./wrapper/control.ts";

export class Control {
	readonly #path: Promise<string>;
	#last: Promise<void>;
	/** Whether the last line may have been written only in part: it must not spoil the next. */
	#isBroken: boolean;

	/** Lines that come before there is a directory wait for it. If there never is one, they are lost. */
	constructor(dir: Promise<string>, { isContinued }: { isContinued: boolean }) {
		this.#isBroken = isContinued;
		this.#path = dir.then((path) => join(path, RUN_FILES.control));
		this.#last = this.#path.then(ignore, ignore);
	}

	/** Resolves when the wrapper can read the line; rejects when it never will. */
	send(line: ControlLine): Promise<void> {
		const sent = this.#last.then(() => this.#append(line));
		this.#last = sent.catch(ignore);
		return sent;
	}

	async #append(line: ControlLine): Promise<void> {
		const text = `${this.#isBroken ? "\n" : ""}${JSON.stringify(line)}\n`;
		this.#isBroken = true;
		await appendFile(await this.#path, text, { mode: 0o600 });
		this.#isBroken = false;
	}
}

/** The ids of what has been replied to before. */
export async function readReplies(dir: string): Promise<ReadonlySet<string>> {
	try {
		const lines = (await readFile(join(dir, RUN_FILES.control), "utf8")).split("\n").map(parseControl);
		return new Set(lines.flatMap((line) => (line?.type === "answer" || line?.type === "pass" ? line.id : [])));
	} catch (error) {
		if (codeOf(error) === "ENOENT") return new Set();
		throw error;
	}
}

const ignore = (): void => undefined;
