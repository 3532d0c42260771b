/** What other code threw, as text for a caller. */

const MAX_ERROR = 4_000;

/** The message of anything that was thrown, even if reading it throws. */
export function messageOf(error: unknown): string {
	try {
		const message = error instanceof Error ? error.message : String(error);
		return typeof message === "string" && message !== "" ? message.slice(0, MAX_ERROR) : "It failed.";
	} catch {
		return "It failed.";
	}
}
