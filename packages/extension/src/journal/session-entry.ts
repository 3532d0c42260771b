/** The entries of a session, of which we read our own and the messages that told of results. Nothing in them is checked here. Pure. */

/** The one type of message that tells of results. Its details name the runs. */
export const NOTIFICATION = "subagent-notification";

/** An entry of a session, as far as it matters here. */
export interface Entry {
	id: string;
	type: string;
	customType?: unknown;
	data?: unknown;
	details?: unknown;
}

/** A line that is not whole is still being written. */
export function entriesIn(text: string): Entry[] {
	return text.split("\n").flatMap((line) => {
		try {
			const entry: unknown = JSON.parse(line);
			return isEntry(entry) ? [entry] : [];
		} catch (error) {
			if (error instanceof SyntaxError) return [];
			throw error;
		}
	});
}

function isEntry(value: unknown): value is Entry {
	if (typeof value !== "object" || value === null || !("id" in value) || !("type" in value)) return false;
	return typeof value.id === "string" && typeof value.type === "string";
}

/** The runs that a message of ours tells of. */
export function toldIn(entry: Entry): string[] {
	return entry.type === "custom_message" && entry.customType === NOTIFICATION ? runsIn(entry.details) : [];
}

/** From the details of a message, as they are found in a session file. */
export function runsIn(details: unknown): string[] {
	const runIds = typeof details === "object" && details !== null && "runIds" in details ? details.runIds : undefined;
	return Array.isArray(runIds) ? runIds.filter((runId) => typeof runId === "string") : [];
}
