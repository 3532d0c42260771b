/** What a watcher sends to the wrapper of a run: lines in a file, in order. */
import { appendPlain, appendPlainSync, readPlain } from "../../files/plain-file.ts";
import type { Limits } from "../../model/schema/spec.ts";
import type { ControlLine } from "../../runs/format/lines.ts";
import { parseControl } from "../../runs/read.ts";

/** More than any run receives. */
const MAX_CONTROL_BYTES = 64 * 1024 * 1024;

export class Control {
	readonly #path: Promise<string>;
	/** The path, once its directory exists. */
	#known: string | undefined;
	#last: Promise<void>;
	/** Whether the last line may be incomplete: it must not corrupt the next. */
	#isBroken: boolean;

	/** Lines wait until there can be a file. If that is never, they are lost. */
	constructor(path: Promise<string>, { isContinued }: { isContinued: boolean }) {
		this.#isBroken = isContinued;
		this.#path = path.then((known) => {
			this.#known = known;
			return known;
		});
		this.#last = this.#path.then(ignore, ignore);
	}

	/** Resolves when the wrapper can read the line; rejects when it never will. */
	send(line: ControlLine): Promise<void> {
		const sent = this.#last.then(() => this.#append(line));
		this.#last = sent.catch(ignore);
		return sent;
	}

	/**
	 * Sends a line before this returns, and before lines that still wait: what follows from it may be recorded next, and
	 * this process killed. If there is no directory yet, no wrapper has started that would have to hear it.
	 */
	sendNow(line: ControlLine): Promise<void> {
		if (this.#known === undefined) return this.send(line);
		try {
			appendPlainSync(this.#known, `\n${JSON.stringify(line)}\n`); // another line may be half written
			return Promise.resolve();
		} catch (error) {
			return Promise.reject(error);
		}
	}

	async #append(line: ControlLine): Promise<void> {
		const text = `${this.#isBroken ? "\n" : ""}${JSON.stringify(line)}\n`;
		this.#isBroken = true;
		await appendPlain(await this.#path, text);
		this.#isBroken = false;
	}
}

/** What earlier watchers said. */
export interface Said {
	/** The ids that they replied to. */
	replied: ReadonlySet<string>;
	/** What the user granted beyond the spec's limits. */
	granted?: Limits;
}

export async function readSaid(path: string): Promise<Said> {
	const said = await readPlain(path, MAX_CONTROL_BYTES);
	const lines = (said?.toString("utf8") ?? "").split("\n").map(parseControl);
	const replied = new Set(lines.flatMap((line) => (line && "id" in line && line.type !== "watch" ? line.id : [])));
	const granted = lines.findLast((line) => line?.type === "pass" && line.limits !== undefined);
	return { replied, ...(granted?.type === "pass" && granted.limits ? { granted: granted.limits } : {}) };
}

const ignore = (): void => undefined;
