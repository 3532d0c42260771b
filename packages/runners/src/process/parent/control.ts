/** What a watcher sends to the wrapper of a run: lines in a file, in order. */

import type { Limits } from "@pi-subagents/core";
import { appendLines, appendLinesSync, readPlain } from "@pi-subagents/core/internal/files";
import type { ControlLine } from "@pi-subagents/runs/internal";
import { parseControl } from "@pi-subagents/runs/internal";

/** More than any run receives. */
const MAX_CONTROL_BYTES = 64 * 1024 * 1024;

export class Control {
	readonly #path: Promise<string>;
	/** The path, once its directory exists. */
	#known: string | undefined;
	#last: Promise<void>;

	/** Lines wait until there can be a file. If that is never, they are lost. */
	constructor(path: Promise<string>) {
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
			appendLinesSync(this.#known, textOf(line), HOW);
			return Promise.resolve();
		} catch (error) {
			return Promise.reject(error);
		}
	}

	async #append(line: ControlLine): Promise<void> {
		await appendLines(await this.#path, textOf(line), HOW);
	}
}

/** What earlier watchers said. */
export interface Said {
	/** The ids that they replied to. */
	replied: ReadonlySet<string>;
	/** What the user granted beyond the spec's limits. */
	granted?: Limits;
	/** What it may use without a watcher. */
	alone?: Limits;
}

export async function readSaid(path: string): Promise<Said> {
	const said = await readPlain(path, MAX_CONTROL_BYTES);
	const lines = (said?.toString("utf8") ?? "").split("\n").map(parseControl);
	const replied = new Set(lines.flatMap((line) => (line && "id" in line && line.type !== "watch" ? line.id : [])));
	const granted = lines.findLast((line) => line?.type === "pass" && line.limits !== undefined);
	const alone = lines.findLast((line) => line?.type === "alone");
	return {
		replied,
		...(granted?.type === "pass" && granted.limits ? { granted: granted.limits } : {}),
		...(alone?.type === "alone" ? { alone: alone.limits } : {}),
	};
}

/** Earlier watchers and the command line write there, too. After a power failure there is no wrapper to obey. */
const HOW = { durable: false, isShared: true } as const;

function textOf(line: ControlLine): string {
	return `${JSON.stringify(line)}\n`;
}

const ignore = (): void => undefined;
