/** For work whose failure must not harm the run, but must not go unnoticed either. */

import { clip } from "./error.ts";

/** Reports what could not be done. Must not throw. */
export type Report = (message: string) => void;

export async function bestEffort(label: string, report: Report, work: () => unknown): Promise<void> {
	try {
		await work();
	} catch (error) {
		report(`${label}: ${messageOf(error)}`);
	}
}

/** An error's message, bounded: a system error repeats the path, however long it is. */
export function messageOf(error: unknown): string {
	return clip(error instanceof Error ? error.message : String(error), MAX_MESSAGE);
}

const MAX_MESSAGE = 4_000;
