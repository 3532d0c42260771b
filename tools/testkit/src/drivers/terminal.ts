/** Any program in a real pseudo terminal, shown on a `Screen`. */
import { type IPty, spawn } from "@lydell/node-pty";
import { graceMs } from "../wait.ts";
import { bytesOf, type Key } from "./keys.ts";
import { Screen, type WaitForScreen } from "./screen.ts";

export interface TerminalOptions {
	/** Default 100. */
	readonly cols?: number;
	/** Default 30. */
	readonly rows?: number;
	readonly cwd?: string;
	/** Default: those of this process. */
	readonly variables?: Readonly<Record<string, string | undefined>>;
	/** For each wait. Default: as patient as the machine is busy. */
	readonly timeoutMs?: number | undefined;
}

export interface Terminal extends AsyncDisposable {
	/** Of the program's process. */
	readonly pid: number;
	/** The visible lines, without trailing blanks. */
	screen(): string[];
	/** Everything: what has scrolled away and the screen. */
	scrollback(): string;
	/** The complete output of the program, with escape sequences. */
	readonly raw: string;
	/** Drops `raw`: the output of an hour would not fit into a string. */
	forget(): void;
	/** The titles it has given the terminal so far. */
	readonly titles: readonly string[];
	/** Resolves with the lines of the screen that shows it. */
	waitForText(text: string | RegExp, options?: WaitForScreen): Promise<string[]>;
	waitFor(condition: (screen: string[]) => boolean, options?: WaitForScreen, what?: string): Promise<string[]>;
	type(text: string): void;
	/** Types the text, then Enter. */
	submit(text: string): void;
	press(...keys: readonly Key[]): void;
	resize(cols: number, rows: number): void;
	readonly exit: Promise<TerminalExit>;
	/** Ends the program: SIGTERM, then SIGKILL. */
	close(): Promise<void>;
}

export interface TerminalExit {
	readonly exitCode: number;
	readonly signal?: number;
}

export function startTerminal(command: readonly [string, ...string[]], options: TerminalOptions = {}): Terminal {
	const [program, ...args] = command;
	const size = { cols: options.cols ?? 100, rows: options.rows ?? 30 };
	const env = { ...(options.variables ?? process.env), TERM: "xterm-256color", COLORTERM: "truecolor" };
	const pty = spawn(program, args, { ...size, name: env.TERM, cwd: options.cwd ?? process.cwd(), env });
	const screen = new Screen(size, { timeoutMs: options.timeoutMs });
	pty.onData((data) => screen.write(data));
	screen.onReply((data) => pty.write(data));
	const exit = new Promise<TerminalExit>((resolve) => pty.onExit(resolve));
	void exit.then(({ exitCode }) => screen.end(`It has exited with ${exitCode}`));
	const close = closing(pty, exit);
	return {
		pid: pty.pid,
		screen: () => screen.lines(),
		scrollback: () => screen.scrollback(),
		get raw() {
			return screen.raw;
		},
		forget: () => screen.forget(),
		get titles() {
			return screen.titles;
		},
		waitForText: (text, waiting) => screen.waitForText(text, waiting),
		waitFor: (condition, waiting, what) => screen.waitFor(condition, waiting, what),
		type: (text) => pty.write(text),
		submit: (text) => {
			pty.write(text);
			pty.write(bytesOf("enter"));
		},
		press: (...keys) => {
			for (const key of keys) pty.write(bytesOf(key));
		},
		resize: (cols, rows) => {
			screen.resize(cols, rows);
			pty.resize(cols, rows);
		},
		exit,
		close,
		[Symbol.asyncDispose]: close,
	};
}

function closing(pty: IPty, exit: Promise<TerminalExit>): () => Promise<void> {
	let running = true;
	void exit.then(() => {
		running = false;
	});
	return async () => {
		if (!running) return;
		pty.kill("SIGTERM");
		const timer = setTimeout(() => pty.kill("SIGKILL"), graceMs());
		await exit;
		clearTimeout(timer);
	};
}
