/** A pi process that leads its own group: its input, its output by line, and its end with everything it started. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Clock } from "@pi-subagents/core";
import { sleep, untilSpawned, whyNotStarted } from "@pi-subagents/core/internal/base";
import { type EndSignal, isGroupLeft, killMarked, signalChildGroup } from "@pi-subagents/core/internal/signals";
import { createLineSplitter } from "@pi-subagents/progress";
import type { PiLaunch } from "@pi-subagents/runs/internal";

export interface PiOptions {
	launch: PiLaunch;
	cwd: string;
	/** The run's directory, which is in the environment of everything that this pi starts. */
	runDir: string;
	clock: Pick<Clock, "after">;
	onLine: (line: string) => void;
	/** A line was too long to be read. */
	onSkipped: (bytes: number) => void;
	onStderr: (bytes: Uint8Array) => void;
}

/** How pi ended. `error`: it could not be started. */
export interface PiExit {
	code?: number;
	signal?: string;
	error?: string;
}

/** How long pi may take to end after its input closed, and after SIGTERM. */
const CLOSING_MS = 500;
const TERM_MS = 1_000;
/** Output is complete after this long without any; a process that holds the pipe open is not waited for. */
const QUIET_MS = 100;
const MAX_QUIET_LOOKS = 20;
const GROUP_LOOK_MS = 20;

export class PiProcess {
	/** Absent when it could not be started. */
	readonly pid: number | undefined;
	/** Resolves when pi and its group are gone and all output was read. Never rejects. */
	readonly ended: Promise<PiExit>;
	readonly #options: PiOptions;
	/** Without pipes if it could not be started. */
	readonly #child: ChildProcess;
	readonly #spawned: Promise<void>;
	readonly #closed: Promise<unknown>;
	#bytesHeard = 0;
	#wasTold = false;
	#cancel = (): void => undefined;

	constructor(options: PiOptions) {
		this.#options = options;
		const { launch, cwd } = options;
		const [program = launch.command, ...words] = [...(launch.around ?? []), launch.command, ...launch.args];
		this.#child = spawn(program, words, {
			cwd,
			env: { ...process.env, ...launch.env },
			stdio: ["pipe", "pipe", "pipe"],
			detached: true,
			windowsHide: true, // else each child would open a console there
		});
		this.#spawned = untilSpawned(this.#child);
		this.pid = this.#child.pid;
		this.#closed = new Promise((resolve) => this.#child.once("close", resolve));
		this.#child.stdin?.on("error", () => undefined); // pi is gone, which its exit reports
		this.ended = this.#untilEnded();
	}

	write(text: string): void {
		if (this.#child.stdin?.writable) this.#child.stdin.write(text);
	}

	/** `gently` gives pi time to end by itself. Repeated calls do nothing. */
	end(how: "gently" | "now"): void {
		if (this.#wasTold) return;
		this.#wasTold = true;
		this.#child.stdin?.end(); // without input pi ends
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
		this.#child.stdout?.on("data", (bytes: Buffer) => {
			this.#bytesHeard += bytes.length;
			splitter.push(bytes);
		});
		this.#child.stderr?.on("data", (bytes: Buffer) => {
			this.#bytesHeard += bytes.length;
			onStderr(bytes);
		});
		const exit = await this.#exit();
		this.#cancel();
		await this.#endGroup();
		// A pi that was killed or ended unasked could not end its commands, which have their own groups.
		if (exit.signal !== undefined || !this.#wasTold) await killMarked(runDir);
		await this.#untilQuiet();
		this.#child.stdout?.destroy();
		this.#child.stderr?.destroy();
		splitter.end();
		return exit;
	}

	#exit(): Promise<PiExit> {
		return new Promise((resolve) => {
			this.#child.once("exit", (code, signal) =>
				resolve({ ...(code === null ? {} : { code }), ...(signal === null ? {} : { signal }) }),
			);
			this.#spawned.catch((error) => resolve({ error: whyNotStarted(error) }));
		});
	}

	/** Ends what pi left in its group. */
	async #endGroup(): Promise<void> {
		if (!isGroupLeft(this.#child)) return;
		this.#signal("SIGTERM");
		for (let waited = 0; waited < TERM_MS && isGroupLeft(this.#child); waited += GROUP_LOOK_MS) {
			await sleep(GROUP_LOOK_MS, this.#options.clock);
		}
		if (isGroupLeft(this.#child)) this.#signal("SIGKILL");
	}

	async #untilQuiet(): Promise<void> {
		let isClosed = this.pid === undefined;
		void this.#closed.then(() => {
			isClosed = true;
		});
		for (let look = 0, heard = -1; !isClosed && look < MAX_QUIET_LOOKS && heard !== this.#bytesHeard; look++) {
			heard = this.#bytesHeard;
			await Promise.race([this.#closed, sleep(QUIET_MS, this.#options.clock)]);
		}
	}

	#signal(signal: EndSignal): void {
		signalChildGroup(this.#child, signal);
	}
}
