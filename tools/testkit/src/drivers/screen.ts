/**
 * A headless terminal: takes the output of a program and shows what a person would see. Waits check it after each complete
 * frame, never in the middle of one. Knows nothing about processes.
 */
import xterm from "@xterm/headless";
import { Signal } from "../wait.ts";

export interface WaitForScreen {
	readonly timeoutMs?: number;
}

export class Screen {
	readonly #terminal: xterm.Terminal;
	readonly #signal = new Signal();
	readonly #timeoutMs: number | undefined;
	#raw = "";
	readonly #titles: string[] = [];

	constructor(size: { cols: number; rows: number }, options: { timeoutMs?: number | undefined } = {}) {
		this.#terminal = new xterm.Terminal({ ...size, scrollback: 10_000, allowProposedApi: true });
		this.#terminal.onTitleChange((title) => this.#titles.push(title));
		this.#timeoutMs = options.timeoutMs;
	}

	/** All output since the last `forget`. */
	get raw(): string {
		return this.#raw;
	}

	/** Drops the raw output. The screen stays. */
	forget(): void {
		this.#raw = "";
	}

	/** The titles that the program gave its window so far. */
	get titles(): readonly string[] {
		return this.#titles;
	}

	write(data: string): void {
		this.#raw += data;
		this.#terminal.write(data, () => {
			if (!this.#terminal.modes.synchronizedOutputMode) this.#signal.changed();
		});
	}

	/** What the terminal itself sends, when the program asks it what it is. */
	onReply(send: (data: string) => void): void {
		this.#terminal.onData(send);
	}

	/** The visible lines, without trailing blanks. */
	lines(): string[] {
		const { baseY } = this.#terminal.buffer.active;
		return this.#slice(baseY, baseY + this.#terminal.rows);
	}

	/** What has scrolled away and the visible lines. */
	scrollback(): string {
		return this.#slice(0, this.#terminal.buffer.active.length).join("\n").trimEnd();
	}

	/** Resolves with the lines for which the condition holds; `what` is for the error, which shows the screen. */
	waitFor(
		condition: (lines: string[]) => boolean,
		options: WaitForScreen = {},
		what = "What was waited for",
	): Promise<string[]> {
		const timeoutMs = options.timeoutMs ?? this.#timeoutMs;
		const look = () => {
			const lines = this.lines();
			return condition(lines) ? lines : undefined;
		};
		const describe = () => `${what} is not on the screen:\n${framed(this.lines())}`;
		return this.#signal.waitFor(look, { ...(timeoutMs === undefined ? {} : { timeoutMs }), describe });
	}

	waitForText(text: string | RegExp, options?: WaitForScreen): Promise<string[]> {
		const shows = (all: string) => (typeof text === "string" ? all.includes(text) : all.search(text) >= 0);
		return this.waitFor((lines) => shows(lines.join("\n")), options, String(text));
	}

	resize(cols: number, rows: number): void {
		this.#terminal.resize(cols, rows);
	}

	/** Nothing more will be written. Queued behind the writes, so that the last output is on the screen first. */
	end(reason: string): void {
		this.#terminal.write("", () => this.#signal.end(reason));
	}

	#slice(from: number, to: number): string[] {
		const line = (row: number) => this.#terminal.buffer.active.getLine(row)?.translateToString().trimEnd() ?? "";
		return Array.from({ length: to - from }, (_, index) => line(from + index));
	}
}

function framed(lines: readonly string[]): string {
	return ["┌──", ...lines.map((line) => `│${line}`), "└──"].join("\n");
}
