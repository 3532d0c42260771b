/** A pi process that leads a group of its own: its input, its output in lines, and its end with all that it started. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { createLineSplitter } from "@pi-subagents/progress";
import type { Clock } from "../../clock.ts";
import type { PiLaunch } from "../layout.ts";
import { endStrays, isGroupAlive, signalGroup } from "./group.ts";

export interface PiOptions {
	launch: PiLaunch;
	cwd: string;
	/** Of the run's files. What carries it in its environment was started by this pi. */
	runDir: string;
	clock: Pick<Clock, "after">;
	onLine: (line: string) => void;
	/** A line was too long to be read. */
	onSkipped: (bytes: number) => void;
	onStderr: (bytes: Uint8Array) => void;
}

/** How pi ended. `error`: it could not be started at all. */
export interface PiExit {
	code?: number;
	signal?: string;
	error?: string;
}

/** How long pi may take to end when its input is closed, and then after being asked to. */
const CLOSING_MS = 500;
const TERM_MS = 1_000;
/** Output is complete when nothing came for so long; who holds the pipe open need not be waited for. */
const QUIET_MS = 100;
const MAX_QUIET_LOOKS = 20;
const GROUP_LOOK_MS = 20;

export class PiProcess {
	/** Absent when it could not be started. */
	readonly pid: number | undefined;
	/** Resolves when pi and its group are gone and all it said was heard. Never rejects. */
	readonly ended: Promise<PiExit>;
	readonly #options: PiOptions;
	readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
	readonly #closed: Promise<unknown>;
	#bytesHeard = 0;
	#wasTold = false;
	#cancel = (): void => undefined;

	constructor(options: PiOptions) {
		this.#options = options;
		const { launch, cwd } = options;
		this.#child = spawn(launch.command, launch.args, {
			cwd,
			env: { ...process.env, ...launch.env },
			stdio: ["pipe", "pipe", "pipe"],
			detached: true,
		});
		this.pid = this.#child.pid;
		this.#closed = new Promise((resolve) => this.#child.once("close", resolve));
		this.#child.stdin.on("error", () => undefined); // pi is gone, which its exit tells
		this.ended = this.#untilEnded();
	}

	write(text: string): void {
		if (this.#child.stdin.writable) this.#child.stdin.write(text);
	}

	/** `gently` leaves pi the time to end by itself. Asked again it changes nothing. */
	end(how: "gently" | "now"): void {
		if (this.#wasTold) return;
		this.#wasTold = true;
		this.#child.stdin.end(); // without input pi ends
		const kill = () => this.#signal("SIGKILL");
		const terminate = () => {
			this.#signal("SIGTERM");
			this.#cancel = this.#options.clock.after(TERM_MS, kill);
		};
		if (how === "now") terminate();
		else this.#cancel = this.#options.clock.after(CLOSING_MS, terminate);
	}

	async #untilEnded(): Promise<PiExit> {
		const { onLine, onSkipped, onStderr, runDir } = this.#options;
		const splitter = createLineSplitter({ onLine, onSkipped });
		this.#child.stdout.on("data", (bytes: Buffer) => {
			this.#bytesHeard += bytes.length;
			splitter.push(bytes);
		});
		this.#child.stderr.on("data", (bytes: Buffer) => {
			this.#bytesHeard += bytes.length;
			onStderr(bytes);
		});
		const exit = await this.#exit();
		this.#cancel();
		await this.#endGroup();
		// One that was killed, or ended unasked, had no chance to end the commands it runs in groups of their own.
		if (exit.signal !== undefined || !this.#wasTold) await endStrays(runDir);
		await this.#untilQuiet();
		this.#child.stdout.destroy();
		this.#child.stderr.destroy();
		splitter.end();
		return exit;
	}

	#exit(): Promise<PiExit> {
		return new Promise((resolve) => {
			this.#child.once("exit", (code, signal) =>
				resolve({ ...(code === null ? {} : { code }), ...(signal === null ? {} : { signal }) }),
			);
			this.#child.once("error", (error) => {
				if (this.pid === undefined) resolve({ error: error.message });
			});
		});
	}

	/** What pi left in its group is asked to end, and then made to. */
	async #endGroup(): Promise<void> {
		if (this.pid === undefined || !isGroupAlive(this.pid)) return;
		this.#signal("SIGTERM");
		for (let waited = 0; waited < TERM_MS && isGroupAlive(this.pid); waited += GROUP_LOOK_MS) {
			await this.#sleep(GROUP_LOOK_MS);
		}
		if (isGroupAlive(this.pid)) this.#signal("SIGKILL");
	}

	async #untilQuiet(): Promise<void> {
		let isClosed = this.pid === undefined;
		void this.#closed.then(() => {
			isClosed = true;
		});
		for (let look = 0, heard = -1; !isClosed && look < MAX_QUIET_LOOKS && heard !== this.#bytesHeard; look++) {
			heard = this.#bytesHeard;
			await Promise.race([this.#closed, this.#sleep(QUIET_MS)]);
		}
	}

	#signal(signal: "SIGTERM" | "SIGKILL"): void {
		if (this.pid !== undefined) signalGroup(this.pid, signal);
	}

	#sleep(ms: number): Promise<void> {
		return new Promise((resolve) => void this.#options.clock.after(ms, resolve));
	}
}
