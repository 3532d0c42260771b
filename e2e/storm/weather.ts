/** The disk and the clock of a storm's processes, as `preload.cjs` makes them out of a file. */
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PiEnv } from "@pi-subagents-dev/testkit";
import { tolerantLinesOf } from "./files.ts";

/** So that every Node process of a pi environment has the weather. */
export const weatherVariables = {
	NODE_OPTIONS: `--require "${fileURLToPath(new URL("preload.cjs", import.meta.url))}"`,
};

export interface Sky {
	/** What writing to `under` fails with. */
	disk?: "ENOSPC" | "EROFS" | "EACCES";
	under?: readonly string[];
	/** How far the clock is ahead. */
	clockMs?: number;
}

/** A write that failed because of the weather. */
export interface Fault {
	code: string;
	call: string;
	path: string;
}

const HOUR_MS = 60 * 60 * 1_000;
/** As far as daylight saving, a wrong zone, and a machine that forgot the date. */
const JUMPS_HOURS = [-1, 1, -5, 7, -26, 26, 24 * 40] as const;

export class Weather {
	readonly #env: PiEnv;
	#sky: Sky = {};

	constructor(env: PiEnv) {
		this.#env = env;
	}

	/** Nothing can be written where agents' files are; with `sessions`, nor to the session's own file. */
	async spoilDisk(disk: NonNullable<Sky["disk"]>, { sessions = false } = {}): Promise<void> {
		const { agentDir, cwd, root } = this.#env;
		const under = [join(agentDir, "state", "subagents"), join(cwd, ".pi", "subagents")];
		await this.#set({ ...this.#sky, disk, under: sessions ? [...under, join(root, "sessions")] : under });
	}

	async freeDisk(): Promise<void> {
		const { clockMs = 0 } = this.#sky;
		await this.#set({ clockMs });
	}

	async jump(chance: number): Promise<void> {
		const hours = JUMPS_HOURS[Math.floor(chance * JUMPS_HOURS.length)] ?? 1;
		await this.#set({ ...this.#sky, clockMs: hours * HOUR_MS });
	}

	async clear(): Promise<void> {
		await this.#set({});
	}

	/** What failed since the storm began. */
	faults(): Promise<Fault[]> {
		return tolerantLinesOf(this.#log) as unknown as Promise<Fault[]>;
	}

	async begin(): Promise<void> {
		await rm(this.#log, { force: true });
		await this.clear();
	}

	get #log(): string {
		return join(this.#env.root, "faults.jsonl");
	}

	/** At once, for every process that looks. */
	async #set(sky: Sky): Promise<void> {
		this.#sky = sky;
		const file = join(this.#env.root, "weather.json");
		await writeFile(`${file}.new`, JSON.stringify(sky));
		await rename(`${file}.new`, file);
	}
}
