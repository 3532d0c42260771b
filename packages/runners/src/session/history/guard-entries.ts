/**
 * What guards keep of the user's session in its entries, such as a mode that the user switched on, in the conversation
 * of a child inside this process, where they look for it when they start. It lies in pi's own directory; the file of a
 * child in another process lies in its agent's reach, and gets no entries but the user's (`guard-conversation.ts`).
 */
import type { SessionManager } from "@earendil-works/pi-coding-agent";
import type { GuardState } from "../../extensions/guards.ts";

type Entry = GuardState["entries"][number];

/** Must be called before the child's extensions start. */
export function inheritEntries(conversation: SessionManager, { entries }: Pick<GuardState, "entries">): void {
	const present = conversation.getBranch().filter((entry) => entry.type === "custom"); // guards read no other branch
	for (const { customType, data } of missingEntries(present, entries)) conversation.appendCustomEntry(customType, data);
}

/**
 * A first run gets all of them. A later one has them already, and perhaps its own after them: of each kind it gets the
 * newest, if that is not what it has.
 */
function missingEntries(
	present: readonly { customType: string; data?: unknown }[],
	entries: readonly Entry[],
): readonly Entry[] {
	if (present.length === 0) return entries;
	const newest = new Map(entries.map((entry) => [entry.customType, entry]));
	const known = new Map(present.map(({ customType, data }) => [customType, JSON.stringify(data)]));
	return [...newest.values()].filter(({ customType, data }) => known.get(customType) !== JSON.stringify(data));
}
