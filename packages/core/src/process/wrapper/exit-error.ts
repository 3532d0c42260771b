/** Why a pi that ended without an answer did so, in words. */
import { sanitizeBlock } from "@pi-subagents/progress";
import type { Meta } from "../layout.ts";
import type { PiExit } from "./pi-process.ts";

const MAX_TAIL_BYTES = 16 * 1024;
const MAX_LINES = 20;
const MAX_LENGTH = 2_000;

/** Keeps the end of what was printed. */
export class Tail {
	#bytes: Buffer = Buffer.alloc(0);

	push(bytes: Uint8Array): void {
		this.#bytes = Buffer.concat([this.#bytes, bytes]).subarray(-MAX_TAIL_BYTES);
	}

	/** Its last lines, clean. */
	get text(): string {
		const lines = sanitizeBlock(this.#bytes.toString("utf8")).split("\n");
		const spoken = lines.map((line) => line.trimEnd()).filter((line) => line !== "");
		return spoken.slice(-MAX_LINES).join("\n").slice(-MAX_LENGTH);
	}
}

export function exitError({ code, signal, error }: PiExit, { launch, cwd }: Meta, stderr: string): string {
	if (error !== undefined) return `pi could not be started as ${launch?.command} in ${cwd}: ${error}`;
	const how = signal === undefined ? `ended with exit code ${code}` : `was ended by ${signal}`;
	return `pi ${how} before the agent had answered${stderr === "" ? "." : `:\n${stderr}`}`;
}
